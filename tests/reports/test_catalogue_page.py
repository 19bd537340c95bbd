"""The catalogue for readers: nothing left out in any form, and only what was asked for."""

import json
import re
import tomllib
from itertools import pairwise

import pytest
from rich.cells import cell_len

from ragauge.contracts.diagnosis import LANGUAGES
from ragauge.diagnosis.catalogue import CAUSE, catalogue, evidence, rules, speaks_of
from ragauge.diagnosis.limits import SEVEN, limits_of, usual_limits
from ragauge.diagnosis.own_rules import read_own_rules
from ragauge.diagnosis.words import words
from ragauge.errors import UsageError
from ragauge.metrics.table import table
from ragauge.reports.catalogue.labels import labels_of
from ragauge.reports.catalogue.page import FORMS, catalogue_text

READ = ("text", "markdown")
"""The forms that a person reads."""
every_language = pytest.mark.parametrize("language", LANGUAGES)
every_form = pytest.mark.parametrize("form", FORMS)
every_read_form = pytest.mark.parametrize("form", READ)
HAN = "[\u3400-\u4dbf\u4e00-\u9fff]"
CODE = re.compile(r"```.*?```|`[^`]*`|\]\(#?[^)]*\)|<[^>]*>", re.DOTALL)


def page(language="en", form="text", **how):
    return catalogue_text(catalogue(language), rules(), language=language, form=form, **how)


def flat(text):
    """The text as one line without blanks, which a narrow page puts anywhere."""
    return re.sub(r"\s", "", text)


def holds(shown, form):
    """The whole text of a page; of JSON, its strings."""
    if form != "json":
        return flat(shown)
    return flat(json.dumps(json.loads(shown), ensure_ascii=False).replace('\\"', '"'))


def read(**how):
    return json.loads(page(form="json", **how))


def ids(**how):
    return [entry["id"] for entry in read(**how)["entries"]]


# Nothing is left out.


@every_language
@every_form
def test_every_entry_is_told_with_all_its_actions(language, form):
    shown = holds(page(language, form), form)
    for entry in catalogue(language):
        said = [entry.id, entry.title, entry.means, entry.confirm]
        said += [
            text for step in entry.actions for text in (step.do, step.costs, step.worsens) if text
        ]
        assert [text for text in said if flat(text) not in shown] == []


@every_language
@every_form
def test_every_symptom_and_sign_of_a_cause_is_told(language, form):
    shown = holds(page(language, form), form)
    sentences = words(language)
    for rule in rules().values():
        told = [sentences.symptoms[name] for name in rule.symptoms]
        told += [
            labels_of(language).without_count(sentences.signs[s.sign].seen) for s in rule.signs
        ]
        assert [text for text in told if flat(text) not in shown] == []


@every_language
def test_a_sign_is_told_without_a_count_of_samples(language):
    for name, sign in words(language).signs.items():
        told = labels_of(language).without_count(sign.seen)
        assert "{" not in told, name
        assert told


@every_language
@every_form
def test_no_placeholder_is_left(language, form):
    shown = page(language, form)
    kept = shown.count("{n}")
    assert re.findall(r"\{(?!n\})\w+\}", shown) == []
    assert kept == (1 if form == "json" else 2)  # in the example, and where it is explained


@every_language
@every_form
def test_metrics_of_an_entry_are_told(language, form):
    shown = page(language, form)
    names = {metric.partition(".")[2] for entry in catalogue() for metric in entry.metrics}
    assert {name for name in names if name not in shown} == set()


@every_read_form
def test_what_a_sign_weighs_is_told(form):
    """More than one passage: +2 for one_query, −6 if not, and the cause needs it."""
    [weight] = [one for one in rules()["cause.one_query"].signs if one.sign == "needs_several"]
    assert (weight.bits > 0 > weight.bits_if_not, weight.needed) == (True, True)
    shown = page(form=form, width=200)
    shown = shown[shown.index("cause.one_query\n" if form == "text" else "`cause.one_query`") :]
    line = next(line for line in shown.splitlines() if "needs_several" in line)
    told = (f"+{weight.bits:g}", f"−{-weight.bits_if_not:g}", "needed" if form == "text" else "yes")
    assert all(part in line for part in told)


def test_marks_say_for_and_against():
    shown = page(width=200)
    told = {line.strip()[:1] for line in shown.splitlines() if "unranked)" in line}
    assert told == {"+", "−"}


@every_language
@every_read_form
def test_when_an_entry_applies_is_told(language, form):
    shown = page(language, form, width=400).replace("`", "")
    assert f"triage{labels_of(language).is_one_of}generation_drift" in shown
    assert "quality.over_refusal > 0.10" in shown
    assert f"answerable{labels_of(language).is_one_of}true" in shown


@every_language
@every_form
def test_what_speaks_for_an_entry_is_told_without_its_count(language, form):
    shown = holds(page(language, form), form)
    for entry in catalogue(language):
        if entry.family != CAUSE:
            assert flat(entry.evidence.partition("{n}")[0].rstrip(" :：")) in shown


def test_causes_come_first_and_families_stand_together():
    families = [entry["family"] for entry in read()["entries"]]
    runs = [f for f, before in zip(families, ["", *families], strict=False) if f != before]
    assert runs[0] == CAUSE
    assert len(set(runs)) == len(runs)


def test_every_family_has_a_heading_of_its_own():
    for language in LANGUAGES:
        known = {entry.family for entry in catalogue()}
        assert known <= set(labels_of(language).families)


# Thresholds.


@every_language
@every_read_form
def test_the_thresholds_of_the_seven_are_those_of_the_table(language, form):
    shown = page(language, form)
    for name, warning, critical in (
        ("faithfulness", "< 0.7", "< 0.5"),
        ("answer_relevancy", "< 0.7", "< 0.5"),
        ("context_recall", "< 0.7", "< 0.5"),
        ("semantic_similarity", "< 0.7", "< 0.5"),
        ("context_precision", "< 0.6", "< 0.4"),
        ("factual_correctness", "< 0.6", "< 0.4"),
        ("noise_sensitivity", "> 0.3", "> 0.5"),
    ):
        assert re.search(rf"\b{name}`?[ |]+[^|\n<>]*[ |]+{warning}[ |]+{critical}", shown), name


def test_the_usual_limits_are_those_a_diagnosis_goes_by():
    told = read()["usual"]
    assert told
    for name, limits in told.items():
        used = limits_of(name)
        assert (limits["better"], limits["warning"]) == (used.better, used.warning)
    left_out = set(usual_limits()) - set(told)
    assert all(limits_of(name) in SEVEN.values() for name in left_out)


@every_language
def test_the_share_that_is_tolerated_is_told(language):
    told = {one["symptom"]: one["tolerated"] for one in read(language=language)["symptoms"]}
    assert told == evidence().tolerated


# What was asked for, and nothing else.


@every_language
@every_form
def test_only_what_concerns_a_metric_is_told(language, form):
    wanted = [one for one in catalogue(language) if "answers.faithfulness" in one.metrics]
    others = [one for one in catalogue(language) if one not in wanted]
    shown = page(language, form, metrics=["faithfulness"])
    assert wanted
    assert all(one.id in shown for one in wanted)
    assert [one.id for one in others if re.search(rf"(?<![\w.]){one.id}(?![\w.])", shown)] == []
    assert "context_precision" not in read(language=language, metrics=["faithfulness"])["judged"]


@every_read_form
def test_rules_of_ones_own_are_explained_to_those_who_ask_for_all(form):
    title = labels_of("en").own.section.title
    assert title in page(form=form)
    assert title not in page(form=form, metrics=["faithfulness"])


@pytest.mark.parametrize("metric", sorted(table()))
def test_a_metric_of_ours_is_met_under_its_id_as_a_plain_search_finds_it(metric):
    twin = metric.replace(".lexical_", ".")
    plain = [
        entry.id
        for entry in catalogue()
        if twin in {one.replace(".lexical_", ".") for one in entry.metrics}
    ]
    assert sorted(ids(metrics=[metric])) == sorted(plain)


def test_another_tools_name_for_a_judged_metric_finds_its_causes():
    causes = [id for id in ids(metrics=["faithfulness"]) if id.startswith("cause.")]
    assert ids(metrics=["ragas.faithfulness"]) == causes
    assert read(metrics=["ragas.faithfulness"])["judged"].keys() == {"faithfulness"}


def test_a_bare_name_is_that_of_any_family():
    told = read(metrics=["coverage"])
    assert {id.partition(".")[0] for id in told["usual"]} > {"quality", "entities"}
    assert {entry["family"] for entry in told["entries"]} > {"quality", "entities"}


def test_a_name_means_nothing_in_another_family():
    """Documents without entities are not passages that retrieval missed."""
    [misses] = [one for one in catalogue() if one.id == "cause.retrieval_misses"]
    assert "traceability.coverage" in misses.metrics
    assert not speaks_of(misses, "entities.coverage")


def test_several_metrics_are_told_together_and_each_once():
    both = ids(metrics=["faithfulness", "context_recall", "faithfulness"])
    assert set(both) == {*ids(metrics=["faithfulness"]), *ids(metrics=["context_recall"])}
    assert read(metrics=["rcr", "rcr"])["metrics"] == ["rcr"]


@every_language
@every_form
def test_a_metric_that_no_entry_is_about_is_named(language, form):
    shown = page(language, form, metrics=["toxicity", "faithfulness"], width=200)
    assert "toxicity" in shown
    alone = json.loads(page(language, "json", metrics=["toxicity"]))
    assert (alone["without_entry"], alone["entries"]) == (["toxicity"], [])


@every_read_form
def test_a_metric_without_entries_says_so_and_shows_no_empty_heading(form):
    shown = page(form=form, metrics=["toxicity"])
    assert flat("No entry is about") in flat(shown)
    assert labels_of("en").contents.title not in shown
    assert labels_of("en").symptoms.title not in shown


# The contents.


def test_every_metric_with_an_entry_is_in_the_contents():
    listed = {}
    for row in read()["contents"]:
        for metric in row["metrics"]:
            assert metric not in listed
            listed[metric] = row["entries"]
    assert list(listed)[: len(SEVEN)] == list(SEVEN)
    for entry in catalogue():
        for metric in entry.metrics:
            name = metric if metric in listed else metric.partition(".")[2]
            assert entry.id in listed[name.removeprefix("lexical_")]


@every_language
def test_links_lead_to_the_entries(language):
    shown = page(language, "markdown")
    anchors = re.findall(r'<a id="([^"]+)"></a>\n\n### ', shown)
    assert anchors == [entry["id"] for entry in read(language=language)["entries"]]
    linked = set(re.findall(r"\]\(#([^)]+)\)", shown))
    assert linked == set(anchors)


@every_language
def test_tables_have_as_many_cells_in_every_row(language):
    rows = {}
    for block in page(language, "markdown").split("\n\n"):
        if block.startswith("| "):
            cells = {len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}
            rows[block[:80]] = cells
    assert rows
    assert {head: cells for head, cells in rows.items() if len(cells) > 1} == {}


# Rules of one's own.


def example_of(language, form):
    shown = page(language, form)
    if form == "markdown":
        [found] = re.findall(r"```toml\n(.*?)```", shown, re.DOTALL)
        return found
    return json.loads(shown)["own_rules"] if form == "json" else shown[shown.rindex("[[entry]]") :]


@every_language
@every_form
def test_the_example_is_read_without_a_problem(language, form):
    read_rules, problems = read_own_rules(example_of(language, form))
    assert problems == []
    [entry] = read_rules.entries
    assert entry.evidence.format(n=3)
    assert entry.actions
    assert read_rules.limits["tone"].critical == 0.6


@every_language
def test_all_fields_are_explained_and_those_that_are_needed_are_missed(language):
    """Each field is taken out of the example: only where it is needed, the reader objects."""
    own = labels_of(language).own
    parts = {"entry": own.entry_fields, "threshold": own.threshold_fields}
    whole = tomllib.loads(own.example)
    for name, fields in parts.items():
        [one] = whole[name]
        assert set(fields) == set(one)
        for field, (needed, _) in fields.items():
            less = {key: value for key, value in one.items() if key != field}
            _, problems = read_own_rules(as_toml(whole | {name: [less]}))
            assert bool(problems) == needed, field


def as_toml(tables):
    """TOML with every value inline; JSON writes lists and texts as TOML does."""
    lines = []
    for name, rows in tables.items():
        for row in rows:
            lines.append(f"[[{name}]]")
            lines += [f"{key} = {inline(value)}" for key, value in row.items()]
    return "\n".join(lines)


def inline(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {inline(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(inline, value))}]"
    return json.dumps(value, ensure_ascii=False)


# How it looks.


@every_language
@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_are_no_wider_than_the_page_but_for_the_example(language, width):
    shown = page(language, width=width)
    before = shown[: shown.rindex("[[entry]]")]
    assert max(map(cell_len, before.splitlines())) <= width
    assert width == 40 or "…" not in before


@every_language
def test_the_example_fits_a_terminal(language):
    assert max(map(cell_len, labels_of(language).own.example.splitlines())) <= 80


@every_language
def test_color_adds_nothing_but_color(language):
    colored = page(language, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == page(language)


@every_language
@every_form
def test_the_same_bytes_each_time(language, form):
    assert page(language, form) == page(language, form)


def test_a_form_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match='no form "html"; it has text, json, markdown'):
        page(form="html")


# Chinese.


def chinese_prose():
    """The page in Chinese without code, links and anchors."""
    return [CODE.sub("", line) for line in CODE.sub("", page("zh", "markdown")).splitlines()]


def test_headings_and_columns_are_in_chinese():
    lines = page("zh", "markdown").splitlines()
    heads = [line for line in lines if line.startswith("#")]
    heads += [row for row, rule in pairwise(lines) if rule.startswith("| --")]
    for line in heads:
        cells = line.strip("#| ").split("|")
        assert all(re.search(HAN, cell) for cell in cells), line


def test_marks_beside_chinese_are_full_width():
    beside = re.compile(rf"{HAN} ?[,;:?!()]|[,;:?!(]{HAN}|{HAN}\.")
    assert [line for line in chinese_prose() if beside.search(line)] == []


def test_chinese_is_apart_from_latin_words():
    """Code is taken out with its backticks: here it is put back as a word."""
    text = re.sub(
        r"`[^`\n]*`", "code", re.sub(r"```.*?```", "", page("zh", "markdown"), flags=re.S)
    )
    text = re.sub(r"\]\(#?[^)]*\)|<[^>]*>", "", text)
    assert re.findall(rf"{HAN}[A-Za-z0-9][^|\n]{{0,9}}|[A-Za-z0-9]{HAN}", text) == []


def test_no_english_word_of_ours_is_left_in_the_chinese_page():
    english, chinese = labels_of("en"), page("zh", "markdown")
    ours = [english.title, english.judged.title, english.no_signs, english.own.section.title]
    assert [text for text in ours if text in chinese] == []
