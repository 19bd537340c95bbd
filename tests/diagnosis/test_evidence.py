"""The table of evidence: whole, consistent, and about nothing that the code cannot see."""

import ast
import inspect
from collections import Counter
from typing import get_args, get_type_hints

from ragauge.contracts.diagnosis import Intervention
from ragauge.diagnosis import scored_case, traced_case
from ragauge.diagnosis.catalogue import CAUSE, catalogue, evidence, rules, symptoms
from ragauge.diagnosis.ranking import MENDED
from ragauge.runners.diagnosis.diagnose import AGAIN

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
    replayed = {f"{MENDED}{change}" for change in changes}
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
