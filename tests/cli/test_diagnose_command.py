"""`ragauge diagnose` in a real process: exit codes, scenarios, rules, knobs, forms and sources."""

import json
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest

from ragauge.demo import GOLD
from ragauge.demo.knobs import Knobs
from ragauge.demo.pipeline import Pipeline
from ragauge.demo.tour import write_traces
from ragauge.errors import UsageError
from ragauge.ingest.options import configured_knobs, knob_names, scenario
from tests.cli.command import ragauge

LOW = {"faithfulness": 0.2, "context_recall": 0.9}
FINE = {"faithfulness": 0.9, "context_recall": 0.9}
ENTRY = """
[[entry]]
id = "own.old_scans"
metrics = ["faithfulness"]
when = { country = ["NL"] }
title = "Old scans are read badly"
confirm = "Look at the scans."
actions = [{ do = "Read them again.", knob = "index" }]
"""


def rows(scores, n=4):
    return [{"sample_id": f"s{at}", "strata": {"country": "NL"}, **scores} for at in range(n)]


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def low(tmp_path):
    return write(tmp_path / "low.jsonl", rows(LOW))


@pytest.fixture
def fine(tmp_path):
    return write(tmp_path / "fine.jsonl", rows(FINE))


def told(*arguments, code=0, **options):
    """What the command prints as JSON."""
    made = ragauge("diagnose", *arguments, "--format", "json", **options)
    assert made.returncode == code, made.stderr
    return json.loads(made.stdout)


def refused(*arguments, code=2, **options):
    """What the command says as it refuses."""
    made = ragauge("diagnose", *arguments, **options)
    assert (made.returncode, made.stdout) == (code, b"")
    assert b"Traceback" not in made.stderr
    return made.stderr.decode()


def severities(report):
    return {one["metric"]: one["severity"] for one in report["diagnoses"]}


# Exit codes.


def test_it_ends_with_0_where_nothing_is_critical(fine):
    made = ragauge("diagnose", fine)
    assert (made.returncode, made.stderr) == (0, b"")
    assert made.stdout.startswith(b"PASS")


def test_it_ends_with_1_where_a_metric_is_critical(low):
    made = ragauge("diagnose", low)
    assert (made.returncode, made.stderr) == (1, b"")
    assert made.stdout.startswith(b"FAIL")
    assert b"faithfulness" in made.stdout


def test_it_ends_with_1_where_a_metric_that_is_asked_for_has_no_value(fine):
    report = told(fine, "--metrics", "faithfulness,noise_sensitivity", code=1)
    assert severities(report)["noise_sensitivity"] == "not_evaluable"


def test_it_ends_with_3_where_nothing_has_a_value(fine, tmp_path):
    assert "noise_sensitivity" in refused(fine, "--metrics", "noise_sensitivity", code=3)
    empty = write(tmp_path / "empty.jsonl", [])
    assert "empty.jsonl" in refused(empty, code=3)


def test_it_ends_with_3_where_lines_are_bad_beyond_what_is_accepted(fine):
    with fine.open("a") as file:
        file.write('{"sample_id": \n{"sample_id": "x", "contexts": 7}\n')
    told_of = refused(fine, code=3)
    assert "fine.jsonl:5" in told_of and "fine.jsonl:6" in told_of
    assert told(fine, "--max-bad", "2")["finding_counts"]["bad_line"] == 2


@pytest.mark.parametrize(
    ("value", "fail_on", "code"),
    [
        (0.2, "never", 0),
        (0.6, "warning", 1),
        (0.6, "critical", 0),
    ],
)
def test_how_bad_a_metric_must_be_to_fail(tmp_path, value, fail_on, code):
    file = write(tmp_path / "scores.jsonl", rows({"faithfulness": value}))
    report = told(file, "--fail-on", fail_on, code=code)
    assert report["pass"] is (code == 0)
    assert report["identity"]["fail_on"] == fail_on


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--fail-on", "always"),
        ("--lang", "nl"),
        ("--top", "-1"),
        ("--metrics", "faithfulness,,tone"),
        ("--input-format", "xml"),
        ("--format", "yaml"),
        ("--max-bad", "some"),
        ("--report", "why.docx"),
        ("--knobs", "[1]"),
        ("--rules", "none.toml"),
    ],
)
def test_it_ends_with_2_where_the_command_is_wrong(low, tmp_path, arguments):
    source = () if not arguments else (low,)
    assert refused(*source, *arguments, cwd=tmp_path)


# Sources.


def test_a_source_that_is_neither_a_file_nor_a_run_is_told_so(tmp_path):
    message = refused("nowhere.jsonl", "--store", tmp_path / "store")
    assert "nowhere.jsonl" in message or "store" in message


def test_a_source_that_names_no_run_is_told_how_runs_are_named(tmp_path, answered):
    gold, traces = answered
    store = ("--store", tmp_path / "store")
    assert ragauge("score", gold, traces, "--record", *store).returncode == 0
    message = refused("nowhere.jsonl", *store)
    assert "nowhere.jsonl" in message
    assert "run" in message


def test_two_sources_are_one_too_many_unless_they_are_traces(low, fine):
    assert "traces need --gold" in refused(low, fine)


def test_rows_may_come_from_standard_input(low):
    report = told("-", code=1, stdin=low.read_bytes())
    assert severities(report)["faithfulness"] == "critical"


def test_a_table_is_read_too(tmp_path):
    file = tmp_path / "scores.csv"
    file.write_text("sample_id,faithfulness\na,0.2\nb,\n")
    (found,) = told(file, code=1)["diagnoses"]
    assert (found["n"], found["of"], found["invalid"]) == (1, 2, {"null": 1})


def test_a_recorded_run_is_diagnosed(tmp_path):
    gold, traces = GOLD, tmp_path / "traces.jsonl"
    write_traces(Pipeline.of(knobs=Knobs(faults=("over_refusal=0.3",))), gold, traces)
    store = ("--store", tmp_path / "store")
    made = ragauge("score", gold, traces, "--record", *store, "--gates", "citation_hit_rate>=0.99")
    assert made.returncode == 1
    report = told("latest", *store, code=1)
    assert severities(report)["quality.citation_hit_rate"] == "critical"
    assert report["identity"]["of"] == "score"
    assert report["gates"][0]["verdict"] == "fail"
    assert told("latest", *store, "--fail-on", "never")["pass"] is True


def test_traces_are_diagnosed_beside_their_gold_set(answered):
    gold, traces = answered
    report = told(traces, "--gold", gold, "--fail-on", "never")
    assert report["identity"]["form"] == "traces"
    assert report["coverage"]["traces"] == report["coverage"]["samples"]


# Metrics and scenarios.


def test_only_the_named_metrics_are_told(low):
    report = told(low, "--metrics", "context_recall", "--metrics", "faithfulness,tone", code=1)
    assert set(severities(report)) == {"context_recall", "faithfulness", "tone"}


def configured(tmp_path, text):
    (tmp_path / "ragauge.toml").write_text(text)
    return {"cwd": tmp_path}


def test_a_scenario_names_the_metrics(low, tmp_path):
    here = configured(tmp_path, '[scenario.nightly]\nmetrics = ["context_recall"]\n')
    assert severities(told(low, "--scenario", "nightly", **here)) == {"context_recall": "none"}


def test_an_unknown_scenario_is_refused_with_the_nearest_name(low, tmp_path):
    here = configured(tmp_path, '[scenario.nightly]\nmetrics = ["context_recall"]\n')
    message = refused(low, "--scenario", "nigthly", **here)
    assert 'did you mean "nightly"?' in message
    assert "there are: nightly" in refused(low, "--scenario", "weekly-all", **here)


def test_without_a_configuration_a_scenario_says_what_to_write(low, tmp_path):
    assert "[scenario.nightly]" in refused(low, "--scenario", "nightly", cwd=tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "[scenario.nightly]\n",
        "[scenario.nightly]\nmetrics = []\n",
        '[scenario.nightly]\nmetrics = "faithfulness"\n',
        "[scenario.nightly]\nmetrics = [1]\n",
        '[scenario.nightly]\nmetrics = ["faithfulness"]\ntop = 3\n',
        "[scenario]\nnightly = 1\n",
    ],
)
def test_a_scenario_of_another_shape_is_refused(tmp_path, text):
    configured(tmp_path, text)
    with pytest.raises(UsageError, match=r"scenario\.nightly: expected metrics = "):
        scenario("nightly", tmp_path)


def test_a_scenario_beside_metrics_is_one_too_many(low, tmp_path):
    assert "drop" in refused(low, "--scenario", "x", "--metrics", "tone", cwd=tmp_path)


# Rules and knobs.


def test_rules_of_ones_own_make_causes_and_thresholds(low, tmp_path):
    rules = tmp_path / "rules.toml"
    bound = '[[threshold]]\nmetric = "context_recall"\nbetter = "higher"\nwarning = 0.95\n'
    rules.write_text(ENTRY + bound)
    report = told(low, "--rules", rules, code=1)
    assert severities(report) == {"faithfulness": "critical", "context_recall": "warning"}
    (own,) = [cause for cause in report["causes"] if cause["id"] == "own.old_scans"]
    assert (own["standing"], own["explains"]) == ("likely", 4)


PLAIN = {
    "faithfulness": {
        "threshold": 0.95,
        "causes": ["The prompt does not hold the model to the passages", "Validation is off"],
        "actions": ["Tighten the prompt", {"do": "Validate", "knob": "validation"}],
    },
    "tone": {"threshold": 0.5, "better": "lower", "causes": ["No style guide"], "actions": ["Add"]},
}


def as_toml(rules):
    lines = []
    for metric, rule in rules.items():
        lines.append(f"[{metric}]")
        lines += [
            f"{name} = {json.dumps(value)}".replace('": "', '" = "') for name, value in rule.items()
        ]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rules.json", json.dumps(PLAIN)),
        ("rules.json", json.dumps({"METRIC_RULES": PLAIN})),
        ("rules.json", json.dumps([{**rule, "metric": name} for name, rule in PLAIN.items()])),
        ("rules.toml", as_toml(PLAIN)),
    ],
)
def test_a_plain_rule_needs_no_condition(tmp_path, name, text):
    scores = tmp_path / "scores.jsonl"
    rows = [{"sample_id": f"s{n}", "faithfulness": 0.9, "tone": 0.4 + n / 10} for n in range(4)]
    scores.write_text("".join(json.dumps(row) + "\n" for row in rows))
    rules = tmp_path / name
    rules.write_text(text)
    report = told(scores, "--rules", rules)
    assert severities(report) == {"faithfulness": "warning", "tone": "warning"}
    causes = {cause["id"]: cause for cause in report["causes"]}
    first = causes["rule.faithfulness.1"]
    assert (first["title"], first["standing"], first["explains"]) == (
        *("The prompt does not hold the model to the passages", "possible", 4),
    )
    assert [action["do"] for action in first["actions"]] == ["Tighten the prompt", "Validate"]
    assert causes["rule.faithfulness.2"]["title"] == "Validation is off"
    assert causes["rule.tone.1"]["samples"] == ["s2", "s3"]
    listed = {one["metric"]: one["causes"] for one in report["diagnoses"]}
    assert listed["faithfulness"][:2] == ["rule.faithfulness.1", "rule.faithfulness.2"]
    assert told(scores)["causes"] == []
    done = ragauge("diagnose", scores, "--rules", rules, "--full")
    assert "Validation is off" in done.stdout.decode()


@pytest.mark.parametrize(
    ("rules", "fact"),
    [
        ({"tone": {**PLAIN["tone"], "better": None}}, "tone: the metric table has no"),
        ({"recall_strict": {**PLAIN["tone"]}}, "is better when higher"),
        ({"tone": {"threshold": 0.5, "causes": ["x"]}}, "missing required field `actions`"),
        ({"tone": {**PLAIN["tone"], "causes": []}}, "causes are missing"),
        ({"tone": {**PLAIN["tone"], "threshold": {"warning": 0.5, "critical": 0.4}}}, "before"),
        ({"tone": {**PLAIN["tone"], "when": {}}}, "unknown field `when`"),
    ],
)
def test_a_plain_rule_that_says_too_little_is_refused(low, tmp_path, rules, fact):
    file = tmp_path / "rules.json"
    file.write_text(json.dumps(rules))
    assert fact in refused(low, "--rules", file)


def test_all_faults_of_the_rules_are_told_at_once(low, tmp_path):
    rules = tmp_path / "rules.toml"
    rules.write_text(
        ENTRY
        + ENTRY.replace("own.old_scans", "cause.ungrounded").replace("NL", "{n}")
        + ENTRY.replace('country = ["NL"]', 'symptom = ["lost"]')
        + "[[threshold]]\nmetric = 7\n[hint]\n"
    )
    message = refused(low, "--rules", rules)
    places = ("hint:", "entry 2:", "entry 3: id", "entry 3: no symptom", "threshold 1:")
    for place in places:
        assert f"rules.toml: {place}" in message


def knobs_of(report):
    return {action["knob"] for cause in report["causes"] for action in cause["actions"]}


def test_knobs_are_renamed_and_hidden(low, tmp_path):
    plain = knobs_of(told(low, code=1))
    assert {"grounding_prompt", "validation"} <= plain
    given = {"grounding_prompt": "prompts.system", "validation": False}
    file = tmp_path / "knobs.json"
    file.write_text(json.dumps(given))
    for written in (json.dumps(given), file):
        turned = knobs_of(told(low, "--knobs", written, code=1))
        assert "prompts.system" in turned
        assert not {"grounding_prompt", "validation", False} & turned


def test_knobs_may_stand_in_the_configuration(low, tmp_path):
    here = configured(tmp_path, '[knobs]\ngrounding_prompt = "prompts.system"\n')
    assert "prompts.system" in knobs_of(told(low, code=1, **here))
    given = ("--knobs", '{"grounding_prompt": "other"}')
    assert "other" in knobs_of(told(low, *given, code=1, **here))


def test_knobs_that_there_are_not_are_all_told(low):
    message = refused(low, "--knobs", '{"groundingprompt": "x", "temperature": 3, "colour": "red"}')
    assert 'did you mean "grounding_prompt"?' in message
    assert "temperature: expected a name" in message
    assert '"colour"' in message


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ('[knobs]\ncolour = "red"\n', "ragauge.toml: knobs: there is no knob"),
        ("[knobs]\ntemperature = 3\n", "temperature: expected a name"),
        ("knobs = 3\n", "knobs: expected a table"),
    ],
)
def test_knobs_of_the_configuration_are_checked_too(tmp_path, text, fact):
    configured(tmp_path, text)
    with pytest.raises(UsageError, match=fact):
        configured_knobs(tmp_path)


def test_a_knob_that_is_not_there_may_be_written_in_three_ways(tmp_path):
    configured(tmp_path, '[knobs]\nvalidation = false\nindex = ""\nreranker = "r"\n')
    assert configured_knobs(tmp_path) == {"validation": None, "index": None, "reranker": "r"}
    assert knob_names({"index": None}, "knobs") == {"index": None}


# Languages and forms.


def test_it_speaks_chinese(low):
    english, chinese = (
        ragauge("diagnose", low, "--lang", lang).stdout.decode() for lang in ("en", "zh")
    )
    assert "的" in chinese and "的" not in english
    assert "faithfulness" in chinese
    report = told(low, "--lang", "zh", code=1)
    assert report["language"] == "zh"
    assert "。" in report["causes"][0]["means"]


def test_json_is_what_its_schema_says(low, tmp_path):
    schema = json.loads(ragauge("schema", "diagnosis-report").stdout)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(told(low, code=1))
    whole = [
        {
            **row,
            "question": "When?",
            "answer": "In 1885.",
            "ground_truth": "In 1800.",
            "contexts": ["It opened in 1800."],
            "tone": None if at else 0.5,
        }
        for at, row in enumerate(rows(LOW))
    ]
    report = told(write(tmp_path / "whole.jsonl", whole), "--lang", "zh", code=1)
    validator.validate(report)
    assert report["addresses"]["samples"] == 4
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({**report, "pass": "yes"})


BEGINS = {"text": "FAIL", "json": "{", "markdown": "#", "html": "<!", "junit": "<?xml"}


@pytest.mark.parametrize("form", BEGINS)
def test_every_form_tells_the_metric_and_ends_alike(low, form):
    made = ragauge("diagnose", low, "--format", form)
    assert (made.returncode, made.stderr) == (1, b"")
    text = made.stdout.decode()
    assert text.lstrip().lower().startswith(BEGINS[form].lower())
    assert "faithfulness" in text


ENDINGS = {".json": "json", ".md": "markdown", ".html": "html", ".xml": "junit"}


def test_reports_are_written_beside_in_every_form(low, tmp_path):
    files = {form: tmp_path / f"why{ending}" for ending, form in ENDINGS.items()}
    asked = [part for file in files.values() for part in ("--report", file)]
    made = ragauge("diagnose", low, "--quiet", *asked)
    assert made.returncode == 1
    for form, file in files.items():
        assert file.read_bytes() == ragauge("diagnose", low, "--format", form).stdout
    assert json.loads(files["json"].read_text())["pass"] is False
    failing = ElementTree.fromstring(files["junit"].read_text()).findall(".//failure")
    assert failing


def test_what_is_read_is_never_overwritten(low, tmp_path):
    before = low.read_bytes()
    assert "would be overwritten" in refused(low, "--report", low)
    other = tmp_path / "other.json"
    other.write_text("{}")
    for option in ("--rules", "--knobs", "--gold", "--manifest"):
        assert "would be overwritten" in refused(low, option, other, "--report", other)
    assert (low.read_bytes(), other.read_text()) == (before, "{}")


def test_no_report_is_written_where_the_input_is_refused(fine, tmp_path):
    file = tmp_path / "why.json"
    refused(fine, "--metrics", "noise_sensitivity", "--report", file, code=3)
    assert not file.exists()


def test_how_many_samples_are_shown(low):
    report = told(low, "--top", 2, code=1)
    assert len(report["diagnoses"][0]["worst"]) == 2
    assert report["diagnoses"][0]["beyond_critical"] == 4


def test_the_same_input_gives_the_same_bytes(low):
    first, second = (ragauge("diagnose", low, "--format", "json").stdout for _ in range(2))
    assert first == second


def test_claims_are_not_looked_at_where_that_is_not_wanted(tmp_path):
    row = {"id": "a", "answer": "In 1885.", "contexts": ["In 1885."], "faithfulness": 0.2}
    file = write(tmp_path / "scores.jsonl", [row])
    assert told(file, code=1)["coverage"]["claims"] == 1
    assert told(file, "--no-claims", code=1)["addresses"] is None


def test_the_catalogue_is_printed_without_a_source():
    made = ragauge("diagnose", "--catalogue", "--metrics", "faithfulness")
    assert made.returncode == 0
    assert b"cause.ungrounded" in made.stdout
