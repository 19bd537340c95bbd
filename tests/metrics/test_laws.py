"""Laws that every metric of the table obeys, whatever it measures."""

import doctest
import sys
import unicodedata
from collections import Counter
from functools import reduce
from operator import add

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.audit import OK, STATES, AuditedRuns, AuditFacts
from ragauge.contracts.entities import EntityFacts
from ragauge.contracts.gold import Gold
from ragauge.contracts.labels import LabelFacts
from ragauge.contracts.links import LinkedMention
from ragauge.contracts.metric import Absent, Facts, NotApplicable, Row, pattern_of
from ragauge.contracts.rankings import Ranking
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.metrics.answers import AnswerFacts
from ragauge.metrics.facts import Reader, Reading, missing_facts
from ragauge.metrics.quality import gold_retrieved_at, label, triage
from ragauge.metrics.retrieval import from_name
from ragauge.metrics.sums import Groups, Sums, sums_of
from ragauge.metrics.table import find, reading, table
from ragauge.runners.evaluation import scored
from tests.metrics import answer_units, component_units
from tests.metrics.component_units import plain

METRICS = {
    "facts": [*reading("facts").values(), gold_retrieved_at(1), gold_retrieved_at(10)],
    "audit": list(reading("audit").values()),
    "audited_runs": list(reading("audited_runs").values()),
    "entities": list(reading("entities").values()),
    "labels": list(reading("labels").values()),
    "links": list(reading("links").values()),
    "ranking": [*reading("ranking").values(), from_name("P(rel=2)@3"), from_name("nDCG@1000")],
    "answers": [*reading("answers").values(), find("rouge2(tokenizer=rouge155)", "answers")],
}
"""By what they read; those that read runs obey the laws in test_stability.py."""

IDS = ("p1#1", "p1#2", "p2#1", "musée#1", "館#2")
PHRASES = ("constrained mapping", "yes", "1800", "musée royal", "皇家", "!?")
REFUSALS = ("not in context", " Not  in context ", "Not in context.", "- claim: not in context")
CLAIMS = ("It is a constrained mapping.", "Yes.", "18001 eyes", "Le Musée Royal, 1800", "皇家館")
some_ids = st.lists(st.sampled_from(IDS), max_size=4).map(tuple)


@st.composite
def texts(draw):
    claim = draw(st.sampled_from((*REFUSALS, *CLAIMS, "", "  ")))
    heading = draw(st.sampled_from((None, "- citations: [{}]", "Références : {}", "引用：{}")))
    return f"{claim}\n{heading.format(', '.join(draw(some_ids)))}" if heading else claim


structured_answers = st.builds(
    StructuredAnswer,
    claim=st.none() | st.sampled_from((*REFUSALS, *CLAIMS)),
    citations=st.none() | some_ids.map(lambda ids: tuple(dict.fromkeys(ids))),
)
traces = st.builds(
    Trace,
    answer=st.none() | texts(),
    answer_json=st.none() | structured_answers,
    retrieved_ids=st.none() | some_ids,
    status=st.sampled_from(("ok", "ok", "ok", "error")),
)
golds = st.builds(
    Gold,
    qid=st.just("q"),
    question=st.just("?"),
    answerable=st.booleans(),
    gold_claim_substr=st.lists(st.sampled_from(PHRASES), max_size=2).map(tuple),
    gold_citations=some_ids,
)
readings = st.builds(
    Reading,
    canon=st.sampled_from(("unicode", "reference")),
    refusal=st.sampled_from(("exact", "near")),
    inline=st.booleans(),
)


@st.composite
def read_facts(draw):
    """Facts as they come from files."""
    reader, gold = Reader(draw(readings)), draw(golds)
    trace = draw(st.none() | traces)
    key = reader.key(gold)
    return missing_facts(key.gold) if trace is None else reader.facts(key, trace)


@st.composite
def drawn_facts(draw):
    """Facts in combinations that files may not give, each free of contradiction."""
    answerable = draw(st.booleans())
    status = draw(st.sampled_from(("ok", "ok", "ok", "error", "missing")))
    if status != "ok":
        return Facts(answerable=answerable, status=status, citable=draw(st.booleans()))
    answered = draw(st.booleans())
    maybe = st.none() | st.booleans()
    cited = draw(st.integers(0, 3))
    found = draw(maybe)
    hit = draw(maybe) if answered else None
    return Facts(
        answerable=answerable,
        refusal=draw(st.sampled_from(("none", "near") if answered else ("exact", "near"))),
        answered=answered,
        cited_count=cited,
        cited_in_scope=draw(st.none() | st.integers(0, cited)) if answered else None,
        hit=hit,
        citable=hit is not None if answered else draw(st.booleans()),
        contained=draw(maybe) if answered else None,
        gold_found=found,
        gold_depth=None if found is None else draw(st.integers(0, 12)) if found else 0,
    )


facts = read_facts() | drawn_facts()


@st.composite
def part_of(draw, whole):
    """A count of characters within another; None where either is unknown."""
    return None if whole is None else draw(st.none() | st.integers(0, whole))


@st.composite
def audit_facts(draw):
    """What an audit says of a trace, in any combination that is free of contradiction."""
    maybe, size, share = st.none() | st.booleans(), st.integers(0, 400), st.floats(0, 1)
    target, cited, gold_span = (draw(st.none() | size) for _ in range(3))
    within = None if cited is None or gold_span is None else min(cited, gold_span)
    return AuditFacts(
        kind=draw(st.sampled_from(("answer", "answer", "uncited", "refusal", "error"))),
        answerable=draw(maybe),
        code=draw(st.sampled_from((OK, OK, "not_retrieved", "model_reported_error"))),
        marker=draw(maybe),
        payload=draw(maybe),
        text=draw(maybe),
        matched=draw(maybe),
        target=target,
        retrieved_target=draw(part_of(target)),
        cited_target=draw(part_of(target)),
        cited=cited,
        gold_span=gold_span,
        cited_gold=draw(part_of(within)),
        concordant=draw(st.none() | size),
        discordant=draw(st.none() | size),
        ndcg_before=draw(st.none() | share),
        ndcg_after=draw(st.none() | share),
        deltaS=draw(
            st.dictionaries(st.sampled_from(("context", "chunk", "anchor", "decoy")), share)
        ),
        ranks=draw(st.dictionaries(st.sampled_from(("rho", "tau", "overlap")), share)),
        why=draw(st.dictionaries(st.sampled_from(("text", "matched", "deltaS")), st.just("so"))),
    )


@st.composite
def audited_runs(draw):
    state, paired = st.none() | st.sampled_from(STATES), draw(st.integers(0, 20))
    return AuditedRuns(
        answerable=draw(st.booleans()),
        planned=draw(st.integers(0, 6)),
        retrieval=draw(state),
        answer=draw(state),
        flipped=draw(st.integers(0, paired)),
        paired=paired,
    )


UNITS = {
    "facts": facts,
    "audit": audit_facts(),
    "audited_runs": audited_runs(),
    "entities": component_units.entity_facts(),
    "labels": component_units.label_facts(),
    "links": component_units.linked_mentions(),
    "ranking": component_units.rankings(),
    "answers": answer_units.answer_facts(),
}
RECORDS = {
    "facts": Facts,
    "audit": AuditFacts,
    "audited_runs": AuditedRuns,
    "entities": EntityFacts,
    "labels": LabelFacts,
    "links": LinkedMention,
    "ranking": Ranking,
    "answers": AnswerFacts,
}


def test_there_is_a_law_for_every_kind():
    assert {*METRICS, "runs"} == {metric.reads for metric in table().values()}


def test_the_examples_of_every_metric_hold():
    """The decorator hides metrics from pytest's own collector of doctests."""
    failed = []
    for metric in table().values():
        names = dict(vars(sys.modules[metric.measure.__module__]))
        case = doctest.DocTestParser().get_doctest(metric.doc, names, metric.id, None, 0)
        failed += [metric.id] if doctest.DocTestRunner().run(case).failed else []
    assert not failed


def some(unit):
    return st.lists(unit, max_size=8)


def placed_units(unit):
    """Units, each with the number of its question."""
    return st.lists(st.tuples(st.integers(0, 3), unit), max_size=12)


def just(strategy):
    """A strategy that is the same for every kind of unit."""
    return lambda unit: strategy


def law_of_every_metric(*drawn_from):
    """A test of a law: what is drawn is drawn once a kind, and checked for each of its metrics."""

    def tested(law):
        @pytest.mark.parametrize("kind", METRICS)
        @given(data=st.data())
        def test(kind, data):
            drawn = data.draw(st.tuples(*(of(UNITS[kind]) for of in drawn_from)))
            for metric in METRICS[kind]:
                try:
                    law(metric, *drawn)
                except Exception as error:
                    error.add_note(f"metric: {metric.id}")
                    raise

        return test

    return tested


def sums_over(metric, placed, units=4):
    """Measurements, each with the place of its unit, as the runners add them up."""
    total = Sums.zero(metric, units)
    places = np.array([place for place, _ in placed], dtype=np.int64)
    total.add(Sums.of(metric, (metric(one) for _, one in placed)), places)
    return total


def value(metric, sums):
    return float(metric.finish(np.array(sums, dtype=np.int64)))


def groups_of(placed, questions):
    """Units, each with the number of its question, as the runner groups them."""
    codes, met = {}, {}
    for question, unit in placed:
        pair = question, codes.setdefault(pattern_of(unit), len(codes))
        met[pair] = met.get(pair, 0) + 1
    question, pattern, count = (
        np.array([(q, p, times) for (q, p), times in met.items()], dtype=np.int64).reshape(-1, 3).T
    )
    return Groups(questions, question, pattern, count, tuple(codes))


def question_sums(metric, placed, questions):
    """The sums of each question: of facts by their patterns, as `score` makes them."""
    if metric.reads == "facts":
        return sums_of(metric, groups_of(placed, questions))
    return sums_over(metric, placed, questions)


def due(metric, units):
    """How many of these units should have a value."""
    return sum(not isinstance(metric(unit), NotApplicable) for unit in units)


@law_of_every_metric(some)
def test_values_stay_within_bounds(metric, measured):
    low, high = metric.bounds
    rows = [metric(unit) for unit in measured]
    total = Sums.of(metric, rows)
    sums = [row.counts for row in rows if isinstance(row, Row)]
    for counts in [*sums, *[total.total()] * bool(sums)]:
        found = value(metric, counts)
        # A document with predictions alone has no gold to take a mean over, or to divide by.
        assert low <= found <= (np.inf if high is None else high) or (
            metric.id.endswith(("_macro", "over_prediction")) and np.isnan(found)
        )
        assert len(counts) == len(metric.columns)
        assert all(type(count) is int for count in counts)


@law_of_every_metric(placed_units, just(st.randoms(use_true_random=False)))
def test_sums_of_any_partition_are_the_sums_of_the_whole(metric, placed, random):
    whole = plain(question_sums(metric, placed, 4))
    parts = [[], [], []]
    for one in random.sample(placed, len(placed)):
        random.choice(parts).append(one)
    sums = [question_sums(metric, part, 4) for part in parts]
    assert plain(reduce(add, sums)) == whole
    assert plain(reduce(add, reversed(sums))) == whole
    total = Sums.zero(metric, 0)  # units that nobody announced
    for part in sums:
        total.add(part, np.arange(4))
    assert plain(total.first(4)) == whole


@law_of_every_metric(some, just(st.integers(2, 4)))
def test_duplicate_units_scale_the_counts_and_keep_the_value(metric, measured, times):
    once, often = (Sums.of(metric, map(metric, measured * n)) for n in (1, times))
    assert often.total() == tuple(times * total for total in once.total())
    assert often.scored.sum() == times * once.scored.sum()
    if once.scored.any() and len(metric.columns) > 1:  # a plain count grows with the set
        kept = pytest.approx(value(metric, once.total()), abs=1e-12, nan_ok=True)
        assert value(metric, often.total()) == kept


@law_of_every_metric(some)
def test_nothing_to_score_is_none_with_a_reason(metric, measured):
    absent = [unit for unit in measured if isinstance(metric(unit), Absent)]
    for chosen in ([], absent):
        found = scored(question_sums(metric, [(0, unit) for unit in chosen], 1), "made so")
        expected = (None, None, 0, due(metric, chosen))
        assert (found.value, found.ci, found.n, found.of) == expected
        assert found.reason
        assert all(metric(unit).reason in found.reason for unit in chosen)


@law_of_every_metric(placed_units)
def test_sums_by_question_equal_the_plain_ones(metric, placed):
    found = question_sums(metric, placed, 4)
    for question in range(4):
        rows = [metric(unit) for place, unit in placed if place == question]
        scored = [row.counts for row in rows if isinstance(row, Row)]
        none = [0] * len(metric.columns)
        assert found.sums[question].tolist() == [sum(c) for c in zip(none, *scored, strict=True)]
        assert found.scored[question] == len(scored)
        assert found.units[question] == sum(not isinstance(row, NotApplicable) for row in rows)
    reasons = Counter(row for _, unit in placed if isinstance(row := metric(unit), Absent))
    assert dict(found.absent) == reasons


@law_of_every_metric(placed_units)
def test_intervals_hold_the_value_and_stay_within_bounds(metric, placed):
    found = scored(question_sums(metric, placed, 4), "made so")
    if found.value is None or found.ci is None:
        return
    low, high = metric.bounds
    assert low <= found.ci[0] <= found.value <= found.ci[1] <= (np.inf if high is None else high)
    assert found.ci[0] < found.ci[1]


class Declared:
    """Facts of which only the declared ones can be read."""

    def __init__(self, facts, needs):
        self._facts, self._needs = facts, needs

    def __getattr__(self, name):
        assert name in self._needs, f"reads {name}, which it does not declare"
        return getattr(self._facts, name)


@law_of_every_metric(lambda unit: unit)
def test_a_metric_reads_only_what_it_declares(metric, unit):
    assert metric(Declared(unit, metric.needs)) == metric(unit)


def test_every_entry_is_fit_to_be_shown_and_absent_over_nothing():
    faults = []
    for metric in (metric for kind in METRICS.values() for metric in kind):
        first = metric.doc.split("\n\n")[0]
        opening = first[0].isupper() or first[0].isdigit() or first.startswith("chrF")
        checks = {
            "needs what is no fact": all(
                hasattr(RECORDS[metric.reads], name) for name in metric.needs
            ),
            "version": metric.version >= 1,
            "better": metric.better in ("higher", "lower"),
            "name": metric.id.split(".", 1)[1] == metric.name,
            "first sentence": first.endswith(".") and opening,
            "the id of another": reading(metric.reads).get(metric.id, metric).id == metric.id,
            "a value of nothing": scored(Sums.zero(metric, 0), "").value is None,
        }
        faults += [(metric.id, fact) for fact, holds in checks.items() if not holds]
    assert not faults


@given(golds, traces, readings, st.sampled_from(("NFC", "NFD")), st.sampled_from(("NFC", "NFD")))
def test_unicode_forms_of_an_answer_give_the_same_facts(gold, trace, reading, of_gold, of_trace):
    reader = Reader(reading)
    plain = reader.facts(reader.key(gold), trace)
    gold, trace = formed(of_gold, gold), formed(of_trace, trace)
    other = reader.facts(reader.key(gold), trace)
    assert pattern_of(other) == pattern_of(plain)
    assert (other.claim, other.cited) == (plain.claim, plain.cited)


def formed(form, record):
    raw = msgspec.json.encode(record).decode()
    return msgspec.json.decode(unicodedata.normalize(form, raw), type=type(record))


@given(facts)
def test_every_unit_has_one_label_and_a_triage_that_agrees(unit):
    named = label(unit, brief=True)
    allowed = {
        "OK": {"ok"},
        "REFUSAL_OK": {"refusal_ok"},
        "OVER_REFUSAL": {"refusal_suspect", "retrieval_drift", None},
        "HALLUCINATION": {"generation_drift"},
        "ANS_NO_HIT": {"generation_drift", "retrieval_drift", None},
        "ERROR": {None},
        "MISSING": {None},
    }
    assert triage(unit) in allowed[named]
    assert label(unit) in (named, "REFUSAL_MALFORMED")
