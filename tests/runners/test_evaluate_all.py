"""`evaluate_all`: a model asked about everything, and what becomes of its failures."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from ragauge.contracts.evaluation import EVAL_ALL_SCHEMA
from ragauge.contracts.system import CallFailed
from ragauge.demo import GOLD
from ragauge.demo.components import ANNOTATED, CROSSWALK, MODEL, QRELS
from ragauge.errors import InputRejected, UsageError
from ragauge.models.baselines.entities import FoundSpan
from ragauge.runners.components.evaluate_all import evaluate_all
from tests.models.judge_server import chatting
from tests.models.test_endpoint_embedder import embeddings

KEYS = [
    "ner_f1_strict",
    "ner_f1_partial",
    "type_classification_accuracy",
    "entity_linking_mrr",
    "entity_linking_hits@1",
    "retrieval_ndcg@10",
    "qa_faithfulness",
    "qa_relevance",
]


def entry(id, mention="Rijksmuseum", ids=None, letter="M", **fields):
    text = f"Het {mention} opende in 1800."
    start = text.index("1800")
    return {
        "id": id,
        "text": text,
        "ner_annotations": [
            {"text": mention, "type": "GRP.HER.MUS", "start": 4, "end": 4 + len(mention)},
            {"text": "1800", "type": "TMP", "start": start, "end": start + 4},
        ],
        "type_classification": {"primary_type": letter, "secondary_types": []},
        "entity_linking": {mention: ids or {"wikidata_id": "Q190804"}},
        "strata": {"language": "nl"},
        **fields,
    }


ENTRIES = [
    entry("e1"),
    entry("e2", "Mauritshuis", {"wikidata_id": "Q221092"}),
    entry("e3", "Louvre", {"wikidata_id": "Q19675"}, letter="G"),
    entry("e4", "Museum Nergens", {"wikidata_id": None}),
]
QUERIES = {"q1": "who painted it", "q2": "when was it painted"}
QRELS_ROWS = [
    {"query": "q1", "document": "d1", "grade": 3},
    {"query": "q1", "document": "d2", "grade": 0},
    {"query": "q2", "document": "d2", "grade": 1},
]
IDS = {"Rijksmuseum": "Q190804", "Mauritshuis": "Q221092", "Louvre": "Q19675"}


class Perfect:
    """Knows everything there is to know of the entries above."""

    def extract_entities(self, text):
        start = text.index(" opende")
        year = text.index("1800")
        return [
            {"start": 4, "end": start, "type": "GRP.HER.MUS"},
            {"start": year, "end": year + 4, "type": "TMP"},
        ]

    def classify(self, text):
        return {"label": "G" if "Louvre" in text else "M", "secondary_types": []}

    def link(self, mention, context):
        assert mention in context
        return [IDS[mention]] if mention in IDS else None

    def retrieve(self, query, k):
        return [{"id": "d1" if "who" in query else "d2", "score": 1.0}]


def everything(model, **options):
    given = {"queries": QUERIES, "qrels": QRELS_ROWS, "intervals": False} | options
    return evaluate_all(ENTRIES, model, **given).report


def values(report):
    return {key: number.value for key, number in report.summary.items()}


def test_a_perfect_model_has_every_number_but_those_of_answers():
    report = everything(Perfect())
    assert list(report.summary) == KEYS
    assert values(report) == {
        **dict.fromkeys(KEYS[:6], 1.0),
        "qa_faithfulness": None,
        "qa_relevance": None,
    }
    assert report.passed is None and report.failures == () and report.schema == EVAL_ALL_SCHEMA
    assert list(report.tasks) == ["ner", "types", "linking", "retrieval"]
    assert report.summary["qa_relevance"].reason == "the model has no method answer"
    assert report.metrics["linking.nil_f1"].value == 1.0


def test_metrics_and_gates_are_those_of_the_tasks():
    report = everything(Perfect())
    assert report.metrics == {
        id: one for task in report.tasks.values() for id, one in task.metrics.items()
    }
    assert report.gates == tuple(gate for task in report.tasks.values() for gate in task.gates)
    assert {number.metric for number in report.summary.values()} - {*report.metrics} == {
        "answers.lexical_faithfulness",
        "answers.relevance",
    }


ASKED = [
    one | {"qa_pairs": [{"question": f"When did {one['id']} open?", "answer": "In 1800."}]}
    for one in ENTRIES[:3]
]


class Answering(Perfect):
    def answer(self, question):
        contexts = [{"id": "c1", "text": "It opened in 1800."}, "It is old."]
        return {"answer": "It opened in 1800.", "contexts": contexts}


def test_answers_are_a_task_like_the_others():
    report = evaluate_all(ASKED, Answering(), intervals=False).report
    qa = report.tasks["qa"]
    assert (qa.task, qa.detail.judge) == ("qa", "lexical")
    assert report.metrics["answers.token_recall"].value == 1.0
    assert report.coverage["qa.questions"] == 3
    assert report.summary["qa_relevance"].value == report.metrics["answers.relevance"].value
    faithful = report.summary["qa_faithfulness"]
    assert (faithful.metric, faithful.n) == ("answers.lexical_faithfulness", 3)


def test_a_preset_is_not_held_against_an_embedder_that_knows_spelling_alone():
    report = evaluate_all(ASKED, Answering(), preset="heritage", intervals=False).report
    (gate,) = (gate for gate in report.gates if gate.metric == "answers.relevance")
    assert gate.verdict == "not_evaluated"
    assert "such as minilm" in gate.reason
    with chatting(lambda asked: embeddings(asked.body["input"])) as server:
        named = f"{server.at('v1')}#small"
        heard = evaluate_all(
            ASKED, Answering(), preset="heritage", embedder=named, intervals=False
        ).report
    (gate,) = (gate for gate in heard.gates if gate.metric == "answers.relevance")
    assert gate.verdict in ("pass", "fail")
    assert heard.tasks["qa"].detail.embedder == "endpoint:small:6"


@pytest.mark.parametrize("bad", [None, 7, {"contexts": []}, {"answer": "a", "contexts": [{}]}])
def test_an_answer_that_is_none_is_a_record_and_its_question_is_missing(bad):
    class Sometimes(Answering):
        def answer(self, question):
            return bad if "e1" in question else "In 1800."

    report = evaluate_all(ASKED, Sometimes(), intervals=False).report
    assert report.finding_counts["model_error"] == 1
    assert report.coverage["qa.missing"] == 1
    assert report.metrics["answers.coverage"].value == pytest.approx(2 / 3)
    assert not report.passed


def test_a_model_of_one_method_is_measured_on_that_alone():
    class Types:
        def classify(self, text):
            return "M"

    report = everything(Types())
    assert values(report) == {**dict.fromkeys(KEYS), "type_classification_accuracy": 0.75}
    assert report.summary["ner_f1_strict"].reason == "the model has no method extract_entities"
    assert report.summary["retrieval_ndcg@10"].reason == "the model has no method retrieve"
    assert report.passed is None and list(report.tasks) == ["types"]


def test_a_call_that_raises_is_a_finding_and_its_unit_counts_as_missing():
    class Sometimes(Perfect):
        def classify(self, text):
            if "Louvre" in text:
                raise ValueError("no such\nthing")
            return "M"

        def link(self, mention, context):
            if mention == "Mauritshuis":
                raise CallFailed("http_429", "Too Many Requests")
            return super().link(mention, context)

        def retrieve(self, query, k):
            if "who" in query:
                raise RuntimeError
            return super().retrieve(query, k)

    report = everything(Sometimes())
    found = {(one.where, one.message) for one in report.findings if one.code == "model_error"}
    assert found == {
        ("e3", "classify: ValueError: no such thing"),
        ("e2: Mauritshuis", "link: CallFailed: http_429: Too Many Requests"),
        ("q1", "retrieve: RuntimeError"),
    }
    assert report.finding_counts["model_error"] == 3 == report.coverage["failed_calls"]
    assert values(report)["type_classification_accuracy"] == 0.75
    assert values(report)["entity_linking_hits@1"] == pytest.approx(2 / 3)
    assert values(report)["retrieval_ndcg@10"] == 0.5
    assert report.failures == () and not report.passed, "coverage is a gate"


def test_a_task_that_crashes_altogether_is_a_failure_and_the_rest_finish():
    class Crashes(Perfect):
        def link(self, mention, context):
            raise ZeroDivisionError("division by zero")

    report = everything(Crashes())
    (failure,) = report.failures
    assert failure.task == "linking"
    assert failure.error == (
        "all 4 calls failed, the first at e1: Rijksmuseum: ZeroDivisionError: division by zero"
    )
    assert report.summary["entity_linking_mrr"].value is None
    assert report.summary["entity_linking_mrr"].reason == failure.error
    assert values(report)["ner_f1_strict"] == 1.0 == values(report)["retrieval_ndcg@10"]
    assert not report.passed and list(report.tasks) == ["ner", "types", "retrieval"]
    assert report.finding_counts["model_error"] == 4


def test_a_runner_that_crashes_is_a_failure_too(monkeypatch):
    def broken(gold, predicted, **options):
        raise KeyError("lost")

    monkeypatch.setattr("ragauge.runners.components.evaluate_all.evaluate_ner", broken)
    report = everything(Perfect())
    assert [(one.task, one.error) for one in report.failures] == [("ner", "KeyError: 'lost'")]
    assert values(report)["type_classification_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("method", "returned", "fact"),
    [
        ("extract_entities", None, "None in place of a list of entities"),
        ("extract_entities", [{"start": 0, "end": 4}], "an entity without a type"),
        ("extract_entities", [{"start": "0"}], "an entity without start and end as whole numbers"),
        (
            "extract_entities",
            [{"start": 3, "end": 3, "type": "TOP"}],
            "an entity at 3–3 of a text of 31 characters",
        ),
        ("classify", None, "None in place of a label"),
        ("classify", {"label": 3}, "dict in place of a label"),
        ("link", "Q1", "str in place of a list of candidates"),
        ("link", [{"score": 1}], "a candidate without an id"),
        ("link", [{"id": "Q1", "score": float("nan")}], "a score that is no finite number"),
        (
            "link",
            [{"ids": {"wikidata": "RM"}}],
            'the id "RM", which is no Wikidata id, such as Q190804',
        ),
        ("retrieve", [{"score": 1}], "a document without an id"),
        ("retrieve", 3, "int in place of a list of documents"),
    ],
)
def test_what_the_protocol_does_not_have_is_an_error_of_that_call(method, returned, fact):
    class Odd(Perfect):
        first = True

    def once(self, *arguments):
        if self.first:
            self.first = False
            return returned
        return getattr(Perfect, method)(self, *arguments)

    setattr(Odd, method, once)
    report = everything(Odd())
    (finding,) = (one for one in report.findings if one.code == "model_error")
    assert finding.message == f"{method}: returned {fact}"
    assert report.failures == () and report.coverage["failed_calls"] == 1


def test_more_documents_than_were_asked_for_are_left_out_and_told():
    class Generous(Perfect):
        def retrieve(self, query, k):
            return [*(f"x{number}" for number in range(480)), *super().retrieve(query, k)]

    report = everything(Generous(), k=20)
    assert report.finding_counts["more_than_k"] == len(QUERIES)
    assert report.tasks["retrieval"].coverage["rows"] == 20 * len(QUERIES)
    assert report.metrics["retrieval.rr"].value == 0


class Hit:
    def __init__(self, id, source):
        self.id, self.source = id, source


def ranked(returned, k=20):
    """What is kept of a model's documents for one query, and the report on them."""
    model = type("Retriever", (), {"retrieve": lambda self, query, k: returned})()
    given = {"queries": QUERIES, "qrels": QRELS_ROWS, "intervals": False, "k": k}
    outcome = evaluate_all(ENTRIES, model, **given)
    kept = dict(outcome.answers())["retrieval/q1"].trace.retrieved_ids
    return kept, outcome.report


def test_scores_say_which_documents_are_the_first_k_and_one_twice_is_one():
    scores = {"a": 1.0, "b": 3.0, "c": 1.0, "d": 2.0}
    kept, _ = ranked([{"id": id, "score": score} for id, score in scores.items()], k=3)
    assert kept == ("b", "d", "c")
    twice = [{"id": id} for id in "abac"]
    kept, report = ranked(twice, k=3)
    assert kept == ("a", "b", "c") and "more_than_k" not in report.finding_counts
    kept, report = ranked(twice, k=2)
    assert kept == ("a", "b") and report.finding_counts["more_than_k"] == len(QUERIES)


def test_a_document_names_one_source_or_several_or_none():
    given = {"a": "bm25", "b": ["y", "x", "y"], "c": ("x",), "d": {"y", "x"}, "e": None, "f": ""}
    for made in (Hit, lambda *hit: dict(zip(("id", "source"), hit, strict=True))):
        _, report = ranked([made(id, source) for id, source in given.items()])
        assert {*report.tasks["retrieval"].detail.sources} == {"bm25", "x", "y", "(none)"}
    _, report = ranked([{"id": "a", "source": []}])
    assert report.tasks["retrieval"].detail.sources == {}


def test_objects_and_numpy_numbers_will_do_as_well():
    class Objects(Perfect):
        def extract_entities(self, text):
            return tuple(
                FoundSpan(np.int64(one["start"]), np.int64(one["end"]), one["type"])
                for one in super().extract_entities(text)
            )

        def link(self, mention, context):
            ids = super().link(mention, context) or []
            return [{"ids": {"wikidata": id}, "score": np.float32(0.5)} for id in ids]

        def retrieve(self, query, k):
            return ["d1" if "who" in query else "d2", {"id": "d9", "score": 2.0}]

    report = everything(Objects())
    assert all(report.summary[key].value == 1.0 for key in KEYS[:6])
    json.dumps(msgspec.to_builtins(report), allow_nan=False)


def test_tasks_that_were_not_asked_for_are_left_out():
    report = everything(Perfect(), tasks=("types",))
    assert list(report.tasks) == ["types"] and report.passed is None
    assert report.summary["ner_f1_strict"].reason == "it was not asked for"


def test_gold_without_a_part_says_so():
    bare = [{name: one[name] for name in ("id", "text", "ner_annotations")} for one in ENTRIES]
    report = evaluate_all(bare, Perfect(), intervals=False).report
    assert report.summary["entity_linking_mrr"].reason == "no entry has entity_linking"
    assert report.summary["retrieval_ndcg@10"].reason == "no judgements and queries were given"
    assert list(report.tasks) == ["ner"]


def test_an_entry_without_entities_is_a_document_all_the_same():
    empty = entry("e5", ner_annotations=[])
    report = evaluate_all([*ENTRIES, empty], Perfect(), tasks=("ner",), intervals=False).report
    assert report.metrics["entities.strict.fp"].value == 2


def test_judgements_without_queries_are_refused():
    with pytest.raises(UsageError, match="give --queries too"):
        everything(Perfect(), queries=None)


def test_a_model_that_exits_is_an_error_of_that_call():
    class Exits(Perfect):
        def classify(self, text):
            if "Louvre" in text:
                raise SystemExit(0)
            return "M"

    report = everything(Exits())
    assert report.finding_counts["model_error"] == 1
    assert not report.passed


def test_what_a_model_prints_is_no_part_of_the_report(capsys):
    class Talks(Perfect):
        def classify(self, text):
            print("debug", text)  # noqa: T201 (that is what is tested)
            return "M"

    everything(Talks())
    said = capsys.readouterr()
    assert said.out == ""
    assert "debug" in said.err


def test_a_judged_query_that_nobody_can_ask_counts_as_empty():
    report = everything(Perfect(), queries={"q1": "who painted it"})
    assert report.finding_counts["unknown_query"] == 1
    assert values(report)["retrieval_ndcg@10"] == 0.5


def test_bad_judgements_are_retrievals_failure_alone():
    bad = [{"query": "q1", "document": "d1", "grade": "high"}]
    report = everything(Perfect(), qrels=bad)
    (failure,) = report.failures
    assert failure.task == "retrieval" and "grade" in failure.error
    assert values(report)["ner_f1_strict"] == 1.0


def test_documents_are_indexed_before_the_first_query():
    class Indexing(Perfect):
        documents = None

        def index(self, documents):
            self.documents = documents

        def retrieve(self, query, k):
            assert self.documents == {"d1": "x", "d2": "y"}
            return super().retrieve(query, k)

    report = everything(Indexing(), documents={"d1": "x", "d2": "y"})
    assert values(report)["retrieval_ndcg@10"] == 1.0


def test_an_index_that_fails_is_retrievals_failure():
    class Indexing(Perfect):
        def index(self, documents):
            raise MemoryError("too many")

    report = everything(Indexing(), documents={"d1": "x"})
    assert [(one.task, one.error) for one in report.failures] == [
        ("retrieval", "MemoryError: too many")
    ]


def test_gates_go_to_their_tasks():
    rules = "labels.accuracy>=0.9, entities.f1_strict>=0.5, retrieval.p(rel=1)@5>=0.9?"
    report = everything(Perfect(), gates=rules)
    named = [gate.rule for gate in report.tasks["types"].gates]
    assert "labels.accuracy>=0.9" in named
    assert not any(rule.startswith(("entities", "retrieval")) for rule in named)
    assert not report.passed, "one document of five is not nine tenths"
    with pytest.raises(UsageError, match="nonsense"):
        everything(Perfect(), gates="nonsense>=1")


def test_wrong_options_are_refused_before_the_model_is_asked():
    class Never:
        def classify(self, text):
            pytest.fail("was asked")

    for options, fact in [
        ({"preset": "none"}, "no preset"),
        ({"tasks": ("cooking",)}, "eval all"),
        ({"by": ("colour",)}, "--by colour: no such stratum; there are language"),
    ]:
        with pytest.raises(UsageError, match=fact):
            everything(Never(), **options)


def test_a_stratum_is_shown_where_units_have_it():
    report = everything(Perfect(), by=("language",))
    assert list(report.tasks["ner"].per_stratum) == ["language"]
    assert report.failures == ()


def test_models_by_name(tmp_path, monkeypatch):
    (tmp_path / "ownmodel.py").write_text(
        "class Types:\n"
        "    def classify(self, text):\n"
        "        return 'M'\n"
        "types = Types()\n"
        "nothing = 3\n"
        "class Broken:\n"
        "    def __init__(self):\n"
        "        raise OSError('no weights')\n"
        "    def classify(self, text): ...\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("ownmodel:types", "ownmodel:Types"):
        report = everything(name)
        assert report.model == name
        assert values(report)["type_classification_accuracy"] == 0.75
    for name, fact in [
        ("ownmodel", "write module:object"),
        ("ownmodel:typos", 'did you mean "types"'),
        ("nosuchmodule:x", "there is no module nosuchmodule; go where it is"),
        ("ownmodel:nothing", "has none of the methods extract_entities"),
        ("ownmodel:Broken", "making one failed: OSError: no weights"),
    ]:
        with pytest.raises(UsageError, match=fact):
            everything(name)


def test_bad_entries_are_all_named(tmp_path):
    file = tmp_path / "gold.jsonl"
    lines = [ENTRIES[0], ENTRIES[0], {"id": "x", "qa_pairs": 3}, {"qid": "a"}]
    file.write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(InputRejected) as refused:
        evaluate_all(str(file), Perfect())
    assert [problem.removeprefix(str(file)) for problem in refused.value.problems] == [
        f':2: id: "e1" is at {file}:1 already; keep one',
        ":3: text: missing",
        ":3: qa_pairs: expected a list of objects, got a number",
        ":4: record: expected a heritage entry, got an object",
    ]
    report = evaluate_all(file, Perfect(), max_bad="9", intervals=False).report
    assert report.finding_counts["bad_record"] == 4 and report.coverage["entries"] == 1
    with pytest.raises(InputRejected, match="no heritage entry"):
        evaluate_all([], Perfect())


def test_progress_counts_every_call():
    steps = []
    everything(Perfect(), progress=lambda done, of: steps.append((done, of)))
    assert steps == [(done, 14) for done in range(1, 15)]


def test_units_of_all_tasks_stand_in_one_table():
    units = evaluate_all(
        ENTRIES, Perfect(), queries=QUERIES, qrels=QRELS_ROWS, intervals=False
    ).units
    assert len(units.ids) == len({*units.ids}) == len(units.right) == len(units.labels)
    assert set(units.details["task"]) == {"ner", "types", "linking", "retrieval"}
    accuracy = units.measured["labels.accuracy"]
    scored = [id for id, value in zip(units.ids, accuracy.values, strict=True) if value == value]
    assert scored == ["types/e1", "types/e2", "types/e3", "types/e4"]
    assert all(len(one.values) == len(units.ids) for one in units.measured.values())


@pytest.fixture(scope="module")
def bundled():
    return evaluate_all(
        ANNOTATED,
        MODEL,
        queries=GOLD,
        qrels=QRELS,
        crosswalk=str(CROSSWALK),
        labels="heritage",
        preset="heritage",
        intervals=False,
    )


def test_the_bundled_baselines_are_good_and_not_perfect(bundled):
    report = bundled.report
    assert report.failures == () and "model_error" not in report.finding_counts
    assert list(report.summary) == KEYS
    for key in KEYS[:6]:
        assert 0.6 < report.summary[key].value < 0.97, key
    assert not report.passed, "the targets are for models, not for baselines"
    assert report.metrics["linking.nil_f1"].value < 1
    assert report.metrics["linking.consistency"].n > 0


def test_the_bundled_pipeline_answers_and_refuses(bundled):
    report = bundled.report
    faithfulness, relevance = (report.summary[key] for key in KEYS[6:])
    assert faithfulness.value > 0.8, "it quotes what it was shown"
    assert 0 < faithfulness.n < relevance.n == 35, "a refusal claims nothing"
    assert 0 < report.metrics["answers.containment"].value < 0.97
    made = MODEL.answer("When did the Louvre open to the public?")
    assert "1793" in made["answer"]
    assert any("1793" in one["text"] and one["id"] for one in made["contexts"])


def test_the_bundled_retrievers_share_documents_and_it_shows(bundled):
    detail = bundled.report.tasks["retrieval"].detail
    assert len(detail.sources) == 2
    (shared,) = detail.overlap.values()
    assert shared > 0
    both = {one.relevant - one.unique_relevant for one in detail.sources.values()}
    assert len(both) == 1 and both.pop() > 0, "what is not one's own is shared by the two"
    assert sum(one.share for one in detail.sources.values()) > 1
    assert "duplicate_document" not in bundled.report.finding_counts


def test_the_same_input_gives_the_same_bytes(bundled):
    again = evaluate_all(
        str(ANNOTATED),
        "ragauge.demo.components:BundledBaselines",
        queries=str(GOLD),
        qrels=str(QRELS),
        crosswalk=str(CROSSWALK),
        labels="heritage",
        preset="heritage",
        intervals=False,
    ).report
    assert again.model == bundled.report.model
    encode = msgspec.json.Encoder(order="sorted").encode
    assert encode(again) == encode(bundled.report)
