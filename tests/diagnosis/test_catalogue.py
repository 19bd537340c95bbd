"""The catalogue of causes: complete in every language, and about things that exist."""

import re
import string
import tomllib
from collections import defaultdict
from importlib.resources import files
from typing import get_args

import pytest

from ragauge.contracts.audit import STATES
from ragauge.contracts.diagnosis import KNOBS, LANGUAGES
from ragauge.contracts.facts import Refusal
from ragauge.contracts.run import FACTORS
from ragauge.contracts.score import QuestionRow
from ragauge.contracts.stability import STABILITIES, Retrieval
from ragauge.contracts.trace_eval import Broken
from ragauge.diagnosis.advice import UNKNOWN, StabilityFacts
from ragauge.diagnosis.catalogue import CAUSE, catalogue
from ragauge.diagnosis.components import Fault
from ragauge.diagnosis.traceability import CODES, TraceabilityFacts, Turned
from ragauge.gates.rules import known_rules
from ragauge.metrics.quality import LABELS
from ragauge.metrics.table import table
from tests.cases import every

ENTRIES = catalogue()
every_entry = every("entry", ENTRIES)
every_id = every("id", [entry.id for entry in ENTRIES])
every_language = pytest.mark.parametrize("language", LANGUAGES)
TRIAGES = {"ok", "retrieval_drift", "generation_drift", "refusal_ok", "refusal_suspect", UNKNOWN}
VALUES = {
    "label": set(LABELS),
    "triage": TRIAGES,
    "refusal": set(get_args(Refusal)),
    "verdict": set(STABILITIES),
    "factor": set(FACTORS),
    "context": set(get_args(Retrieval)),
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
JUDGED = (
    "answers.answer_relevancy",
    "answers.context_precision",
    "answers.context_recall",
    "answers.factual_correctness",
    "answers.faithfulness",
    "answers.noise_sensitivity",
    "answers.semantic_similarity",
)
ENDS = {"en": (".", "?"), "zh": ("。", "？")}
SENTENCE_ENDS = re.compile(r"(?<=[.?!])\s+|(?<=[。？！])")


def worded(id, language):
    [entry] = [entry for entry in catalogue(language) if entry.id == id]
    return entry


def prose(entry):
    """What an entry says in whole sentences: all but its title and its evidence."""
    steps = [(step.do, step.costs, step.worsens) for step in entry.actions]
    return [entry.means, entry.confirm, *(text for step in steps for text in step)]


def placeholders(text):
    return [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]


# What every entry has to say, in every language.


@every_id
@every_language
def test_an_entry_says_all_it_has_to(id, language):
    entry = worded(id, language)
    assert entry.actions
    for text in (entry.title, *prose(entry)):
        assert text.strip() == text != ""
    for text in prose(entry):
        assert text.endswith(ENDS[language])


@every_id
@every_language
def test_evidence_counts_the_questions(id, language):
    """The evidence for a cause is what its signs say, which is not in the catalogue."""
    entry = worded(id, language)
    wanted = [] if entry.family == CAUSE else ["n"]
    assert placeholders(entry.evidence) == wanted
    assert entry.evidence.strip() == entry.evidence


@every_language
def test_no_sentence_occurs_in_two_entries(language):
    said_by = defaultdict(set)
    for entry in catalogue(language):
        for text in [entry.evidence, *prose(entry)]:
            for sentence in filter(None, SENTENCE_ENDS.split(text)):
                said_by[sentence.strip().casefold()].add(entry.id)
    assert {text: ids for text, ids in said_by.items() if len(ids) > 1} == {}


@every_language
def test_a_family_has_no_title_twice(language):
    titles = [(entry.family, entry.title) for entry in catalogue(language)]
    assert len(set(titles)) == len(titles)


def test_all_of_the_actions_make_one_text():
    [ask, strip] = worded("quality.refusal_malformed", "en").actions
    assert worded("quality.refusal_malformed", "en").action == f"{ask.do} {strip.do}"


@every_entry
def test_an_action_turns_a_knob_that_is_known(entry):
    assert {step.knob for step in entry.actions} <= {*KNOBS, None}


def test_every_knob_is_turned_by_some_action():
    assert {step.knob for entry in ENTRIES for step in entry.actions} >= set(KNOBS)


# When an entry applies.


@every_entry
def test_an_entry_names_metrics_that_exist(entry):
    assert entry.metrics
    assert len(set(entry.metrics)) == len(entry.metrics)
    assert set(entry.metrics) <= set(table())
    for text in entry.scores:
        assert known_rules(text)[0].metric in table()


@every_entry
def test_an_entry_asks_for_facts_that_exist(entry):
    if entry.family == CAUSE:
        assert (entry.when, entry.scores) == ({}, ())
        return
    assert entry.when
    assert set(entry.when) <= set(FACTS[entry.family].__struct_fields__)
    for fact, wanted in entry.when.items():
        assert wanted
        assert set(wanted) <= VALUES.get(fact, set(wanted))


@every_entry
def test_an_entry_speaks_of_metrics_of_its_own_family(entry):
    """A cause shows in the metrics of any."""
    if entry.family != CAUSE:
        assert {metric.partition(".")[0] for metric in entry.metrics} == {entry.family}


def test_ids_are_unique():
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)


# What the catalogue must not leave out.


def test_every_cause_that_is_weighed_is_worded():
    weighed = tomllib.loads((files("ragauge.diagnosis") / "evidence.toml").read_text("utf-8"))
    causes = [entry.id for entry in ENTRIES if entry.family == CAUSE]
    assert causes == [cause["id"] for cause in weighed["cause"]]


@pytest.mark.parametrize("metric", JUDGED)
def test_every_judged_metric_has_causes_to_choose_from(metric):
    causes = [entry for entry in ENTRIES if entry.family == CAUSE and metric in entry.metrics]
    assert len(causes) > 1


def test_the_entry_that_sends_to_the_codes_is_there():
    assert CODES in {entry.id for entry in ENTRIES}


@pytest.mark.parametrize("fact", TraceabilityFacts.__struct_fields__)
def test_every_fact_of_traceability_is_asked_for(fact):
    asked = {name for entry in ENTRIES for name in entry.when}
    assert fact in asked | {"qid", "answerable"}


@every("metric", table().values())
@every_language
def test_every_metric_that_can_fail_a_gate_has_advice(metric, language):
    """Of its own family: a cause is ranked by a diagnosis, and a score does not make one."""
    family = metric.id.partition(".")[0]
    entries = [entry for entry in catalogue(language) if entry.family == family]
    assert any(metric.id in entry.metrics for entry in entries)


@pytest.mark.parametrize("named", sorted({*LABELS} - {"OK", "REFUSAL_OK"}))
def test_every_bad_label_has_advice(named):
    by_label = {name for entry in ENTRIES for name in entry.when.get("label", ())}
    by_facts = {"OVER_REFUSAL"}  # answerable and not answered, however the refusal is dressed
    assert named in by_label | by_facts
