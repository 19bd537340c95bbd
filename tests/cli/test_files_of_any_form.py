"""Files that are not what a command expects: inspected, mapped, scored without a gold set."""

from __future__ import annotations

import json

import polars as pl
import pytest

from ragauge import audit, diagnose_traces, score
from ragauge.demo.components import ANNOTATED
from ragauge.errors import UsageError
from ragauge.runners.inspection import inspect
from ragauge.runners.score_traces import score_traces
from tests.cli.command import ragauge

CONTEXT = "The museum was founded in 1798."
ROWS = [
    {
        **{"who": "q1", "Question": "When?", "docs": [CONTEXT]},
        "out": {"said": "It was founded in 1798.", "cites": [{"chunk": "1"}]},
    },
    {
        **{"who": "q2", "Question": "Who?", "docs": [CONTEXT]},
        "out": {"said": "not in context", "cites": []},
    },
]
COLUMNS = {
    "qid": "who",
    "answer": "out.said",
    "citations": "out.cites[*].chunk",
    "retrieved": "docs",
}
MAP = [part for field, path in COLUMNS.items() for part in ("--map", f"{field}={path}")]
GOLD = [
    {"qid": "q1", "question": "When?", "answerable": True, "gold_citations": ["1"]},
    {"qid": "q2", "question": "Who?", "answerable": False},
]


@pytest.fixture
def files(tmp_path):
    gold, traces = tmp_path / "gold.jsonl", tmp_path / "traces.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in GOLD))
    traces.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return gold, traces


def report_of(*arguments) -> dict:
    done = ragauge(*arguments, "--format", "json")
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_mapped_columns_are_scored_as_ours_are(files):
    gold, traces = files
    mapped = report_of("score", gold, traces, *MAP)
    assert mapped["labels"] == {"OK": 1, "REFUSAL_OK": 1}
    for source in (traces, ROWS, pl.DataFrame(ROWS)):
        report = score(gold, source, columns=COLUMNS).report
        assert report.labels == mapped["labels"]
        assert report.metrics["quality.in_scope"].value == 1


def test_the_map_may_be_in_the_file_of_the_project(files):
    folder = files[0].parent
    written = "".join(f'{field} = "{path}"\n' for field, path in COLUMNS.items())
    (folder / "ragauge.toml").write_text(f"[map]\n{written}")
    done = ragauge("score", "gold.jsonl", "traces.jsonl", "--format", "json", cwd=folder)
    assert json.loads(done.stdout)["labels"] == {"OK": 1, "REFUSAL_OK": 1}


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--map", "answer=sayd"), 3, 'answer: no trace has "sayd"; there is "who", "Question"'),
        (("--map", "anser=out"), 2, "--map anser: there is no anser; did you mean answer?"),
        (("--map", "answer"), 2, "write FIELD=COLUMN, such as answer=output.text"),
    ],
)
def test_a_map_that_is_wrong_is_refused_in_words(given, code, said, files):
    done = ragauge("score", *files, *given)
    assert (done.returncode, done.stdout) == (code, b"")
    assert said in done.stderr.decode()


def test_columns_that_nothing_reads_are_listed_once_and_in_coverage(tmp_path):
    gold = [{"qid": "q1", "question": "?", "answerable": True, "gold_citatons": ["a#1"]}]
    trace = {"qid": 1, "question": "?", "answer": "Yes.", "sources": ["a#1"], "latency": 7}
    written = tmp_path / "gold.json", tmp_path / "traces.jsonl"
    written[0].write_text(json.dumps(gold))
    written[1].write_text((json.dumps(trace | {"qid": "q1"}) + "\n") * 2)
    unread = ["latency", "sources"]
    for verb in (("score",), ("stability",), ("diagnose", "--gold")):
        files = written if len(verb) == 1 else (*reversed(written),)
        given = (files[0], *verb[1:], files[1]) if len(verb) > 1 else files
        report = report_of(verb[0], *given)
        assert report["coverage"]["unread_columns"] == ["gold_citatons", *unread], verb
        (found,) = [
            one
            for one in report["findings"]
            if one["code"] == "unread_columns" and one["where"] == str(written[1])
        ]
        hints = "latency (did you mean latency_ms?), sources (did you mean citations?)"
        assert found["message"] == f"columns not read: {hints}"
    for verb in ("audit", "score"):
        assert report_of(verb, written[1])["coverage"]["unread_columns"] == unread


def test_a_gold_set_of_an_audit_or_a_diagnosis_may_be_any_source(files):
    gold, _ = files
    trace = {"qid": "q1", "answer": "In 1798.", "citations": ["1"], "retrieved_ids": ["1"]}
    renamed = pl.DataFrame(GOLD).rename({"gold_citations": "wanted"})
    columns = {"gold.gold_citations": "wanted"}
    for source, how in ((gold, {}), (GOLD, {}), (renamed, {"columns": columns})):
        assert audit([trace], gold=source, **how).report.coverage.missing == 1
        found = diagnose_traces([trace], source, **how)
        assert found.metrics["quality.citation_hit_rate"].value == 1


def test_numbers_are_ids_wherever_ids_are_listed():
    gold = [{"qid": 7, "question": "?", "answerable": True, "gold_citations": [12]}]
    answers = [
        {"citations": [12], "answer": "Yes."},
        {"citations": [{"id": 12}], "answer": "Yes."},
        {"answer_json": {"claim": "Yes.", "citations": [12]}},
    ]
    for answer in answers:
        trace = {"qid": 7, "retrieved_ids": [3, 12], **answer}
        report = score(gold, [trace]).report
        assert report.metrics["quality.citation_hit_rate"].value == 1
        assert report.metrics["quality.in_scope"].value == 1
    chunks = {"qid": 7, "answer": "Yes.", "citations": [12], "chunks": [{"chunk_id": 12}]}
    assert score(gold, [chunks]).report.metrics["quality.in_scope"].value == 1
    assert audit([chunks]).report.metrics["traceability.marker"].value == 1


def test_traces_without_a_gold_set_have_a_first_report(files):
    _, traces = files
    report = report_of("score", traces, *MAP)
    assert report["schema"] == "ragauge.score-traces/1"
    assert report["pass"] is None
    assert report["coverage"] == {
        "traces": 2,
        "answered": 1,
        "refused": 1,
        "errors": 0,
        "with_contexts": 2,
        "with_citations": 1,
        "rejected": 0,
    }
    assert report["metrics"]["answers.date_agreement"]["value"] == 1
    text = ragauge("score", traces, *MAP).stdout.decode()
    assert "What a gold set would add" in text
    gated = ragauge("score", traces, *MAP, "--gates", "date_agreement>=0.9,errors=0")
    assert gated.returncode == 0 and gated.stdout.startswith(b"PASS")
    assert ragauge("score", traces, *MAP, "--gates", "errors>=0.5").returncode == 1


def test_latency_and_failed_calls_are_counted():
    traces = [
        {"qid": f"q{n}", "q": "?", "answer": "Yes.", "latency_ms": n * 100} for n in range(1, 5)
    ]
    report = score_traces([*traces, {"qid": "q9", "q": "?", "error": "time-out"}]).report
    assert (report.latency.n, report.latency.p50_ms) == (4, 250)
    assert (report.coverage.errors, report.metrics["quality.errors"].value) == (1, 0.2)
    # Nobody promised citations here, so their lack is no fault.
    assert report.metrics["quality.compliance"].value is None


def test_files_in_the_wrong_order_are_recognised(files):
    gold, traces = files
    traces.write_text('{"qid": "q1", "q": "When?", "answer": "1798", "retrieved_ids": ["1"]}\n')
    done = ragauge("score", traces, gold)
    assert done.returncode == 3
    assert f"the gold set is named first: ragauge score {gold} {traces}" in done.stderr.decode()
    alone = ragauge("score", gold)
    assert alone.returncode == 2 and b"is a gold set; name the traces after it" in alone.stderr
    twice = ragauge("score", gold, gold)
    assert twice.returncode == 3 and b"is a gold set, too" in twice.stderr
    kept = ragauge("score", traces, "--preset", "ship")
    assert kept.returncode == 2 and b"--preset: needs a gold set" in kept.stderr


def test_inspect_shows_what_feeds_what_and_what_is_missing(files):
    gold, traces = files
    report = report_of("inspect", gold)
    assert (report["kind"], report["form"]) == ("gold question", "JSON Lines")
    assert {one["name"]: one["feeds"] for one in report["columns"]}["answerable"] == "answerable"
    assert "quality.claim_containment" in {one["metric"] for one in report["lacking"]}
    ours = gold.with_name("ours.jsonl")
    ours.write_text(
        '{"qid": "q1", "retrieved_ids": ["a"], "answer_json": {"claim": "x", "citations": ["a"]}}\n'
    )
    assert report_of("inspect", ours)["kind"] == "trace"
    unknown = ragauge("inspect", traces)
    assert unknown.returncode == 3 and unknown.stdout.startswith(b"Not recognised")
    mapped = report_of("inspect", traces, *MAP)
    assert mapped["kind"] == "trace"
    assert "answers.groundedness" in mapped["computable"]
    needs = {one["needs"] for one in mapped["lacking"]}
    assert "a gold set: ragauge score GOLD TRACES" in needs


def test_inspect_takes_frames_and_a_kind():
    frame = pl.DataFrame({"question": ["When?"], "answer": ["1798"], "refrence": ["1798"]})
    report = inspect(frame, kind="answer")
    assert [(one.name, one.feeds, one.meant) for one in report.columns] == [
        ("question", "question", None),
        ("answer", "answer", None),
        ("refrence", None, "reference"),
    ]
    assert report.coverage.unread_columns == ("refrence",)
    assert report.finding_counts == {"unread_columns": 1}
    with pytest.raises(UsageError, match="--as answr: there is no answr; did you mean answer"):
        inspect(frame, kind="answr")


RENAMED = {
    "consistency": (
        "consistency a.jsonl b.jsonl",
        {"a.jsonl": [{"n": "q1", "says": "VALID"}], "b.jsonl": [{"n": "q1", "says": "valid"}]},
        {"qid": "n", "label": "says"},
        lambda report: report["coverage"]["both"] == 1,
    ),
    "types": (
        "eval types gold.csv said.jsonl",
        {"gold.csv": "Key,Class\ni1,M\ni2,L\n", "said.jsonl": [{"n": "i1", "is": {"now": "M"}}]},
        {"id": "n", "predicted_type": "is.now", "gold.id": "key", "gold_type": "class"},
        lambda report: report["coverage"] | {"scored": 1, "missing": 1} == report["coverage"],
    ),
    "linking": (
        "eval linking gold.jsonl said.jsonl",
        {
            "gold.jsonl": [{"n": "m1", "wiki": "Q1", "odd": 1}],
            "said.jsonl": [{"key": "m1", "best": "Q1"}],
        },
        {"id": "key", "prediction": "best", "gold.id": "n", "gold.gold": "wiki"},
        lambda report: (
            report["metrics"]["linking.hits@1"]["value"] == 1
            and report["coverage"]["unread_columns"] == ["odd"]
        ),
    ),
    "entities": (
        "eval ner gold.jsonl said.jsonl",
        {
            "gold.jsonl": [{"n": "d1", "found": [{"start": 0, "end": 4, "type": "PER"}]}],
            "said.jsonl": [{"id": "d1", "out": {"spans": [[0, 4, "PER"]]}}],
        },
        {"gold.id": "n", "gold.entities": "found", "entities": "out.spans"},
        lambda report: report["metrics"]["entities.f1_strict"]["value"] == 1,
    ),
    "retrieval": (
        "eval retrieval qrels.csv run.jsonl",
        {"qrels.csv": "question,text,good\nq1,d1,1\n", "run.jsonl": [{"q": "q1", "top": ["d1"]}]},
        {
            **{"query": "q", "results": "top", "qrels.query": "question"},
            **{"qrels.document": "text", "qrels.grade": "good"},
        },
        lambda report: report["metrics"]["retrieval.ndcg@10"]["value"] == 1,
    ),
    "lint": (
        "gold lint gold.jsonl",
        {"gold.jsonl": [{"n": "q1", "ask": "When?", "can": True}]},
        {"qid": "n", "question": "ask", "answerable": "can"},
        lambda report: report["coverage"]["gold"] == 1,
    ),
    "diff": (
        "gold diff old.jsonl new.jsonl",
        {
            "old.jsonl": [{"n": "q1", "question": "When?", "answerable": True}],
            "new.jsonl": [{"n": "q1", "question": "When?", "answerable": True}],
        },
        {"qid": "n"},
        lambda report: report["pass"],
    ),
    "convert": (
        "gold convert squad.csv gold.jsonl",
        {"squad.csv": "n,ask,can\nq1,When?,true\n"},
        {"qid": "n", "question": "ask", "answerable": "can"},
        lambda report: report["coverage"]["answerable"] == 1,
    ),
    "sample": (
        "gold sample gold.jsonl -n 1 --out drawn.jsonl",
        {"gold.jsonl": [{"n": "q1", "question": "When?", "answerable": True}]},
        {"qid": "n"},
        lambda report: report["coverage"]["gold"] == 1,
    ),
    "split": (
        "gold split gold.jsonl --into parts --shares 50/50 --names a,b",
        {"gold.jsonl": [{"n": f"q{i}", "question": "?", "answerable": True} for i in range(4)]},
        {"qid": "n"},
        lambda report: report["coverage"]["gold"] == 4,
    ),
    "agreement": (
        "gold agreement a.jsonl b.csv",
        {"a.jsonl": [{"n": "i1", "says": "x"}], "b.csv": "n,says\ni1,x\n"},
        {"id": "n", "label": "says"},
        lambda report: report["coverage"]["all"] == 1,
    ),
    "diagnose": (
        "diagnose scores.jsonl",
        {"scores.jsonl": [{"n": "a", "faithfulness": 0.1}]},
        {"sample_id": "n"},
        lambda report: report["coverage"]["samples"] == 1,
    ),
    "groundedness": (
        "calibrate groundedness rows.jsonl",
        {"rows.jsonl": [{"n": "a", "said": CONTEXT, "docs": [CONTEXT], "label": True}]},
        {"id": "n", "answer": "said", "contexts": "docs"},
        lambda report: report["coverage"]["rows"] == 1,
    ),
}


def written(folder, contents) -> None:
    for name, content in contents.items():
        lines = content if isinstance(content, str) else "\n".join(map(json.dumps, content))
        (folder / name).write_text(lines)


@pytest.mark.parametrize("case", RENAMED)
def test_every_command_that_reads_records_maps_their_columns(case, tmp_path):
    line, contents, columns, holds = RENAMED[case]
    written(tmp_path, contents)
    mapped = [part for pair in columns.items() for part in ("--map", "=".join(pair))]
    done = ragauge(*line.split(), *mapped, "--format", "json", cwd=tmp_path)
    assert done.stdout, done.stderr.decode()
    assert holds(json.loads(done.stdout)), done.stdout.decode()
    # A column that is not there is named, with those that are; so is a field, with the others.
    field = next(iter(columns))
    lost = ragauge(*line.split(), *mapped[2:], "--map", f"{field}=lost", cwd=tmp_path)
    assert lost.returncode == 3 and b'"lost"; there is ' in lost.stderr, lost.stderr.decode()
    unknown = ragauge(*line.split(), "--map", "zzz=n", cwd=tmp_path)
    assert unknown.returncode == 2
    assert b"--map zzz: there is no zzz; there are " in unknown.stderr


@pytest.mark.parametrize(
    ("line", "content", "form"),
    [
        ("eval ner a.txt a.txt --map entities=e", "EU B-ORG\nin O\n", "iob"),
        ("eval linking a.txt a.txt --map id=n", "d1\t0\t3\tQ1\t1.0\tPER\n", "neleval"),
        ("eval retrieval a.txt a.txt --map query=q", "q1 0 d1 1\n", "TREC"),
    ],
)
def test_a_form_without_columns_has_none_to_map(line, content, form, tmp_path):
    (tmp_path / "a.txt").write_text(content)
    done = ragauge(*line.split(), cwd=tmp_path)
    assert done.returncode == 2
    assert f"a.txt is read as {form}, whose fields cannot be mapped" in done.stderr.decode()


def test_a_map_of_requests_is_told_from_a_map_of_columns(tmp_path):
    written(tmp_path, {"gold.jsonl": [{"n": "q1", "question": "When?", "answerable": True}]})
    (tmp_path / "shape.json").write_text('{"request": {"q": "{question}"}}')
    sweep = "sweep gold.jsonl --demo --out runs.jsonl --dry-run --map qid=n"
    assert ragauge(*sweep.split(), cwd=tmp_path).returncode == 0
    both = ragauge(*sweep.split(), "--map", "shape.json", cwd=tmp_path)
    assert both.returncode == 2 and b"--demo stands alone" in both.stderr
    twice = ragauge(*sweep.split(), "--map", "a.json", "--map", "b.json", cwd=tmp_path)
    assert twice.returncode == 2 and b"--map b.json: a file is named already" in twice.stderr


def test_a_task_of_a_suite_maps_columns(files, tmp_path):
    columns = "".join(f'{field} = "{path}"\n' for field, path in COLUMNS.items())
    (tmp_path / "ragauge.toml").write_text(
        '[datasets.mine]\ngold = "gold.jsonl"\ntraces = "traces.jsonl"\n'
        f'[tasks.mine]\nkind = "score"\n[tasks.mine.columns]\n{columns}'
    )
    done = ragauge("run", "--store", "history", "--format", "json", cwd=tmp_path)
    assert done.stdout, done.stderr.decode()
    assert json.loads(done.stdout)["metrics"]["mine/quality.in_scope"]["value"] == 1
    (tmp_path / "ragauge.toml").write_text('[tasks.a]\nkind = "compare"\ncolumns = {qid = "n"}\n')
    wrong = ragauge("run", cwd=tmp_path)
    assert b"tasks.a.columns: a task of kind compare maps no columns" in wrong.stderr


def test_the_map_of_a_project_means_answers_unless_it_says_gold(files):
    gold, folder = files[0], files[0].parent
    (folder / "ragauge.toml").write_text('[map]\nqid = "who"\n')
    assert ragauge("gold", "lint", "gold.jsonl", cwd=folder).returncode in (0, 1)
    gold.write_text(gold.read_text().replace('"qid"', '"number"'))
    assert ragauge("gold", "lint", "gold.jsonl", cwd=folder).returncode == 3
    (folder / "ragauge.toml").write_text('[map]\nqid = "who"\n[map.gold]\nqid = "number"\n')
    assert ragauge("gold", "lint", "gold.jsonl", cwd=folder).returncode in (0, 1)


def test_entries_of_an_evaluation_of_all_tasks_may_be_mapped(tmp_path):
    entries = [json.loads(line) for line in ANNOTATED.read_text().splitlines()]
    renamed = tmp_path / "entries.jsonl"
    renamed.write_text(
        "".join(
            json.dumps({"body" if name == "text" else name: value for name, value in one.items()})
            + "\n"
            for one in entries
        )
    )
    model = ("--model", "ragauge.demo.components:MODEL", "--task", "ner")
    plain = report_of("eval", "all", ANNOTATED, *model)
    mapped = report_of("eval", "all", renamed, *model, "--map", "text=body")
    assert mapped["metrics"] == plain["metrics"]
    wrong = ragauge("eval", "all", renamed, *model, "--map", "text=bodi")
    assert wrong.returncode == 3 and b'no entry has "bodi"; there is' in wrong.stderr
