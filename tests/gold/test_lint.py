"""Lint finds what would spoil a number, and nothing in a sound set."""

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.gold import Chunk, Gold, Span
from ragauge.ingest.gold import read_gold
from ragauge.runners.gold_lint import SEVERITIES, lint

HERITAGE = Path(__file__).resolve().parents[2] / "src/ragauge/demo/heritage/gold.jsonl"


def ask(qid, question=None, **fields):
    fields = {"answerable": True, "gold_claim_substr": ("eighteen eighty",), **fields}
    fields.setdefault("gold_citations", ("p1#1",) if fields["answerable"] else ())
    return Gold(qid=qid, question=question or f"What is {qid}?", **fields)


def refuse(qid, question=None, **fields):
    return ask(qid, question, answerable=False, **{"gold_claim_substr": (), **fields})


SOUND = [*(ask(f"a{n}") for n in range(8)), *(refuse(f"u{n}") for n in range(4))]


def found(questions, **options):
    report = lint(questions, **options)
    return {(one.severity, one.code, one.where) for one in report.findings}


def test_a_sound_set_has_no_finding():
    report = lint(SOUND)
    assert report.passed
    assert not report.findings


FAULTS = {
    "same text": ([ask("x", "What is a1?")], ("error", "duplicate_question", "x")),
    "same text in another Unicode form": (
        [ask("x", "Cafe\u0301?"), ask("y", " Café? ")],
        ("error", "duplicate_question", "y"),
    ),
    "same words": ([ask("x", "what is A1")], ("warning", "near_duplicate_question", "x")),
    "paraphrase is the question": (
        [ask("x", "Who?", paraphrases=("who",))],
        ("warning", "repeated_paraphrase", "x"),
    ),
    "paraphrase twice": (
        [ask("x", paraphrases=("Why so?", "Why so"))],
        ("warning", "repeated_paraphrase", "x"),
    ),
    "no letter left": ([ask("x", gold_claim_substr=("—", "…"))], ("error", "empty_phrase", "x")),
    "no letter left in the reference": (
        [ask("x", gold_claim_substr=(), gold_claim="…")],
        ("error", "empty_phrase", "x"),
    ),
    "short": ([ask("x", gold_claim_substr=("No.",))], ("warning", "short_phrase", "x")),
    "one ideograph": ([ask("x", gold_claim_substr=("是",))], ("warning", "short_phrase", "x")),
    "phrase twice": (
        [ask("x", gold_claim_substr=("Night Watch", "night-watch"))],
        ("warning", "repeated_phrase", "x"),
    ),
    "leak": (
        [ask("x", "Is it the Night Watch?", gold_claim_substr=("“night watch”",))],
        ("warning", "leaked_phrase", "x"),
    ),
    "no citations": ([ask("x", gold_citations=())], ("warning", "no_gold_citations", "x")),
    "unanswerable with phrases": (
        [refuse("x", gold_claim_substr=("in Paris",))],
        ("error", "unanswerable_with_gold", "x"),
    ),
    "unanswerable with citations": (
        [refuse("x", gold_citations=("p1#1",))],
        ("error", "unanswerable_with_gold", "x"),
    ),
    "constraint and its opposite": (
        [ask("x", constraints=("X accepts null keys.", "X rejects null keys."))],
        ("warning", "opposed_constraints", "x"),
    ),
    "must and must not": (
        [ask("x", constraints=("You must cite it.", "Cite it.", "You mustn't cite it."))],
        ("warning", "opposed_constraints", "x"),
    ),
    "always and never": (
        [ask("x", constraints=("Keys are always unique.", "Keys are never unique."))],
        ("warning", "opposed_constraints", "x"),
    ),
    "another number": (
        [ask("x", constraints=("The keys expire in 30 days.", "The keys expire in 90 days."))],
        ("warning", "opposed_constraints", "x"),
    ),
    "stratum on some": (
        [ask("x", strata={"country": "NL"})],
        ("warning", "partial_stratum", "strata.country"),
    ),
}


@pytest.mark.parametrize(("more", "expected"), FAULTS.values(), ids=FAULTS)
def test_each_fault_is_found_alone(more, expected):
    assert found([*SOUND, *more]) == {expected}


NO_FAULTS = {
    "two ideographs": ask("x", gold_claim_substr=("北京",)),
    "a year": ask("x", gold_claim_substr=("1808",)),
    "a short phrase inside a longer word": ask("x", "Is Bart old?", gold_claim_substr=("art",)),
    "a refusal as the reference": refuse("x", gold_answer="-"),
    "a stratum that is null": ask("x", strata={"country": None}),
    "two denials of one thing": ask(
        "x", constraints=("X rejects null keys.", "X doesn't accept null keys.")
    ),
    "another subject": ask("x", constraints=("X accepts null keys.", "Y rejects null keys.")),
    "a number that is a name": ask("x", constraints=("Quote section 3.", "Quote section 4.")),
    "a range": ask("x", constraints=("Use at least 3 words.", "Use at most 9 words.")),
    "a phrase within a phrase": ask("x", gold_claim_substr=("Pierre Cuypers", "Cuypers")),
}


@pytest.mark.parametrize("question", NO_FAULTS.values(), ids=NO_FAULTS)
def test_what_only_looks_like_a_fault_is_let_be(question):
    assert found([*SOUND, question]) == set()


MIXES = {
    "nothing": (0, 0, {"none_answerable", "none_unanswerable", "few_questions"}),
    "all answerable": (12, 0, {"none_unanswerable"}),
    "none answerable": (0, 12, {"none_answerable"}),
    "nine": (6, 3, {"few_questions"}),
    "ten": (7, 3, set()),
    "a tenth": (18, 2, set()),
    "under a tenth": (19, 2, {"unanswerable_share"}),
    "six tenths": (4, 6, set()),
    "over six tenths": (7, 11, {"unanswerable_share"}),
}


@pytest.mark.parametrize(("answerable", "unanswerable", "codes"), MIXES.values(), ids=MIXES)
def test_mix_and_size(answerable, unanswerable, codes):
    questions = [ask(f"a{n}") for n in range(answerable)]
    questions += [refuse(f"u{n}") for n in range(unanswerable)]
    assert {code for _, code, _ in found(questions)} == codes


SECTIONS = {2: {"thin_section"}, 3: set(), 5: set(), 6: {"crowded_section"}}


@pytest.mark.parametrize("by", ["citation", "target"])
@pytest.mark.parametrize(("count", "codes"), SECTIONS.items(), ids=map(str, SECTIONS))
def test_three_to_five_questions_a_section(count, codes, by):
    span = Span("p1", "s1", 0, 9) if by == "target" else None
    aimed = [ask(f"s{n}", gold_citations=("p1#s1",), target_section=span) for n in range(count)]
    wanted = {("warning", code, "p1#s1") for code in codes}
    others = [*aimed, *SOUND[:5], *SOUND[8:]]
    assert found(others, sections=True) == wanted
    assert found(others) == set()


def test_warnings_fail_only_when_strict():
    warned = [*SOUND, ask("x", gold_citations=())]
    assert [lint(warned).passed, lint(warned, strict=True).passed] == [True, False]
    assert lint(SOUND, strict=True).passed


def test_every_message_holds_a_remedy_and_every_check_is_tried():
    tried = {expected[1] for _, expected in FAULTS.values()}
    tried |= {code for *_, codes in MIXES.values() for code in codes}
    tried |= {code for codes in SECTIONS.values() for code in codes}
    assert tried == {code for code in SEVERITIES if not code.endswith("_anchor")}
    everything = [*SOUND, *(question for more, _ in FAULTS.values() for question in more)]
    messages = [one.message for one in lint(everything, sections=True).findings]
    assert [text for text in messages if ";" not in text and ": " not in text] == []


def test_summary_counts_what_the_set_holds():
    extra = ask("x", paraphrases=("Y?",), constraints=("Z.",), strata={"tier": 1, "old": None})
    summary = lint([*SOUND, extra]).summary
    assert msgspec.to_builtins(summary) == {
        "answerable": 9,
        "unanswerable": 4,
        "with_citations": 9,
        "with_paraphrases": 1,
        "with_constraints": 1,
        "strata": {"tier": {"1": 1}},
    }


def test_a_long_list_is_counted_whole_and_shown_in_part():
    report = lint([*SOUND, *(ask(f"x{n}", gold_citations=()) for n in range(150))])
    shown = [one.code for one in report.findings].count("no_gold_citations")
    assert (report.finding_counts["no_gold_citations"], shown) == (150, 100)


def test_the_bundled_set_has_no_error():
    report = lint(read_gold(str(HERITAGE)))
    assert report.errors == 0, report.findings


WORDS = st.text(st.sampled_from("aA é-—?是1"), min_size=1, max_size=6)
QUESTIONS = st.lists(
    st.builds(
        Gold,
        qid=st.uuids().map(str),
        question=WORDS,
        answerable=st.booleans(),
        gold_claim_substr=st.lists(WORDS, max_size=3).map(tuple),
        gold_citations=st.lists(WORDS, max_size=3).map(tuple),
        paraphrases=st.lists(WORDS, max_size=3).map(tuple),
        strata=st.dictionaries(WORDS, WORDS, max_size=2),
    ),
    max_size=12,
    unique_by=lambda question: question.qid,
)


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_counts_do_not_depend_on_the_order(questions, random):
    shuffled = random.sample(questions, len(questions))
    one, other = lint(questions, sections=True), lint(shuffled, sections=True)
    assert one.finding_counts == other.finding_counts
    assert one.summary == other.summary


# Anchors and chunks.


def anchored(qid, start, end, **fields):
    return ask(qid, anchor=Span("doc", "s", start, end), **fields)


def test_each_anchor_is_listed_with_the_chunks_that_cover_it():
    chunks = [
        Chunk("c2", "doc", 80, 180),
        Chunk("c1", "doc", 0, 100),
        Chunk("c1", "doc", 0, 100),
        Chunk("other", "else", 0, 500),
        Chunk("old", "doc", 0, 500, "r1"),
    ]
    target = Span("doc", "s", 90, 120, "r2")
    questions = [
        anchored("whole", 10, 60),
        anchored("both", 85, 95, target_section=target),
        anchored("split", 70, 120),
        anchored("half", 150, 250),
        anchored("away", 400, 450),
        ask("target", target_section=target),
        ask("none"),
    ]
    fresh = [
        q
        if q.anchor is None
        else msgspec.structs.replace(q, anchor=msgspec.structs.replace(q.anchor, rev="r2"))
        for q in questions
    ]
    report = lint([*SOUND, *fresh], chunks=chunks)
    listed = {one.qid: (one.span, one.chunks, one.inside, one.covered) for one in report.anchors}
    assert listed == {
        "whole": ("anchor", ("c1",), "c1", 50),
        "both": ("anchor", ("c1", "c2"), "c1", 10),
        "split": ("anchor", ("c1", "c2"), None, 50),
        "half": ("anchor", ("c2",), None, 30),
        "away": ("anchor", (), None, 0),
        "target": ("target_section", ("c1", "c2"), "c2", 30),
    }
    found = {(one.code, one.where) for one in report.findings}
    assert found == {
        ("split_anchor", "split"),
        ("split_anchor", "half"),
        ("uncovered_anchor", "away"),
    }
    assert lint(questions).anchors is None


@given(
    length=st.integers(1, 40),
    stride=st.integers(1, 40),
    size=st.integers(1, 50),
    start=st.integers(0, 90),
)
def test_a_window_cuts_what_a_plain_count_says_it_cuts(length, stride, size, start):
    def is_cut(first):
        begins = range(0, first + 1, stride)
        return not any(at <= first and first + size <= at + length for at in begins)

    report = lint([*SOUND, anchored("x", start, start + size)], window=(length, stride))
    assert report.anchors[0].cut is is_cut(start)
    codes = {one.code for one in report.findings}
    assert ("long_anchor" in codes) is any(map(is_cut, range(3 * stride)))
