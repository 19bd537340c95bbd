"""Gate rules: everything their grammar promises, and every error in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.contracts.report import Rule
from ragauge.errors import UsageError
from ragauge.gates.presets import DEFAULT, PRESETS, preset
from ragauge.gates.rules import EXAMPLE, checked, known_rules, merged, parse_rules
from ragauge.metrics.table import find, table


def found_metric(name):
    return find(name, "facts")


def read(text):
    [found] = parse_rules(text, found_metric)
    return found


def rule(name, op, bound, **others):
    return Rule(metric=f"quality.{name}", op=op, bound=bound, **others)


READ = {
    "precision_cited>=0.80": rule("precision_cited", ">=", 0.8),
    " quality.precision_cited  >=  .8 ": rule("precision_cited", ">=", 0.8),
    "under_refusal<=0.05@95": rule("under_refusal", "<=", 0.05, confidence=95),
    "under_refusal <= 5% @ 99.5%": rule("under_refusal", "<=", 0.05, confidence=99.5),
    "precision_cited≥80%": rule("precision_cited", ">=", 0.8),
    "errors≤0": rule("errors", "<=", 0),
    "errors==0": rule("errors", "=", 0),
    "errors<1e-3": rule("errors", "<", 0.001),
    "coverage>99%": rule("coverage", ">", 0.99),
    "gold_retrieved@5>=0.9": rule("gold_retrieved@5", ">=", 0.9),
    "gold_retrieved@12>=0.9@95": rule("gold_retrieved@12", ">=", 0.9, confidence=95),
    "over_refusal<=0.10 where language=nl": rule(
        "over_refusal", "<=", 0.1, where={"language": "nl"}
    ),
    "over_refusal<=0.1 WHERE language = nl AND data_tier=1": rule(
        "over_refusal", "<=", 0.1, where={"language": "nl", "data_tier": "1"}
    ),
    "compliance>=1 where answerable": rule("compliance", ">=", 1, where={"answerable": True}),
    "compliance>=1 where unanswerable": rule("compliance", ">=", 1, where={"answerable": False}),
    "compliance>=1 where answerable=False": rule(
        "compliance", ">=", 1, where={"answerable": False}
    ),
    "claim_containment>=1 per question": rule("claim_containment", ">=", 1, per="question"),
    "claim_containment>=1 per question 9 of 10": rule(
        "claim_containment", ">=", 1, per="question", at_least=(9, 10)
    ),
    "claim_containment>=1 per question 9/10 where language=nl?": rule(
        "claim_containment",
        ">=",
        1,
        per="question",
        at_least=(9, 10),
        where={"language": "nl"},
        optional=True,
    ),
    "precision_strict>=0.80?": rule("precision_strict", ">=", 0.8, optional=True),
    "precision_strict>=0.80 over 80%": rule("precision_strict", ">=", 0.8, over=0.8),
    "precision_strict>=0.80@95 over 0.5 where language=nl": rule(
        "precision_strict", ">=", 0.8, confidence=95, over=0.5, where={"language": "nl"}
    ),
}


@pytest.mark.parametrize("text", READ)
def test_a_rule_is_read(text):
    assert read(text) == READ[text]


@pytest.mark.parametrize("text", READ)
def test_a_rule_written_out_reads_the_same(text):
    assert read(str(READ[text])) == READ[text]


def test_rules_stand_between_commas():
    assert parse_rules(EXAMPLE, found_metric) == (
        READ["precision_cited>=0.80"],
        READ["under_refusal<=0.05@95"],
    )


REFUSED = {
    "": "cannot be read; write for example",
    "precision_cited": "cannot be read",
    "precision_cited>=": "cannot be read",
    "precision_cited=>0.8": "cannot be read",
    "precision_cited>=0.8 9 of 10": "cannot be read",
    "precision_cited>=nan": "cannot be read",
    "precision_cited>=0.8 per trace": "cannot be read",
    "precision_cited>=0.8 where country=NL per question": "write `per question` before `where`",
    "precision_sited>=0.8": 'no metric "precision_sited"; did you mean "precision_cited"?',
    "qqqqqqqq>=1": 'no metric "qqqqqqqq"; `ragauge metrics` lists them',
    "under_refusal<=0.05@100": "from 50 to 99.99",
    "under_refusal<=0.05@9": "from 50 to 99.99",
    "coverage=1@95": "cannot equal a bound",
    "compliance>=1@95 per question": "a single question has no interval",
    "compliance>=1 per question 0 of 10": "0 < k <= n",
    "compliance>=1 per question 11 of 10": "0 < k <= n",
    "compliance>=1 where nl": 'condition "nl" cannot be read',
    "compliance>=1 where language=": "cannot be read",
    "compliance>=1 where a=b and a=c": "a stands there already",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_rule_that_cannot_hold_is_refused_in_words(text):
    with pytest.raises(UsageError) as error:
        read(text)
    assert REFUSED[text] in str(error.value)
    assert error.value.exit_code == 2


def test_all_errors_come_at_once():
    with pytest.raises(UsageError) as error:
        parse_rules("precision_sited>=1,coverage>=1,nonsense,coverage=1@95", found_metric)
    assert len(error.value.problems) == 3


def test_k_of_n_without_questions_is_refused_from_python_too():
    with pytest.raises(UsageError, match="per question"):
        checked(rule("compliance", ">=", 1, at_least=(9, 10)))


@given(st.text(alphabet="precison_td<>=≥.0159@%? wherqutn/ofa", max_size=40))
def test_any_text_is_a_rule_or_a_usage_error(text):
    try:
        found = known_rules(text)[0]
    except UsageError:
        return
    assert known_rules(str(found))[0].metric == found.metric


# Presets.

INTEGRITY = {"coverage": ("=", 1), "errors": ("=", 0)}
EXPECTED = {
    "integrity": INTEGRITY,
    "example08": INTEGRITY
    | {
        "precision_cited": (">=", 0.80),
        "under_refusal": ("<=", 0.05),
        "over_refusal": ("<=", 0.25),
        "citation_hit_rate": (">=", 0.75),
        "compliance": (">=", 0.98),
    },
    "ship": INTEGRITY
    | {
        "precision_strict": (">=", 0.80),
        "under_refusal": ("<=", 0.05),
        "over_refusal": ("<=", 0.10),
        "citation_hit_rate": (">=", 0.75),
        "compliance": (">=", 0.98),
        "out_of_scope": ("=", 0),
    },
}


def test_presets_hold_what_the_specification_says():
    assert set(PRESETS) == set(EXPECTED)
    assert DEFAULT == "integrity"
    for name, rules in EXPECTED.items():
        assert {r.metric: (r.op, r.bound) for r in preset(name)} == {
            f"quality.{metric}": bound for metric, bound in rules.items()
        }
        assert all(r.metric in table() and not r.optional and r.per == "set" for r in preset(name))


def test_an_unknown_preset_names_the_known_ones():
    with pytest.raises(UsageError, match="example08, ship, integrity"):
        preset("shipp")


@pytest.mark.parametrize(
    ("own", "left"),
    [
        ("over_refusal<=0.2", {"over_refusal<=0.2", "coverage=1"}),
        ("over_refusal<0.2@95", {"over_refusal<0.2@95", "coverage=1"}),
        ("coverage>=0.9", {"over_refusal<=0.1", "coverage>=0.9"}),
        ("over_refusal>=0.01", {"over_refusal<=0.1", "over_refusal>=0.01", "coverage=1"}),
        (
            "over_refusal<=0.2 where language=nl",
            {"over_refusal<=0.1", "over_refusal<=0.2 where language=nl", "coverage=1"},
        ),
        ("compliance>=1", {"over_refusal<=0.1", "compliance>=1", "coverage=1"}),
    ],
)
def test_a_users_rule_takes_the_place_of_the_presets_about_the_same(own, left):
    given_rules = parse_rules("over_refusal<=0.1,coverage=1", found_metric)
    found = merged(given_rules, parse_rules(own, found_metric))
    assert {str(r).removeprefix("quality.") for r in found} == left


def test_the_stability_briefs_equals_sign_means_the_good_direction():
    from ragauge.gates.stability import rules_of
    from ragauge.metrics.table import find

    def runs(name):
        return find(name, "runs")

    own = rules_of("reference", "acr=0.95,cghc=0.95,css=0.70,ned50=0.20,rcr=0.98", runs)
    bounds = {rule.metric.partition(".")[2]: f"{rule.op}{rule.bound:g}" for rule in own}
    assert bounds["acr"] == ">=0.95" and bounds["ned50"] == "<=0.2" and bounds["rcr"] == ">=0.98"
    with pytest.raises(UsageError, match=r"write >=0\.95"):
        rules_of("ours", "acr=0.95", runs)
