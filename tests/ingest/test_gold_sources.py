"""A gold set is the same set, whatever holds it."""

import json

import polars as pl
import pytest

from ragauge import evaluate_qa, score
from ragauge.contracts.gold import Gold, GoldSet, fingerprint
from ragauge.errors import InputRejected
from ragauge.ingest.gold import read_gold

QUESTIONS = [
    {
        "qid": 1,
        "question": "When did it open?",
        "answerable": True,
        "gold_claim_substr": ["1885", "in 1885"],
        "gold_citations": ["p1#1"],
        "strata": {"country": "NL"},
    },
    {"qid": 2, "question": "What did it cost?", "answerable": False, "gold_citations": []},
]
COMPLETE = [
    {"gold_claim_substr": None, "strata": None, **question, "qid": str(question["qid"])}
    for question in QUESTIONS
]
TABLE = (
    " QID ,Question,Answerable,gold_claim_substr,Gold Citations,strata.country\n"
    "1,When did it open?,yes,1885|in 1885,p1#1,NL\n2,What did it cost?,no,,[],\n"
)


def sources(folder):
    lines = folder / "gold.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    table = folder / "gold.csv"
    table.write_text(TABLE)
    packed = folder / "gold.parquet"
    pl.DataFrame(COMPLETE).write_parquet(packed)
    wrapped = folder / "gold.json"
    wrapped.write_text(json.dumps({"name": "museums", "questions": QUESTIONS}))
    columns = folder / "columns.json"
    columns.write_text(json.dumps({key: [q.get(key) for q in COMPLETE] for key in COMPLETE[0]}))
    frames = [pl.DataFrame(COMPLETE)]
    return [lines, table, packed, wrapped, columns, QUESTIONS, *frames]


def test_every_source_gives_the_same_questions(tmp_path):
    found = [read_gold(source) for source in sources(tmp_path)]
    assert [one.qid for one in found[0]] == ["1", "2"]
    assert all(gold == found[0] for gold in found)
    assert len({fingerprint(gold) for gold in found}) == 1


def test_score_takes_any_of_them(tmp_path):
    traces = [
        {"qid": 1, "answer": "It opened in 1885.", "citations": ["p1#1"], "retrieved_ids": ["p1#1"]}
    ]
    reports = [score(gold, traces).report for gold in sources(tmp_path)]
    assert {report.metrics["quality.citation_hit_rate"].value for report in reports} == {1.0}
    mapped = [{"n": 1, "asked": "When?", "ok": True}]
    report = score(mapped, traces, columns={"gold.qid": "n", "gold.question": "asked"} | ANSWERABLE)
    assert report.report.coverage.scored == 1


ANSWERABLE = {"gold.answerable": "ok"}
ANSWERS = {
    "texts": (["Ada", "Ada Lovelace"], ("Ada", "Ada Lovelace")),
    "with their places": ([{"text": "Ada", "answer_start": 3}], ("Ada",)),
    "in columns": ({"text": ["Ada"], "answer_start": [3]}, ("Ada",)),
    "none": ([], ()),
    "none, in columns": ({"text": [], "answer_start": []}, ()),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_phrases_and_say_whether_there_is_an_answer(name):
    answers, phrases = ANSWERS[name]
    (question,) = read_gold([{"id": "56dd", "question": "Who?", "answers": answers}])
    assert question == Gold(
        qid="56dd", question="Who?", answerable=bool(phrases), gold_claim_substr=phrases
    )


def test_what_a_question_says_of_itself_goes_before_its_answers():
    (question,) = read_gold(
        [{"qid": "a", "question": "Who?", "answerable": True, "answers": [], "context": "…"}]
    )
    assert (question.answerable, question.extra) == (True, {"context": "…"})


def test_fields_that_look_misspelt_are_reported_and_others_kept():
    gold = read_gold([{**QUESTIONS[0], "curator": "Ada", "section_id": "s"}])
    assert gold[0].extra == {"curator": "Ada", "section_id": "s"}
    assert not gold.findings
    misspelt = {key.replace("citations", "citaton"): v for key, v in QUESTIONS[0].items()}
    gold = read_gold([misspelt, QUESTIONS[1]])
    (finding,) = gold.findings
    assert finding.message == "columns not read: gold_citaton (did you mean gold_citations?)"
    report = score(gold, [{"qid": 1, "answer": "1885"}]).report
    assert finding in report.findings


def test_a_set_that_was_read_is_taken_as_it_is():
    gold = GoldSet([Gold(qid="a", question="Who?", answerable=True)])
    assert read_gold(gold) is gold


def test_questions_that_were_read_are_a_source_like_any_other():
    gold = read_gold([{**question, "curator": "Ada"} for question in QUESTIONS])
    assert read_gold(list(gold)) == gold
    answers = [{"qid": "1", "answer": "In 1885."}, {"qid": "2", "answer": "Nothing."}]
    one, other = (evaluate_qa(source, answers).report for source in (gold, QUESTIONS))
    assert one.metrics == other.metrics
    assert one.identity == other.identity


def test_a_question_needs_an_answer_or_to_say_that_there_is_none():
    with pytest.raises(InputRejected, match="gold: item 1: answerable: missing; write true"):
        read_gold([{"qid": "a", "question": "Who?"}])
