"""The catalogue of causes: complete in every language, and about things that exist."""

import ast
import inspect
import re
import string
import tomllib
from collections import Counter, defaultdict
from importlib.resources import files
from typing import get_args, get_type_hints

import pytest

from ragauge.contracts.audit import STATES
from ragauge.contracts.diagnosis import KNOBS, LANGUAGES, Intervention
from ragauge.contracts.metric import Refusal
from ragauge.contracts.run import FACTORS
from ragauge.contracts.score import QuestionRow
from ragauge.contracts.stability import STABILITIES, Retrieval
from ragauge.contracts.trace_eval import Broken
from ragauge.diagnosis import scored_case, traced_case
from ragauge.diagnosis.advice import (
    CODES,
    UNKNOWN,
    Fault,
    StabilityFacts,
    TraceabilityFacts,
    Turned,
)
from ragauge.diagnosis.catalogue import (
    CAUSE,
    Entry,
    Step,
    actions_of,
    catalogue,
    evidence,
    rules,
    symptoms,
)
from ragauge.diagnosis.ranking import REPAIRED_BY
from ragauge.gates.rules import known_rules
from ragauge.metrics.quality import LABELS
from ragauge.metrics.table import table
from ragauge.runners.diagnosis.diagnose import AGAIN

ENTRIES = catalogue()
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


def test_every_entry_says_all_it_has_to():
    """The evidence for a cause is what its signs say, which is not in the catalogue."""
    faults = []
    for language in LANGUAGES:
        for entry in catalogue(language):
            texts, counted = prose(entry), [] if entry.family == CAUSE else ["n"]
            holds = {
                "has actions": bool(entry.actions),
                "no text is blank": all(
                    text.strip() == text != "" for text in [entry.title, *texts]
                ),
                "sentences end": all(text.endswith(ENDS[language]) for text in texts),
                "evidence counts the questions": placeholders(entry.evidence) == counted,
                "evidence is not padded": entry.evidence.strip() == entry.evidence,
            }
            faults += [(language, entry.id, what) for what, true in holds.items() if not true]
    assert faults == []


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


def test_every_knob_is_turned_by_some_action():
    assert {step.knob for entry in ENTRIES for step in entry.actions} >= set(KNOBS)


# When an entry applies.


def test_every_entry_is_about_metrics_facts_and_knobs_that_exist():
    faults = []
    for entry in ENTRIES:
        holds = {
            "metrics": bool(entry.metrics) and set(entry.metrics) <= set(table()),
            "each metric once": len(set(entry.metrics)) == len(entry.metrics),
            "scores": all(known_rules(text)[0].metric in table() for text in entry.scores),
            "knobs": {step.knob for step in entry.actions} <= {*KNOBS, None},
        }
        if entry.family == CAUSE:  # shows in the metrics of any family
            holds["no condition"] = (entry.when, entry.scores) == ({}, ())
        else:
            families = {metric.partition(".")[0] for metric in entry.metrics}
            holds["its own family"] = families == {entry.family}
            facts = FACTS[entry.family].__struct_fields__
            holds["facts"] = bool(entry.when) and set(entry.when) <= set(facts)
            holds["values"] = all(
                wanted and set(wanted) <= VALUES.get(fact, set(wanted))
                for fact, wanted in entry.when.items()
            )
        faults += [(entry.id, what) for what, true in holds.items() if not true]
    assert faults == []


def test_ids_are_unique():
    assert len({entry.id for entry in ENTRIES}) == len(ENTRIES)


# What the catalogue must not leave out.


def test_every_cause_that_is_weighed_is_worded():
    weighed = tomllib.loads((files("ragauge.diagnosis") / "evidence.toml").read_text("utf-8"))
    causes = [entry.id for entry in ENTRIES if entry.family == CAUSE]
    assert causes == [cause["id"] for cause in weighed["cause"]]


def test_every_judged_metric_has_causes_to_choose_from():
    causes = Counter(name for entry in ENTRIES if entry.family == CAUSE for name in entry.metrics)
    assert [metric for metric in JUDGED if causes[metric] < 2] == []


def test_the_entry_that_sends_to_the_codes_is_there():
    assert CODES in {entry.id for entry in ENTRIES}


def test_every_fact_of_traceability_is_asked_for():
    asked = {name for entry in ENTRIES for name in entry.when}
    assert set(TraceabilityFacts.__struct_fields__) <= asked | {"qid", "answerable"}


def test_every_metric_that_can_fail_a_gate_has_advice_in_every_language():
    """Of its own family: a cause is ranked by a diagnosis, and a score does not make one."""
    for language in LANGUAGES:
        advised = {
            metric
            for entry in catalogue(language)
            for metric in entry.metrics
            if metric.partition(".")[0] == entry.family
        }
        assert set(table()) - advised == set()


def test_every_bad_label_has_advice():
    by_label = {name for entry in ENTRIES for name in entry.when.get("label", ())}
    by_facts = {"OVER_REFUSAL"}  # answerable and not answered, however the refusal is dressed
    assert {*LABELS} - {"OK", "REFUSAL_OK"} <= by_label | by_facts


# Actions under the pipeline's own names for its knobs, without the knobs it lacks.

OWN = Entry(
    id="own.one",
    metrics=("faithfulness",),
    title="One",
    confirm="Look.",
    actions=(
        Step(do="Widen the pool.", knob="recall_top_k", costs="Time.", worsens="Precision."),
        Step(do="Read the worst samples."),
        Step(do="Turn sampling off.", knob="temperature"),
    ),
)


def told(knobs):
    return [(action.do, action.knob) for action in actions_of(OWN, knobs)]


def test_without_a_map_knobs_have_the_names_of_the_catalogue():
    assert told({}) == [
        ("Widen the pool.", "recall_top_k"),
        ("Read the worst samples.", None),
        ("Turn sampling off.", "temperature"),
    ]


def test_a_map_renames_a_knob_and_nothing_else():
    renamed, plain = actions_of(OWN, {"recall_top_k": "retriever.k"}), actions_of(OWN, {})
    assert renamed[0].knob == "retriever.k"
    assert (renamed[0].do, renamed[0].costs, renamed[0].worsens) == (
        "Widen the pool.",
        "Time.",
        "Precision.",
    )
    assert renamed[1:] == plain[1:]


def test_an_action_on_a_knob_that_is_not_there_is_left_out():
    assert told({"recall_top_k": None}) == [
        ("Read the worst samples.", None),
        ("Turn sampling off.", "temperature"),
    ]


def test_an_action_that_turns_no_knob_is_never_left_out():
    assert told(dict.fromkeys(KNOBS)) == [("Read the worst samples.", None)]


def test_every_knob_of_the_catalogue_can_be_renamed_and_hidden():
    called, hidden = {knob: f"our.{knob}" for knob in KNOBS}, dict.fromkeys(KNOBS)
    for entry in ENTRIES:
        plain = actions_of(entry, {})
        renamed = [action.knob for action in actions_of(entry, called)]
        assert renamed == [action.knob and f"our.{action.knob}" for action in plain]
        left = tuple(action for action in plain if action.knob is None)
        assert actions_of(entry, hidden) == left


TABLE = evidence()
WEIGHTS = [(rule.id, weight) for rule in TABLE.cause for weight in rule.signs]

SEEN_WITH = {"padded": {"longer"}}
"""Signs that are there wherever a symptom is."""


def noted(kind):
    """The names that the code notes as symptoms or signs, read from its source."""
    found = set()
    for module in (scored_case, traced_case):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                first = node.args[0] if node.args else None
                if node.func.attr == kind and isinstance(first, ast.Constant):
                    found.add(first.value)
    return found


def added_later():
    """The signs that are put into cases once all are there."""
    source = inspect.getsource(traced_case.with_temperature)
    return {
        key.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def test_every_cause_of_the_catalogue_has_its_evidence_and_no_other():
    worded = {entry.id for entry in catalogue() if entry.family == CAUSE}
    assert set(rules()) == worded
    assert Counter(rule.id for rule in TABLE.cause).most_common(1)[0][1] == 1


def test_the_code_sees_exactly_the_symptoms_that_causes_bring_about():
    assert noted("symptom") == set(symptoms())


def test_the_code_looks_for_exactly_the_signs_that_weigh():
    changes = set(get_args(get_type_hints(Intervention)["name"])) - {AGAIN}
    replayed = {f"{REPAIRED_BY}{change}" for change in changes}
    assert noted("sign") | added_later() | replayed == {weight.sign for _, weight in WEIGHTS}


def test_every_symptom_has_the_share_that_is_tolerated():
    assert set(TABLE.tolerated) == set(symptoms())
    assert all(0 < share < 1 for share in TABLE.tolerated.values())


def test_a_cause_names_each_symptom_and_each_sign_once():
    for rule in TABLE.cause:
        signs = [weight.sign for weight in rule.signs]
        assert rule.symptoms and len(set(rule.symptoms)) == len(rule.symptoms), rule.id
        assert len(set(signs)) == len(signs), rule.id


def test_every_sign_weighs_and_a_needed_one_speaks_for_its_cause_where_it_is_seen():
    for cause, weight in WEIGHTS:
        assert weight.bits != weight.bits_if_not, (cause, weight)
        assert abs(weight.bits) <= 8 and abs(weight.bits_if_not) <= 8, (cause, weight)
        assert not weight.needed or weight.bits > 0 > weight.bits_if_not, (cause, weight)


def test_every_symptom_has_a_cause_that_nothing_can_strike_out():
    for symptom in symptoms():
        able = [rule for rule in TABLE.cause if symptom in rule.symptoms]
        needs = [{weight.sign for weight in rule.signs if weight.needed} for rule in able]
        assert any(need <= SEEN_WITH.get(symptom, set()) for need in needs), symptom
