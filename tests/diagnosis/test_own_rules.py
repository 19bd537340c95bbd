"""Rules of the user's own: all their faults at once, and what they come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge import diagnose
from ragauge.contracts.diagnosis import Threshold
from ragauge.diagnosis.catalogue import catalogue, symptoms
from ragauge.diagnosis.own_rules import OwnRules, read_own_rules
from ragauge.errors import UsageError

ENTRY = """
[[entry]]
id = "own.old_scans"
metrics = ["faithfulness"]
when = { country = ["NL"] }
title = "Old scans are read badly"
means = "The text layer is bad."
evidence = "{n} samples come from scans"
confirm = "Look at the scans."
actions = [
  { do = "Read them again.", knob = "index", costs = "A day.", worsens = "Nothing." },
  { do = "Ask the archive." },
]
"""
ROWS = [
    {"id": "a", "faithfulness": 0.1, "answer_relevancy": 0.9, "strata": {"country": "NL"}},
    {"id": "b", "faithfulness": 0.2, "answer_relevancy": 0.1, "strata": {"country": "NL"}},
    {"id": "c", "faithfulness": 0.3, "answer_relevancy": 0.9, "strata": {"country": "BE"}},
    {"id": "d", "faithfulness": 0.9, "answer_relevancy": 0.9, "strata": {"country": "NL"}},
]


def faults(text):
    return read_own_rules(text)[1]


@pytest.fixture
def ruled(tmp_path):
    """The diagnosis of rows with rules of one's own."""

    def made(rules, rows=ROWS, **options):
        file = tmp_path / "rules.toml"
        file.write_text(rules)
        return diagnose(rows, rules=file, **options)

    return made


def own(report):
    return [cause for cause in report.causes if cause.id.startswith("own.")]


# Reading.


def test_a_file_without_faults():
    threshold = '[[threshold]]\nmetric = "tone"\nbetter = "lower"\nwarning = 0.2\ncritical = 0.4\n'
    rules, problems = read_own_rules(ENTRY + threshold)
    assert problems == []
    assert [entry.id for entry in rules.entries] == ["own.old_scans"]
    assert rules.limits == {"tone": Threshold(better="lower", warning=0.2, critical=0.4)}


def test_an_empty_file_has_no_rules_and_no_faults():
    assert read_own_rules("") == (OwnRules(), [])


def test_all_faults_are_told_at_once_each_with_its_place():
    text = f"""
[[entry]]
id = "own.first"
{ENTRY}
when2 = 1

[[entry]]
id = "{catalogue()[0].id}"
metrics = ["faithfulness"]
title = "Taken"
confirm = "Look."
actions = [{{ do = "Read." }}]

[[entry]]
id = "own.fourth"
metrics = ["faithfulness"]
when = {{ symptom = ["mised", "missed"] }}
title = "Misspelt"
evidence = "{{samples}} of {{n}}"
confirm = "Look."
actions = []

[[threshold]]
metric = "tone"
better = "upwards"
warning = 0.5

[[threshold]]
metric = "style"
better = "higher"
warning = nan

[hint]
text = "?"
"""
    problems = faults(text)
    places = [problem.partition(":")[0] for problem in problems]
    assert sorted(places) == sorted(
        [
            *("hint", "entry 1", "entry 2", "entry 3", "entry 3", "entry 4", "entry 4", "entry 4"),
            *("threshold 1", "threshold 2"),
        ]
    )
    told = "\n".join(problems)
    assert "entry 2: Object contains unknown field `when2`" in told
    assert f"entry 3: id {catalogue()[0].id} is the catalogue's; choose another" in told
    assert "entry 3: when is missing" in told
    assert "entry 4: no symptom ['mised']; there are " in told
    assert "entry 4: evidence: {n} is all that may stand in braces" in told


def test_no_id_of_the_catalogue_can_be_taken():
    ids = [entry.id for entry in catalogue()]
    assert faults("".join(ENTRY.replace("own.old_scans", id) for id in ids)) == [
        f"entry {number}: id {id} is the catalogue's; choose another"
        for number, id in enumerate(ids, 1)
    ]


def test_two_entries_of_one_id_are_told_apart_from_the_catalogue():
    assert faults(ENTRY + ENTRY) == ["entry 2: id own.old_scans is that of entry 1; choose another"]


def test_every_symptom_may_be_asked_for():
    for symptom in symptoms():
        assert faults(ENTRY.replace("country", "symptom").replace("NL", symptom)) == []


@pytest.mark.parametrize("written", ["[[1, 2]]", "[1, 'x']", "[true]", "[{ a = 1 }]"])
def test_a_symptom_that_is_no_name_is_refused_in_words(written):
    text = ENTRY.replace('country = ["NL"]', f"symptom = {written}")
    assert len(faults(text)) == 1
    assert faults(text)[0].startswith("entry 1: no symptom")


@pytest.mark.parametrize("evidence", ["{m}", "{}", "{0}", "{n.real.x}", "{n!z}", "{", "{n:q}"])
def test_evidence_that_cannot_be_filled_in_is_refused(evidence):
    text = ENTRY.replace("{n} samples", evidence)
    assert faults(text) == ["entry 1: evidence: {n} is all that may stand in braces"]


@pytest.mark.parametrize(
    ("bounds", "fact"),
    [
        ("warning = inf", "expected finite numbers"),
        ("warning = 0.5\ncritical = nan", "expected finite numbers"),
        ("warning = 0.5\ncritical = 0.6", "critical 0.6 comes before warning 0.5"),
        ('warning = "0.5"', "Expected `float`, got `str`"),
        ("critical = 0.5", "missing required field `warning`"),
        ("warning = 0.5\ncolour = 1", "unknown field `colour`"),
    ],
)
def test_a_threshold_that_makes_no_sense_is_refused(bounds, fact):
    (problem,) = faults(f'[[threshold]]\nmetric = "tone"\nbetter = "higher"\n{bounds}\n')
    assert problem.startswith("threshold 1: ")
    assert fact in problem


def test_critical_may_lie_at_the_warning_and_on_the_worse_side_of_it():
    for better, critical in (("higher", 0.4), ("lower", 0.6), ("higher", 0.5), ("lower", 0.5)):
        text = f'[[threshold]]\nmetric="tone"\nbetter="{better}"\nwarning=0.5\ncritical={critical}'
        assert faults(text) == []


def test_two_thresholds_of_one_metric_are_one_too_many():
    one = '[[threshold]]\nmetric = "tone"\nbetter = "higher"\nwarning = 0.5\n'
    assert faults(one + one) == ["threshold 2: tone has one already, threshold 1; keep one"]


@pytest.mark.parametrize("text", ["entry = 1", "[entry]\nid = 'x'", "threshold = 'x'"])
def test_a_table_of_another_shape_is_refused(text):
    assert faults(text)[0].endswith(("written [[entry]]", "written [[threshold]]"))


def test_what_is_not_toml_is_told_with_its_place():
    assert faults("[[entry]\n")[0].startswith("is not TOML: ")
    assert "line 1" in faults("[[entry]\n")[0]


@given(st.text(st.sampled_from("[]=\"'{}#\n. entrythsold1tue"), max_size=60))
def test_any_text_is_read_or_refused_in_words(text):
    rules, problems = read_own_rules(text)
    assert isinstance(rules, OwnRules)
    assert all(isinstance(problem, str) and problem for problem in problems)


# What they come to.


def test_an_entry_that_samples_speak_for_is_a_cause(ruled):
    (cause,) = own(ruled(ENTRY))
    assert (cause.id, cause.standing, cause.explains, cause.of) == ("own.old_scans", "likely", 2, 3)
    assert cause.samples == ("a", "b")
    assert cause.metrics == ("faithfulness",)
    (evidence,) = cause.evidence
    assert (evidence.n, evidence.of, evidence.text) == (2, 3, "2 samples come from scans")
    assert [(one.do, one.knob) for one in cause.actions] == [
        ("Read them again.", "index"),
        ("Ask the archive.", None),
    ]


def test_an_entry_that_no_failing_sample_speaks_for_is_silent(ruled):
    assert own(ruled(ENTRY.replace('"NL"', '"FR"'))) == []


def test_an_entry_that_asks_for_a_symptom_that_no_sample_shows_is_silent(ruled):
    for asked in ('symptom = ["uncited"]', 'country = ["NL"], symptom = ["uncited"]'):
        assert own(ruled(ENTRY.replace('country = ["NL"]', asked))) == []


def test_an_entry_names_the_first_few_samples(ruled):
    rows = [{"id": id, "faithfulness": 0.1, "strata": {"country": "NL"}} for id in "gfedcba"]
    (cause,) = own(ruled(ENTRY, rows))
    assert (cause.samples, cause.explains) == (tuple("abcde"), 7)


def test_an_entry_that_few_of_all_samples_speak_for_is_possible_at_most(ruled):
    fine = [{"id": f"s{n}", "faithfulness": 0.9} for n in range(60)]
    (cause,) = own(ruled(ENTRY, [*ROWS, *fine]))
    assert (cause.standing, cause.explains, cause.of) == ("possible", 2, 3)


def test_an_entry_about_another_metric_is_silent(ruled):
    assert own(ruled(ENTRY.replace('["faithfulness"]', '["context_recall"]'))) == []


def test_an_entry_speaks_of_the_samples_of_its_own_metrics_alone(ruled):
    (cause,) = own(ruled(ENTRY.replace('["faithfulness"]', '["answer_relevancy"]')))
    assert (cause.samples, cause.of) == (("b",), 1)


def test_all_conditions_of_an_entry_have_to_hold(ruled):
    asked = 'when = { country = ["NL", "BE"], symptom = ["invented"], answer_length = ["short"] }'
    rules = ENTRY.replace('when = { country = ["NL"] }', asked)
    assert own(ruled(rules)) == []
    answered = [{**row, "answer": "It is so."} for row in ROWS]
    (cause,) = own(ruled(rules, answered))
    assert cause.samples == ("a", "b", "c")


@pytest.mark.parametrize(("value", "id"), [("true", "a"), ("false", "b"), ("'true'", "a")])
def test_true_and_false_are_those_of_the_rows(ruled, value, id):
    rows = [
        {"id": "a", "faithfulness": 0.1, "answerable": True, "answer": "x"},
        {"id": "b", "faithfulness": 0.1, "answerable": False, "answer": "x"},
    ]
    rules = ENTRY.replace('country = ["NL"]', f"answerable = [{value}]")
    assert own(ruled(rules, rows))[0].samples == (id,)


@pytest.mark.parametrize("value", ["2", "'2'"])
def test_numbers_are_those_of_the_rows(ruled, value):
    rows = [{"id": id, "faithfulness": 0.1, "strata": {"tier": id}} for id in (1, 2)]
    assert own(ruled(ENTRY.replace('country = ["NL"]', f"tier = [{value}]"), rows))[0].samples == (
        "2",
    )


def test_more_samples_come_first_then_the_id_decides(ruled):
    second = ENTRY.replace("own.old_scans", "own.belgian").replace('"NL"', '"BE"')
    third = ENTRY.replace("own.old_scans", "own.archive")
    assert [cause.id for cause in own(ruled(second + ENTRY + third))] == [
        "own.archive",
        "own.old_scans",
        "own.belgian",
    ]


def test_knobs_of_an_entry_are_renamed_and_hidden_too(ruled):
    assert own(ruled(ENTRY, knobs={"index": "ocr"}))[0].actions[0].knob == "ocr"
    hidden = own(ruled(ENTRY, knobs={"index": None}))[0].actions
    assert [action.do for action in hidden] == ["Ask the archive."]


def test_a_threshold_gives_a_rule_to_a_metric_that_has_none(ruled):
    rows = [{"id": f"s{n}", "tone": n / 10} for n in range(5)]
    (before,) = diagnose(rows).diagnoses
    assert (before.severity, before.worst) == ("no_rule", ())
    rules = '[[threshold]]\nmetric = "tone"\nbetter = "lower"\nwarning = 0.1\ncritical = 0.3\n'
    (after,) = ruled(rules, rows).diagnoses
    assert (after.severity, after.threshold, after.better) == ("warning", 0.1, "lower")
    assert [sample.id for sample in after.worst] == ["s4", "s3", "s2"]
    assert (after.beyond_warning, after.beyond_critical) == (3, 1)


def test_a_threshold_takes_the_place_of_ours(ruled):
    rows = [{"id": "a", "faithfulness": 0.8}]
    rules = '[[threshold]]\nmetric = "faithfulness"\nbetter = "higher"\nwarning = 0.9\n'
    assert diagnose(rows).diagnoses[0].severity == "none"
    assert ruled(rules, rows).diagnoses[0].severity == "warning"


def test_a_threshold_for_a_metric_that_is_not_there_changes_nothing(ruled):
    rules = '[[threshold]]\nmetric = "tone"\nbetter = "higher"\nwarning = 0.9\n'
    assert ruled(rules).diagnoses == diagnose(ROWS).diagnoses


def test_a_file_with_faults_is_refused_with_its_name(ruled, tmp_path):
    with pytest.raises(UsageError) as refused:
        ruled(ENTRY + ENTRY + "[hint]\n")
    assert len(refused.value.problems) == 2
    assert all(str(tmp_path / "rules.toml") in one for one in refused.value.problems)


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    for file in (tmp_path, tmp_path / "none.toml"):
        with pytest.raises(UsageError, match="cannot be read"):
            diagnose(ROWS, rules=file)
    (tmp_path / "latin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="is not UTF-8 text"):
        diagnose(ROWS, rules=tmp_path / "latin.toml")
