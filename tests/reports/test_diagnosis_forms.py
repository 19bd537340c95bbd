"""A diagnosis as a person reads it: the order of the story, and nothing left out of it."""

import html
import re

import pytest
from msgspec import structs

from ragauge.contracts.report import Finding
from ragauge.reports.rendering import render
from tests.reports.test_diagnosis import (
    TEXTS,
    cause,
    fine,
    many,
    metric,
    report,
    reworded,
    telling,
    unjudged,
)

READ = ("text", "markdown", "html")
"""The forms that a person reads."""
STYLES = re.compile(r"\x1b\[[0-9;]*m")
TAGS = re.compile(r"<[^>]*>")

read_forms = pytest.mark.parametrize("form", READ)


LOW = metric("context_recall", "critical", 0.4, beyond_warning=9)


def plain(made, form, width=100):
    """The words of a form, on one line, without what only marks them up."""
    written = render(made, form, width=width)
    if form == "html":
        written = TAGS.sub("", written.partition("<body>")[2])
    if form == "markdown":
        written = re.sub(r"</?(details|summary)>|[\\`]|\*\*", "", written)
    return " ".join(html.unescape(written).replace("\u200b", "").split())


def with_words_of_their_own(made):
    """The report with a word of its own in place of every text, and where each word stands."""
    words = {}

    def word(path):
        words[f"w{len(words):03d}w"] = path
        return f"w{len(words) - 1:03d}w"

    return reworded(made, word), words


def is_told(form, path, made):
    """Whether a form has room for a field; JSON has all of them."""
    top, *rest = path
    if path == ("coverage", "errors"):
        return False  # it is zero
    if top == "identity":
        return form == "html"
    if top == "metrics" or path[:2] in (("replay", "system"), ("replay", "repaired_by")):
        return False  # a metric is shown by its diagnosis
    if top == "causes":
        standing = made.causes[rest[0]].standing
        if standing == "struck_out":
            return rest[1] in ("title", "why")
        if standing == "untested":
            return rest[1] not in ("means", "actions")
    return True


@read_forms
def test_every_text_of_the_report_is_to_be_found(form):
    made, words = with_words_of_their_own(telling())
    assert len(words) > 100
    written = plain(made, form, width=120).lower()  # a sentence may begin with any of them
    lost = [
        path for word, path in words.items() if is_told(form, path, made) and word not in written
    ]
    assert lost == []


NUMBERS = (
    "2 of 5 metrics beyond a threshold: context_recall critical, noise_sensitivity warning",
    "1 not evaluable; 1 without a threshold",
    "Likeliest cause",
    "accounts for 12 of 18 answers that went wrong; no more than five passages",
    "First change recall_top_k",
    "0.412 < 0.50",
    "0.310 > 0.30",
    "< 0.70 / 0.50",
    "> 0.30 / 0.50",
    "[0.341, 0.487]",
    "38 of 40",
    'in place of a value: absent 1, text "n/a" 1',
    "0.700",
    "accounts for 3 of 18 answers that went wrong",
    "+2.2 bits",
    "-0.2 bits",
    "costs: latency of the reranker; may worsen: context_precision",
    "country=NL ∧ question type=temporal",
    "14 of 18",
    "home made",
    "38 samples, judged by lexical",
    "59.8 %",
    "10 of 18 questions that went wrong were run again; 40 calls",
    "the model can use them; q07 q11",
    "the system takes no temperature",
    "nothing was retrieved",
    "<= 0.10",
    "amples 40, samples with claims 38, lines rejected 1",
)


@read_forms
@pytest.mark.parametrize("words", NUMBERS)
def test_every_form_tells_the_numbers(form, words):
    assert words in plain(telling(), form, width=130)


@read_forms
def test_a_form_tells_how_many_samples_are_beyond(form):
    assert "18 of 38" in plain(telling(), form)


def test_a_replay_that_did_not_come_to_its_end_says_so():
    made = telling()
    cut = telling(replay=structs.replace(made.replay, ended="error_budget"))
    for form in READ:
        assert "stopped early because calls failed" in plain(cut, form)
        assert "stopped early" not in plain(made, form)


@read_forms
def test_a_cause_that_was_not_tested_says_why_and_how_to_test_it(form):
    untested = cause(standing="untested", explains=0.0, evidence=(), why="no row has seeds")
    written = plain(report([LOW], causes=(untested,)), form)
    assert written.count("no row has seeds") == 2  # below the verdict, and in the list
    assert "Retrieve 50 candidates" not in written


@read_forms
@pytest.mark.parametrize(
    ("explains", "told"),
    [
        (0.09, "less than one of 553 answers"),
        (0.94, "less than one of 553 answers"),
        (0.9999999, "1 of 553 answers"),
        (1.44, "1.4 of 553 answers"),
        (9.94, "9.9 of 553 answers"),
        (124.6, "125 of 553 answers"),
        (0.0, "none of 553 answers"),
    ],
)
def test_a_cause_accounts_for_as_many_answers_as_can_be_told_apart(form, explains, told):
    made = telling(causes=(cause(explains=explains, of=553),))
    assert f"accounts for {told} that went wrong" in plain(made, form)


def test_a_value_has_the_decimals_it_takes_to_tell_it_from_its_threshold():
    assert "0.69996 < 0.70" in plain(report([metric("faithfulness", "warning", 0.69996)]), "text")


def test_a_bound_without_a_critical_threshold_is_told_as_one():
    limits = structs.replace(LOW.limits, critical=None)
    made = report([structs.replace(LOW, limits=limits)])
    assert "< 0.70 / –" in plain(made, "text")
    assert "9 of 40 samples beyond the bound" in render(made, "junit")


@pytest.mark.parametrize("form", READ)
def test_a_finding_that_lists_many_metrics_is_told_to_its_end(form):
    names = ", ".join(f"quality.metric_{n}" for n in range(40))
    found = Finding("no_rule", "", f"no gate speaks of: {names}")
    made = fine(findings=(found,), finding_counts={"no_rule": 1})
    assert names in plain(made, form)


@read_forms
def test_where_it_is_worse_is_told_of_a_run_that_passes_too(form):
    told = plain(fine(slices=telling().slices), form)
    assert "Where it is worse " in told
    assert told.count(telling().slices[0].text) == 2  # beside the verdict, and below


def test_a_sample_that_stands_above_is_not_told_twice():
    worst = telling().diagnoses[0].worst
    both = [structs.replace(LOW, worst=worst), metric("other", "warning", 0.6, worst=worst[:1])]
    for form in ("text", "markdown"):
        written = plain(report(both), form, width=140)
        assert written.count("It was founded in 1834") == 2
        assert "context_recall 0.000, other 0.000" in written


@read_forms
def test_that_nothing_was_retrieved_is_said_only_where_it_is_known(form):
    first, nothing = telling().diagnoses[0].worst
    unknown = structs.replace(nothing, contexts=None, retrieved_ids=None)
    for sample, says in ((first, False), (nothing, True), (unknown, False)):
        written = plain(report([structs.replace(LOW, worst=(sample,))]), form)
        assert ("nothing was retrieved" in written) == says


def test_a_comment_is_short_enough_for_github_whatever_the_report():
    words = "many words and more of them " * 40
    samples = tuple(structs.replace(one, answer=words) for one in telling().diagnoses[0].worst * 40)
    low = metric("context_recall", "critical", 0.4, worst=samples)
    causes = tuple(cause(f"c{n}", dict.fromkeys(TEXTS["en"], words)) for n in range(60))
    made = report([low] * 30, causes=causes, unknown=(words,) * 60)
    written = render(made, "markdown")
    assert len(written) < 65_536
    assert "more; the JSON report has them" in written
    assert "more; --report FILE.html shows them" in written


def test_the_brief_text_fits_on_a_screen():
    for language in ("en", "zh"):
        for made in (telling, many, fine, unjudged):
            written = render(made(language=language), "text", brief=True)
            assert len(written.splitlines()) <= 25
            assert "--full" in written
    written = render(telling(), "text", brief=True)
    assert "FAIL  2 of 5 metrics beyond a threshold" in written
    assert "no more than five passages were retrieved in 14 of 18 samples" in " ".join(
        written.split()
    )
    assert "First change recall_top_k: Retrieve 50 candidates" in written
    assert "bad_line 3" in written
    assert render(telling(), "markdown", brief=True) == render(telling(), "markdown")


def test_color_adds_styles_and_nothing_else():
    colored = render(telling(), "text", color=True, width=90)
    assert "\x1b[" in colored
    assert STYLES.sub("", colored) == render(telling(), "text", width=90)
