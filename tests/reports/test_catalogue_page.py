"""The catalogue for readers: nothing left out in any form, and only what was asked for."""

import json
import re
import tomllib
from html import unescape

import pytest
from rich.cells import cell_len

from ragauge.contracts.diagnosis import LANGUAGES
from ragauge.diagnosis.catalogue import catalogue, is_about, rules
from ragauge.diagnosis.own_rules import read_own_rules
from ragauge.diagnosis.texts import texts as sentences_of
from ragauge.errors import UsageError
from ragauge.metrics.table import table
from ragauge.reports.kinds.catalogue import FORMS, catalogue_text
from ragauge.reports.phrasing import phrases
from tests.cases import every

WORDS = {language: phrases("catalogue", language) for language in LANGUAGES}
READ = ("text", "markdown")
"""The forms that a person reads."""
every_language = pytest.mark.parametrize("language", LANGUAGES)
every_form = pytest.mark.parametrize("form", FORMS)
every_read_form = pytest.mark.parametrize("form", READ)


def page(language="en", form="text", **how):
    return catalogue_text(language=language, form=form, **how)


def flat(text):
    """The text as one line without blanks, which a narrow page puts anywhere."""
    return re.sub(r"\s", "", text)


def holds(shown, form):
    """The complete text of a page; of JSON, its strings; of Markdown, without its escapes."""
    if form == "json":
        return flat(json.dumps(json.loads(shown), ensure_ascii=False).replace('\\"', '"'))
    escaped = re.sub(r"\\(?=\W|_)", "", shown).replace("\u200b", "")
    return flat(unescape(escaped) if form == "markdown" else shown)


def read(**how):
    return json.loads(page(form="json", **how))


def ids(**how):
    return [entry["id"] for entry in read(**how)["entries"]]


def without_count(sentence):
    """What a sign says of a sample, without how many show it."""
    start = max(sentence.find("failing samples, ") + 17, sentence.find("有 {n} 个") + 7)
    return sentence[start:].removeprefix("的")


# Nothing is left out.


@every_language
@every_form
def test_every_entry_is_shown_with_all_its_actions(language, form):
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
    sentences = sentences_of(language)
    for rule in rules().values():
        told = [sentences.symptoms[name] for name in rule.symptoms]
        told += [without_count(sentences.signs[s.sign].seen) for s in rule.signs]
        assert [text for text in told if flat(text) not in shown] == []


@every_language
@every_form
def test_no_placeholder_is_left(language, form):
    shown = page(language, form)
    kept = shown.count("{n}")
    assert re.findall(r"\{(?!n\})\w+\}", shown) == []
    assert kept == (1 if form == "json" else 2)  # in the example, and where it is explained


@every_language
@every_read_form
def test_every_threshold_is_shown(language, form):
    shown = page(language, form)
    limits = read(language=language)
    for id, limit in (limits["judged"] | limits["usual"]).items():
        sign = "<" if limit["better"] == "higher" else ">"
        [line] = re.findall(rf"^\W*{re.escape(id)}\b`? .*$", shown, re.MULTILINE)[:1]
        assert f"{sign} {limit['warning']:g}" in line


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
    title = WORDS["en"]("own_rules")
    assert title in page(form=form)
    assert title not in page(form=form, metrics=["faithfulness"])


@every("metric", sorted(table()))
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
    assert not is_about(misses, "entities.coverage")


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
    assert WORDS["en"]("contents") not in shown
    assert WORDS["en"]("ranking") not in shown


# The contents.


@every_language
def test_links_lead_to_the_entries(language):
    shown = page(language, "markdown")
    anchors = re.findall(r'<a id="([^"]+)"></a>\n\n#### ', shown)
    assert anchors == [entry["id"] for entry in read(language=language)["entries"]]
    linked = set(re.findall(r"\]\(#([^)]+)\)", shown))
    assert linked == set(anchors)


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
    own = WORDS[language]
    whole = tomllib.loads(own.phrases["example"])
    for name in ("entry", "threshold"):
        [one] = whole[name]
        assert set(own.names[name]) == set(one)
        for field, text in own.names[name].items():
            needed = text.startswith(own("needed"))
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
def test_color_adds_nothing_but_color(language):
    colored = page(language, color=True)
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == page(language)


def test_a_form_that_does_not_exist_is_refused():
    with pytest.raises(UsageError, match='no form "html"; it has text, json, markdown'):
        page(form="html")


# Chinese.


def test_no_english_word_of_ours_is_left_in_the_chinese_page():
    english, chinese = WORDS["en"], page("zh", "markdown")
    ours = [english(name) for name in ("title", "limits", "shows_as", "own_rules")]
    assert [text for text in ours if text in chinese] == []
