"""A package of its own adds a metric: installed, scored, and kept from doing harm."""

import doctest
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ragauge.metrics.table import table

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ragauge-answer-length"
ID = "example.answer_words"

SCORE = """
import json, sys
import msgspec
from ragauge import score
from ragauge.errors import RagaugeError

if __name__ == "__main__":
    gold, traces, options = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
    try:
        outcome = score(gold, traces, **options)
    except RagaugeError as error:
        print(json.dumps({"error": type(error).__name__, "problems": list(error.problems)}))
    else:
        sys.stdout.buffer.write(msgspec.json.encode(outcome.report))
"""


def run_score(plugin, folder, gold, traces, **options):
    """What a fresh interpreter that sees the plug-in prints; warnings are errors there too."""
    script = folder / "run.py"
    script.write_text(SCORE)
    environment = {**os.environ, "PYTHONPATH": str(plugin), "PYTHONWARNINGS": "error"}
    arguments = [str(gold), json.dumps([str(name) for name in traces]), json.dumps(options)]
    done = subprocess.run(
        [sys.executable, script, *arguments], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The example package, built and installed for real into a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    source = folder / "source"
    shutil.copytree(EXAMPLE, source)  # a build leaves its traces beside the sources
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    uv = [shutil.which("uv") or str(Path(sys.executable).with_name("uv")), "pip"]
    installer = pip if importlib.util.find_spec("pip") else uv
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]
    where = ["--target", str(folder / "site"), str(source)]
    subprocess.run([*installer, "install", *offline, *where], check=True, capture_output=True)
    return folder / "site"


def written(folder, module):
    """A plug-in as an installer would leave it: a module, and its entry point."""
    site = folder / "site"
    info = site / "odd-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[ragauge.metrics]\nodd = odd:odd\n")
    (site / "odd.py").write_text(module)
    return site


def test_the_example_does_what_its_docstring_shows(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLE)
    module = importlib.import_module("ragauge_answer_length")
    text = module.answer_words.doc
    case = doctest.DocTestParser().get_doctest(text, vars(module), ID, None, None)
    assert case.examples
    assert doctest.DocTestRunner().run(case).failed == 0


def test_an_installed_metric_is_scored_shown_and_stored(installed, answered, tmp_path):
    import polars as pl

    rows = tmp_path / "rows.parquet"
    gold, traces = answered
    report = json.loads(
        run_score(installed, tmp_path, gold, [traces], out=str(rows), gates="answer_words<=40")
    )
    records = [json.loads(line) for line in traces.read_text("utf-8").splitlines()]
    claims = [record["answer_json"]["claim"] for record in records]
    words = [None if claim == "not in context" else len(claim.split()) for claim in claims]
    lengths = [length for length in words if length is not None]

    found = report["metrics"][ID]
    assert found["value"] == pytest.approx(sum(lengths) / len(lengths))
    assert (found["n"], found["of"]) == (len(lengths), len(lengths))  # refusals are outside
    assert found["ci"][0] < found["value"] < found["ci"][1]
    assert found["signature"].startswith(f"{ID}|v1|canon:unicode|refusal:auto|each:question|n:")
    assert report["gates"][0]["metric"] == ID
    assert report["gates"][0]["verdict"] == "pass"
    assert report["identity"]["metrics"][ID] == 1
    assert "metric_error" not in report["finding_counts"]
    assert pl.read_parquet(rows)[ID].to_list() == words


def test_two_workers_give_the_bytes_of_one(installed, answered, tmp_path):
    gold, traces = answered
    copies = [shutil.copy(traces, tmp_path / f"traces-{number}.jsonl") for number in range(3)]
    one, two = (
        run_score(installed, tmp_path, gold, copies, workers=workers, each="trace")
        for workers in (1, 2)
    )
    assert one == two
    assert json.loads(one)["metrics"][ID]["n"] > 100


ODD = '''
from ragauge import Absent, Facts, Row, metric

@metric("odd.metric", version=1, better="higher", bounds=(0, 1), unit="question", needs={needs})
def odd(facts):
    """Something odd."""
    {body}
'''
FILES = {
    "gold.jsonl": [
        {"qid": qid, "question": qid, "answerable": True, "gold_claim": "x"} for qid in "abc"
    ],
    "traces.jsonl": [{"qid": qid, "answer_json": {"claim": f"say {qid}"}} for qid in "abc"],
}


@pytest.fixture
def files(tmp_path):
    for name, records in FILES.items():
        (tmp_path / name).write_text("\n".join(map(json.dumps, records)))
    return tmp_path / "gold.jsonl", [tmp_path / "traces.jsonl"]


@pytest.mark.parametrize(
    ("needs", "body", "n", "message"),
    [
        ("trace", "return Row((1 // (facts.claim != 'say b'), 1))", 2, "ZeroDivisionError: "),
        ("claim", "return Row((1, 1)) if facts.claim != 'say b' else 0.5", 2, "returned float, "),
        ("status", "return Row((1, 1, 1)[: 2 + (facts.claim == 'say b')])", 2, "(1, 1, 1), expec"),
        ("hit", "return Row((0.5 if facts.claim == 'say b' else 1, 1))", 2, "(0.5, 1), expected"),
        ("answered", "raise SystemError('always')", 0, "SystemError: always"),
    ],
)
def test_a_failing_metric_is_a_finding_and_absent(files, tmp_path, needs, body, n, message):
    site = written(tmp_path, ODD.format(needs=(needs,), body=body))
    options = {"each": "trace"} if needs == "claim" else {"out": str(tmp_path / "rows.parquet")}
    report = json.loads(run_score(site, tmp_path, *files, **options))
    found = report["metrics"]["odd.metric"]
    assert (found["n"], found["of"], found["value"]) == (n, 3, 1.0 if n else None)
    assert report["finding_counts"]["metric_error"] == 3 - n
    (first, *_) = [one for one in report["findings"] if one["code"] == "metric_error"]
    assert first["message"].startswith("odd.metric: ")
    assert message in first["message"]
    assert first["where"].endswith("traces.jsonl:2" if n else "traces.jsonl:1")


def test_a_metric_whose_total_is_nothing_over_nothing_is_absent(files, tmp_path):
    site = written(tmp_path, ODD.format(needs="()", body="return Row((0, 0))"))
    found = json.loads(run_score(site, tmp_path, *files))["metrics"]["odd.metric"]
    assert (found["value"], found["n"]) == (None, 3)
    assert found["reason"]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("raise RuntimeError('broken')", ["odd (odd:odd) does not load: RuntimeError: broken"]),
        ("import no_such_module", ["does not load: ModuleNotFoundError", "uninstall"]),
        ("nothing = 1", ["does not load: AttributeError"]),
        ("def odd(facts): ...", ["is a function, not a metric", "decorate"]),
        ("odd = 3", ["is a int, not a metric"]),
        (
            "from ragauge.metrics.quality import precision_cited as odd",
            ["quality.precision_cited: registered twice"],
        ),
        (
            ODD.format(needs="()", body="").replace("odd.metric", "odd").replace("on=1", "on=0"),
            ['id "odd" has no family', "version 0 is below 1"],
        ),
        (
            ODD.format(needs="()", body="return Row((1, 1))").replace('"""Something odd."""', ""),
            ["it has no docstring"],
        ),
    ],
)
def test_a_plug_in_that_is_no_metric_is_a_usage_error(files, tmp_path, module, words):
    said = json.loads(run_score(written(tmp_path, module), tmp_path, *files))
    assert said["error"] == "UsageError"
    assert all(word in " ".join(said["problems"]) for word in words)


def test_the_example_is_not_part_of_the_table_unless_installed():
    assert ID not in table()
