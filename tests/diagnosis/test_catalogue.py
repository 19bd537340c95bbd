"""The catalogue of causes: complete, and about things that exist."""

import string
from typing import get_args

import pytest

from ragauge.contracts.audit import STATES
from ragauge.contracts.facts import Refusal
from ragauge.contracts.run import FACTORS
from ragauge.contracts.score import QuestionRow
from ragauge.contracts.stability import STABILITIES
from ragauge.contracts.trace_eval import Broken
from ragauge.diagnosis.advice import UNKNOWN, StabilityFacts
from ragauge.diagnosis.catalogue import catalogue
from ragauge.diagnosis.components import Fault
from ragauge.diagnosis.traceability import CODES, TraceabilityFacts, Turned
from ragauge.gates.rules import parse_rule
from ragauge.metrics.quality import LABELS
from ragauge.metrics.table import find, table

every_entry = pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.id)
TRIAGES = {"ok", "retrieval_drift", "generation_drift", "refusal_ok", "refusal_suspect", UNKNOWN}
VALUES = {
    "label": set(LABELS),
    "triage": TRIAGES,
    "refusal": set(get_args(Refusal)),
    "verdict": set(STABILITIES),
    "factor": set(FACTORS),
    "retrieval": {*STATES, UNKNOWN},
    "answer": {*STATES, UNKNOWN},
    "broken": set(get_args(Broken)),
    "turned": set(get_args(Turned)),
}
COMPONENTS = ("entities", "labels", "linking", "retrieval", "answers")
FACTS = {
    "quality": QuestionRow,
    "stability": StabilityFacts,
    "traceability": TraceabilityFacts,
    **dict.fromkeys(COMPONENTS, Fault),
}


@every_entry
def test_an_entry_says_all_it_has_to(entry):
    for text in (entry.title, entry.evidence, entry.confirm, entry.action):
        assert text.strip() == text != ""
    assert [name for _, name, _, _ in string.Formatter().parse(entry.evidence) if name] == ["n"]
    assert entry.confirm.endswith((".", "?"))
    assert entry.action.endswith(".")


@every_entry
def test_an_entry_names_metrics_and_facts_that_exist(entry):
    assert entry.metrics
    assert set(entry.metrics) <= set(table())
    assert entry.when
    assert set(entry.when) <= set(FACTS[entry.family].__struct_fields__)
    for fact, wanted in entry.when.items():
        assert wanted
        assert set(wanted) <= VALUES.get(fact, set(wanted))
    for text in entry.scores:
        assert parse_rule(text, lambda name: find(name).id).metric in table()


def test_ids_are_unique():
    assert len({entry.id for entry in catalogue()}) == len(catalogue())


def test_the_entry_that_sends_to_the_codes_is_there():
    assert CODES in {entry.id for entry in catalogue()}


@every_entry
def test_an_entry_speaks_of_metrics_of_its_own_family(entry):
    assert {metric.partition(".")[0] for metric in entry.metrics} == {entry.family}


@pytest.mark.parametrize("fact", TraceabilityFacts.__struct_fields__)
def test_every_fact_of_traceability_is_asked_for(fact):
    asked = {name for entry in catalogue() for name in entry.when}
    assert fact in asked | {"qid", "answerable"}


@pytest.mark.parametrize("metric", table().values(), ids=lambda metric: metric.id)
def test_every_metric_that_can_fail_a_gate_has_advice(metric):
    assert any(metric.id in entry.metrics for entry in catalogue())


@pytest.mark.parametrize("named", sorted({*LABELS} - {"OK", "REFUSAL_OK"}))
def test_every_bad_label_has_advice(named):
    by_label = {name for entry in catalogue() for name in entry.when.get("label", ())}
    by_facts = {"OVER_REFUSAL"}  # answerable and not answered, however the refusal is dressed
    assert named in by_label | by_facts
