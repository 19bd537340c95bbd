"""`ragauge compare` and `ragauge history`, as a user calls them."""

import json

import pytest
from scipy import stats

from ragauge.store.history import open_history
from tests.cli.command import ragauge
from tests.runners.recorded import HITS, record


def ones(n, wrong=()):
    return [0.0 if place in wrong else 1.0 for place in range(n)]


@pytest.fixture
def store(tmp_path):
    """A history of four runs: green on main, worse on a branch, red, and another gold set."""
    place = tmp_path / "store"
    history = open_history(str(place))
    record(history, {HITS: ones(60)}, minute=0)
    worse = record(history, {HITS: ones(60, range(20))}, minute=1, branch="side", passed=False)
    history.tag(worse.id, "worse")
    same = record(history, {HITS: ones(60, range(1))}, minute=2, branch="side")
    history.tag(same.id, "same")
    other = record(history, {HITS: ones(40)}, minute=3, branch="other")
    history.tag(other.id, "other-gold")
    lone = record(history, {HITS: ones(40)}, minute=4, branch="other", name="lone")
    history.tag(lone.id, "lone")
    history.close()
    return place


def test_a_comparison_is_information_and_a_gate_decides(store):
    informed = ragauge("compare", "green@main", "worse", "--store", store)
    assert informed.returncode == 0
    assert informed.stdout.startswith(b"WORSE  1 of 1 metric worse")
    assert informed.stderr == b""
    gate = ("--gate", "no-regression", "--store", store)
    assert ragauge("compare", "green@main", "worse", *gate).returncode == 1
    assert ragauge("compare", "green@main", "same", *gate).returncode == 0
    strict = ragauge("compare", "green@main", "same", "--gate", "not-worse", "--store", store)
    assert strict.returncode == 2
    assert b"needs a margin" in strict.stderr
    proof = ("--gate", "not-worse", "--margin", "0.01", "--store", store)
    assert ragauge("compare", "green@main", "same", *proof).returncode == 1


def test_other_gold_sets_end_with_3_unless_allowed(store):
    refused = ragauge("compare", "green@main", "other-gold", "--store", store)
    assert refused.returncode == 3
    assert b"the gold sets differ" in refused.stderr
    allowed = ragauge(
        "compare", "green@main", "other-gold", "--allow", "gold,versions", "--store", store
    )
    assert allowed.returncode == 0
    assert b"other_gold" in allowed.stdout
    wrong = ragauge("compare", "green@main", "worse", "--allow", "gold,all", "--store", store)
    assert wrong.returncode == 2
    assert b'--allow "all": is none of gold, versions, no-baseline' in wrong.stderr


def test_where_nothing_is_comparable_nothing_was_measured(tmp_path):
    history = open_history(str(tmp_path))
    record(history, {HITS: ones(20)}, minute=0)
    record(history, {HITS: ones(20)}, versions={HITS: 2}, minute=1)
    history.close()
    command = ("compare", "latest", "latest", "--store", tmp_path)
    assert ragauge(*command).returncode == 3
    allowed = ragauge(*command, "--allow", "versions")
    assert allowed.returncode == 3
    assert allowed.stdout.startswith(b"NOT COMPARABLE  1 of 1 metric not comparable")


def test_a_first_run_ends_with_3_unless_allowed(store):
    gate = ("--gate", "no-regression", "--store", store)
    first = ragauge("compare", "green@main", "lone", *gate)
    assert first.returncode == 3
    assert b"--allow no-baseline" in first.stderr
    allowed = ragauge("compare", "green@main", "lone", "--allow", "no-baseline", *gate)
    assert allowed.returncode == 0
    assert b"there is no run to compare with yet" in allowed.stdout


def test_what_names_no_run_or_no_store_is_a_usage_error(store, tmp_path):
    assert ragauge("compare", "nobody", "worse", "--store", store).returncode == 2
    missing = ragauge("compare", "latest", "latest", "--store", tmp_path / "nowhere")
    assert missing.returncode in (2, 3)
    assert b"Traceback" not in missing.stderr
    assert not (tmp_path / "nowhere").exists()


def test_every_form_is_written_and_printed(store, tmp_path):
    names = ("a.html", "a.json", "a.md", "a.xml", "a.csv", "a.txt")
    command = ("compare", "green@main", "worse", "--slice", "country", "--store", store)
    made = ragauge(*command, *(word for name in names for word in ("--report", tmp_path / name)))
    assert made.returncode == 0
    assert made.stderr.count(b"wrote ") == len(names)
    forms = {"json": ".json", "markdown": ".md", "junit": ".xml", "csv": ".csv", "html": ".html"}
    for form, ending in forms.items():
        assert ragauge(*command, "--format", form).stdout == (tmp_path / f"a{ending}").read_bytes()
    assert ragauge(*command, "--format", "github").stdout.startswith(b"::notice title=Ragauge")
    written = json.loads((tmp_path / "a.json").read_bytes())
    assert written["compared"][HITS]["verdict"] == "worse"


def test_the_line_over_runs_is_printed_in_every_form_it_has(store):
    text = ragauge("history", "citation_hit_rate", "--store", store, "--name", "nightly")
    assert text.returncode == 0
    assert text.stdout.startswith(b"quality.citation_hit_rate over 4 runs of nightly")
    for form in ("json", "markdown", "csv"):
        printed = ragauge("history", HITS, "--store", store, "--format", form)
        assert printed.returncode == 0
        assert printed.stdout
    last = ragauge("history", HITS, "--store", store, "--last", 1, "--format", "json")
    assert len(json.loads(last.stdout)["points"]) == 1


def test_history_of_nothing_ends_with_words(store):
    unknown = ragauge("history", "citation_hitrate", "--store", store)
    assert unknown.returncode == 2
    assert b"did you mean" in unknown.stderr
    none = ragauge("history", HITS, "--store", store, "--branch", "nowhere")
    assert none.returncode == 3
    assert b"no recorded run matches" in none.stderr
    wrong = ragauge("history", HITS, "--store", store, "--report", "line.html")
    assert wrong.returncode == 2
    assert b'a history report has no form "html"' in wrong.stderr


def test_all_metrics_are_tested_where_that_is_asked_for(tmp_path):
    history = open_history(str(tmp_path))
    for minute in (0, 1):
        both = {HITS: ones(20), "quality.compliance": ones(20, range(19 * minute))}
        record(history, both, minute=minute)
    history.close()
    gate = ("compare", "latest", "latest", "--gate", "no-regression", "--store", tmp_path)
    told = ragauge(*gate)
    assert told.returncode == 0
    assert b"not tested: no verdict" in told.stdout
    assert ragauge(*gate, "--metric", "all").returncode == 1


def test_the_gate_is_on_what_has_a_margin(tmp_path):
    history = open_history(str(tmp_path))
    for minute in (0, 1):
        record(history, {HITS: ones(400), "quality.compliance": ones(400)}, minute=minute)
    history.close()
    gate = ("compare", "latest", "latest", "--gate", "not-worse", "--store", tmp_path)
    made = ragauge(*gate, "--margin", "compliance=0.05", "--format", "json")
    assert made.returncode == 0
    assert [one["metric"] for one in json.loads(made.stdout)["gates"]] == ["quality.compliance"]
    ranks = ragauge(*gate, "--margin", "0.05", "--method", "wilcoxon")
    assert ranks.returncode == 2
    assert b"a margin is a loss of the mean" in ranks.stderr


AFTER, BEFORE = [0.9, 0.8, 0.7, 0.6, 0.95], [0.8, 0.69, 0.58, 0.47, 0.81]


def brief_result(place, *arguments):
    """A comparison as the brief writes it, from the JSON report."""
    done = ragauge("compare", "before", "after", *arguments, "--store", place, "--format", "json")
    assert done.returncode == 0, done.stderr.decode()
    report = json.loads(done.stdout)
    one = report["compared"]["my.score"]
    assert report["identity"]["options"]["alpha"] == report["alpha"]
    return {
        "test": one["method"],
        "statistic": one["statistic"],
        "p_value": one["p"],
        "significant": one["significant"],
        "alpha": report["alpha"],
    }, one


def test_a_comparison_gives_the_test_its_statistic_and_alpha(tmp_path):
    place = tmp_path / "store"
    history = open_history(str(place))
    for minute, (name, values) in enumerate({"before": BEFORE, "after": AFTER}.items()):
        made = record(history, {"my.score": values}, minute=minute, totals={"my.score": "mean"})
        history.tag(made.id, name)
    history.close()
    by_t, one = brief_result(place, "--method", "t")
    oracle = stats.ttest_rel(AFTER, BEFORE)
    assert by_t == {
        "test": "paired t",
        "statistic": pytest.approx(oracle.statistic),
        "p_value": pytest.approx(oracle.pvalue),
        "significant": True,
        "alpha": 0.05,
    }
    assert one["ci"] == pytest.approx(oracle.confidence_interval(0.95))
    strict, one = brief_result(place, "--method", "t", "--alpha", "0.00001")
    assert (strict["significant"], one["verdict"]) == (False, "cannot_tell")
    assert one["ci"] == pytest.approx(oracle.confidence_interval(1 - 0.00001))
    wilcoxon = ("--method", "wilcoxon")
    assert brief_result(place, *wilcoxon)[0]["significant"] is False
    loose, one = brief_result(place, *wilcoxon, "--alpha", "0.1")
    assert (loose["statistic"], loose["p_value"], loose["significant"]) == (0, 0.0625, True)
    assert one["verdict"] == "better"
    bootstrap, _ = brief_result(place, "--method", "bootstrap", "--alpha", "0.1")
    assert bootstrap["statistic"] == pytest.approx(0.12)
    wide = ("compare", "before", "after", "--method", "t", "--alpha", "0.1", "--store", place)
    assert "90 % interval" in ragauge(*wide).stdout.decode()
    assert "16.97" in ragauge(*wide, "--format", "markdown").stdout.decode()
    header, first, *_ = ragauge(*wide, "--format", "csv").stdout.decode().splitlines()
    assert header.endswith(",note,statistic,significant,alpha")
    assert first.split(",")[-3].startswith("16.97")
    assert ragauge(*wide[:4], "t", "--alpha", "0", "--store", place).returncode == 2


def test_a_gate_on_a_line_decides_the_exit_code(store):
    line = ("history", HITS, "--name", "lone", "--store", store)
    assert ragauge(*line).returncode == 0
    gated = ragauge(*line, "--gate", "cv<=0.05,no-change-point", "--format", "json")
    assert gated.returncode == 1
    found = json.loads(gated.stdout)
    assert (found["pass"], [gate["verdict"] for gate in found["gates"]]) == (
        False,
        ["not_evaluated"] * 2,
    )
    assert ragauge(*line, "--gate", "cv<=0.05?").returncode == 0
    assert ragauge(*line, "--gate", "level>=1").returncode == 2
