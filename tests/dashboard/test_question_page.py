"""The question page: what was asked, what came of it, and the way from citations to texts."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from ragauge import audit, evaluate_answers, open_history, record
from ragauge.contracts.gold import Gold
from ragauge.contracts.history import Run, UnitRow
from ragauge.contracts.kept import ANSWERS, KeptAnswer
from ragauge.contracts.kept import DOCUMENTS as KEPT_DOCUMENTS
from ragauge.contracts.paging import UnitQuery
from ragauge.contracts.trace import StructuredAnswer, Trace
from ragauge.contracts.trace_eval import TracedQuestion, TracedRun
from ragauge.dashboard.material import Material, Missing
from ragauge.dashboard.page import DocumentPlace, Links, Page
from ragauge.dashboard.pages import document, question
from ragauge.dashboard.pages.question import NOT_KEPT, errors, values
from ragauge.dashboard.pages.question_answer import (
    CUT,
    MOST_CARDS,
    OTHERWISE,
    compared,
    grouped,
    links_of,
    plain,
    side_by_side,
    traced_outcomes,
)
from ragauge.dashboard.pages.question_trace import LONGEST_TEXT, Answer
from ragauge.dashboard.parts import marked
from ragauge.dashboard.query import BadAddress, Query
from ragauge.dashboard.unit_list import (
    CONTAINMENT,
    DOUBT,
    STRICT,
    QuestionLinks,
    correct_means,
    doubt,
)
from ragauge.dashboard.unit_list import outcome as outcome_of
from ragauge.errors import RagaugeError
from ragauge.grounding import groundedness
from ragauge.ingest.calibration import AnswerCalibration
from ragauge.metrics.facts import Reader, Reading
from ragauge.reports import document as doc
from ragauge.reports.kinds.trace_eval import OUTCOMES, outcome
from ragauge.reports.phrasing import value as written_value
from ragauge.store import packed
from ragauge.text.visible import readable
from tests.chromium import NARROW, WIDE, photographed
from tests.dashboard.cited_history import (
    DOCUMENTS,
    CitedHistory,
    gold,
    hostile,
    payload,
    rev_of,
    trace,
)
from tests.dashboard.page_parts import Parts
from tests.dashboard.served import serving
from tests.dashboard.test_document_page import Marks, spelled
from tests.reports.trace_eval.made import report as report_of


@pytest.fixture(scope="module")
def material(demo) -> Iterator[Material]:
    """The demo's history, read as pages read it."""
    with closing(open_history(demo.place)) as history:
        made = Material(history, "here")
        yield made
        made.jobs.close()


def page_of(material: Material, run: Run, unit: str, **fields: object) -> Page:
    given = [("unit", unit), *((key, str(value)) for key, value in fields.items())]
    links = Links(f"/runs/{run.id}/question", given)
    return question.page(material, links, Query(given, {"run": run.id}))


class Places(HTMLParser):
    """The ids of a page, where its links lead, and what stands at a place."""

    def __init__(self, page: Page | str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[dict[str, str | None]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(str(page.body if isinstance(page, Page) else page))
        self.close()

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag == "a":
            self.links.append(given)
        if given.get("id"):
            self.ids.append(given["id"])
            self.texts[given["id"]] = ""
        self._open.append((tag, given.get("id")))

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        while self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, id in self._open:
            if id:
                self.texts[id] += data


def units_of(material: Material, run: Run, most: int = 25) -> list[str]:
    return [row.unit for row in material.pages.units(run, UnitQuery(limit=most)).rows]


@pytest.mark.parametrize("kind", ["a", "c", "stability", "audit", "eval qa", "eval all"])
def test_every_link_of_a_page_leads_somewhere(material, demo, kind):
    run = demo.runs[kind]
    for unit in units_of(material, run):
        places = Places(page_of(material, run, unit))
        assert len(places.ids) == len(set(places.ids))
        inside = [one["href"][1:] for one in places.links if one["href"].startswith("#")]
        assert set(inside) <= set(places.ids)


def test_from_citation_to_chunk_to_the_very_words_of_the_document(material, demo):
    run, followed = demo.runs["audit"], 0
    for unit in units_of(material, run, 40):
        answer = (material.answers(run, unit) or [])[-1]
        page = page_of(material, run, unit)
        places, text = Places(page), Parts(page.body).text
        for place, chunk in enumerate(answer.trace.retrieved or (), 1):
            shown = places.texts[f"chunk-{place}"]
            assert chunk["snippet_id"] in text
            assert chunk["text"] in shown
        for link in places.links:
            parts = urlsplit(link["href"])
            fields = dict(parse_qsl(parts.query))
            if not parts.path.endswith("/document") or "end" not in fields:
                continue
            body = document.page(material, Links(), Query([*fields.items()], {"run": run.id})).body
            kept = material.document(run, fields["doc"], fields["rev"])
            if kept is None:  # retrieved, but neither cited nor gold
                assert "The document is not kept" in body
                continue
            stands = kept.text[int(fields["start"]) : int(fields["end"])]
            if int(fields["end"]) <= len(kept.text):
                assert Marks(body).cited == spelled(stands)
                followed += 1
    assert followed > 50


def test_the_values_are_those_of_the_record(material, demo):
    for kind in ("a", "stability", "audit", "eval qa"):
        run = demo.runs[kind]
        for unit in units_of(material, run, 10):
            row = material.pages.unit(run, unit)
            page = page_of(material, run, unit)
            told = json.loads(page.wanted("values.json")[0])
            assert {one["metric"]: one["value"] for one in told if one["value"] is not None} == {
                id: value for id, value in row.values.items() if id in run.record.metrics
            }
            assert {one["metric"] for one in told} <= set(run.record.metrics)
            assert all(one["reason"] for one in told if one["value"] is None)
            assert outcome_of(row)[0] in Parts(page.body).text


def test_the_chunks_are_those_of_the_trace(material, demo):
    run = demo.runs["c"]
    for unit in units_of(material, run, 10):
        given = material.answers(run, unit)[-1].trace.retrieved or ()
        rows = csv.DictReader(
            io.StringIO(page_of(material, run, unit).wanted("chunks.csv")[0].decode())
        )
        found = [(row["id"], row["k_final"], float(row["score_raw"])) for row in rows]
        wanted = sorted(given, key=lambda one: one["k_final"])
        assert [(id, rank) for id, rank, _ in found] == [
            (one["snippet_id"], str(one["k_final"])) for one in wanted
        ]
        assert [score for *_, score in found] == pytest.approx(
            [one["score_raw"] for one in wanted], rel=1e-5
        )


def test_the_neighbours_are_those_of_the_list(material, demo):
    run = demo.runs["c"]
    wrong = material.pages.units(run, UnitQuery(right="wrong", sort="unit", limit=200)).rows
    units = [row.unit for row in wrong]
    assert len(units) > 3
    for place, unit in enumerate(units):
        page = page_of(material, run, unit, right="wrong", sort="unit")
        rel = {one.get("rel"): one["href"] for one in Places(page).links if one.get("rel")}
        ways = {name: dict(parse_qsl(urlsplit(href).query)) for name, href in rel.items()}
        expected = {}
        if place:
            expected["prev"] = {"unit": units[place - 1], "right": "wrong", "sort": "unit"}
        if place + 1 < len(units):
            expected["next"] = {"unit": units[place + 1], "right": "wrong", "sort": "unit"}
        assert {name: ways[name] for name in ("prev", "next") if name in ways} == expected


def test_all_runs_of_a_sweep_stand_side_by_side(material, demo):
    run = demo.runs["stability"]
    row = next(
        row
        for row in material.pages.units(run, UnitQuery(label="flaky")).rows
        if row.detail["explained_by"]
    )
    answers = material.answers(run, row.unit)
    page = page_of(material, run, row.unit)
    cells = Counter(one.cell for one in answers)
    assert sum(cells.values()) == len(row.detail["cells"].replace("=", "").replace(".", ""))
    assert row.detail["explained_by"] in Parts(page.body).text
    told = json.loads(page.wanted("runs.json")[0])
    assert [one["run_id"] for one in told] == [one.trace.run_id for one in answers]
    assert Counter(one["outcome"] for one in told).most_common(1)[0][1] == max(cells.values())
    chosen = answers[-1].trace.run_id
    whole = Parts(page_of(material, run, row.unit, run_id=chosen).body).text
    assert f"run {chosen}, one of {len(answers)}" in whole


def beside(run: Run, answers: list[KeptAnswer], asked: Gold | None = None) -> list[doc.Block]:
    """The blocks that show these answers side by side: a summary, cards, notes and the data."""
    groups = grouped([Answer(one, Reader(Reading()), asked) for one in answers])
    return side_by_side(groups, QuestionLinks(run, "q", Links(), {}), None, "All").blocks


def marked_in(words: doc.Inline) -> list[tuple[str, bool]]:
    return [(span.text, span.marked) for span in doc.spans(words)]


def test_alike_answers_share_a_card_the_commonest_first(demo):
    def kept(cell: str, claim: str, cited: str, seed: int) -> KeptAnswer:
        said = StructuredAnswer(claim=claim, citations=(cited,))
        return KeptAnswer(cell=cell, trace=Trace(qid="q", answer_json=said, seed=seed))

    answers = [
        kept("c", "It opened in 1900.", "p2", 0),
        kept("+", "It opened in 1885.", "p1", 1),
        kept("+", "It opened in 1885.", "p1", 2),
        kept("+", "Opened: 1885.", "p1", 3),
    ]
    asked = Gold(qid="q", question="?", answerable=True)
    _, cards, _, data = beside(demo.runs["a"], answers, asked)
    facts = [dict(card.facts) for card in cards.cards]
    runs = [doc.plain(one["runs"]) for one in facts]
    assert runs == ["seed 1; seed 2", "seed 3", "seed 0"]
    assert marked_in(facts[0]["answer"]) == [("It opened in 1885.", False)]
    assert marked_in(facts[2]["answer"]) == [("It opened in ", False), ("1900", True), (".", False)]
    assert marked_in(facts[2]["cites"]) == [("p2", True)]
    assert doc.plain(facts[2]["does not cite"]) == "p1"
    assert [row[1] for row in data.rows()] == ["seed 0", "seed 1", "seed 2", "seed 3"]


def test_more_than_fifty_cards_go_into_the_download(demo):
    answers = [KeptAnswer(trace=Trace(qid="q", answer=f"It is {n}.", seed=n)) for n in range(700)]
    _, cards, notes, data = beside(demo.runs["a"], answers)
    assert len(cards.cards) == MOST_CARDS
    assert doc.plain(notes.text).startswith("650 other answers only in the download")
    assert len(data.rows()) == 700


def test_many_long_answers_are_not_compared_without_end(demo):
    claims = [" ".join(f"word{n * k % 97}" for k in range(300)) for n in range(1, 60)]
    answers = [KeptAnswer(trace=Trace(qid="q", answer=claim)) for claim in claims]
    _, cards, notes, _ = beside(demo.runs["a"], answers)
    said = [marked_in(dict(card.facts)["answer"]) for card in cards.cards]
    assert "too long to compare" in doc.plain(notes.text)
    assert any(differs for _, differs in said[1])
    assert [differs for _, differs in said[-1]] == [False]


def test_an_answer_that_is_not_there_is_said_to_be_missing(material, demo):
    run = demo.runs["stability"]
    unit = units_of(material, run, 1)[0]
    with pytest.raises(Missing, match="no answer of the run"):
        page_of(material, run, unit, run_id="nobody")
    with pytest.raises(BadAddress, match="no number 999"):
        page_of(material, run, unit, answer=999)
    with pytest.raises(Missing, match="has no unit"):
        page_of(material, run, "nothing")


def test_the_question_over_runs_with_the_same_gold(material, demo):
    run, unit = demo.runs["c"], "h001"
    over = material.pages.over_runs(unit, run, 20)
    page = page_of(material, run, unit)
    told = json.loads(page.wanted("history.json")[0])
    assert [(one["run"], one["outcome"]) for one in told] == [
        (one.run.id, outcome_of(one.row)[0]) for one in over
    ]
    assert len(over) > 4


def test_another_run_is_shown_beside(material, demo):
    run, other, unit = demo.runs["a"], demo.runs["c"], "h001"
    ours, theirs = (material.answers(one, unit)[-1].trace for one in (run, other))
    places = Places(page_of(material, run, unit, **{"with": other.id}))
    text = Parts(page_of(material, run, unit, **{"with": other.id}).body).text
    assert ours.answer_json.claim in text
    assert f"Answer in another run nightly {other.shown}" in text
    assert theirs.answer_json.claim in text
    assert "other-chunk-1" in places.ids
    with pytest.raises(Missing):
        page_of(material, run, unit, **{"with": "0000nothing"})


def test_units_of_components_show_their_errors(material, demo):
    run = demo.runs["eval all"]
    report = material.report(run)
    entity = report.tasks["ner"].detail.errors[0]
    text = Parts(page_of(material, run, f"ner/{entity.document}").body).text
    assert entity.kind.replace("_", " ") in text
    link = report.tasks["linking"].detail.errors[0]
    text = Parts(page_of(material, run, f"linking/{link.key.rpartition(':')[0]}").body).text
    assert link.mention in text
    confusion = report.tasks["types"].detail.confusions[0]
    text = Parts(page_of(material, run, f"types/{confusion.examples[0]}").body).text
    assert f"Predicted label: {confusion.predicted}; gold label: {confusion.gold}" in text


@pytest.fixture(scope="module")
def cited(tmp_path_factory: pytest.TempPathFactory) -> CitedHistory:
    return CitedHistory(tmp_path_factory.mktemp("questions"))


def opened(history: CitedHistory) -> Material:
    return Material(open_history(history.place), "here")


def closed(material: Material) -> None:
    material.jobs.close()
    material.history.close()


ODD = [
    {"answer": "It opened in 1885 [1], not [2] or [9]. [p9]\nSources: [plain#9, p9]"},
    {"answer": "It opened in 1885."},
    {"answer": ""},
    {"answer": "not in context", "citations": []},
    {"status": "error", "error": "timeout <b>"},
    {"answer": '{"claim": "It opened in 1885.", "citations": ["plain#9"]}'},
    {"answer": "In 1885.", "retrieved": []},
    {
        "answer": "In 1885.",
        "retrieved": [{"id": "a", "text": 5}, {"id": "a", "text": [], "": None}],
    },
    {"answer": "In 1885.", "retrieved_ids": ["a", "b", "a"]},
    {
        "answer": "In 1885.",
        "retrieved": [
            {"id": "a", "score": "high", "k_pos": "first", "k_final": -1, "offsets": [9, 3]},
            {
                "id": "b",
                "score": 1e308,
                "score_raw": [[1], [2]],
                "offsets": {"start": -4, "end": 2},
            },
            {"id": "c", "score": True, "offsets": {"start": 1, "end": 2, "unit": "token"}},
            {"id": "d", "score": None, "content": "It opened in 1885.", "doc_id": 3, "rev": []},
        ],
    },
    {
        "answer": "In 1885.",
        "segments": [{}, {"text": 4, "citations": "x"}, {"citations": [1, None]}],
    },
    {"answer": "In 1885.", "cited": [{}, {"quote": 4}, {"id": "a", "offsets": "x"}]},
    {"answer": "In 1885.", "latency_ms": 1e12, "temperature": 0.1, "seed": -1, "ts": "never"},
]


def test_odd_traces_never_break_the_page(cited):
    traces = [{"qid": f"q{n}", "q": "?", **one} for n, one in enumerate(ODD)]
    run = cited.scored(traces, [gold(one["qid"], question=f"Q {one['qid']}") for one in traces])
    material = opened(cited)
    texts = [Parts(page_of(material, run, one["qid"]).body).text for one in traces]
    closed(material)
    assert "The trace does not say what was retrieved." in texts[1]
    assert "Failed: the answer is empty" in texts[2]
    assert "Refused" in texts[3]
    assert "Failed: timeout <b>" in texts[4]
    assert "The reply as it was sent" in texts[5]
    assert "Nothing was retrieved." in texts[6]
    assert "It has no text." in texts[8]
    assert "The chunks have no text" in texts[8]
    assert "supported" in texts[9]


def test_markers_in_the_text_lead_to_their_chunks(cited):
    chunks = [payload("plain", 9, 24), payload("plain", 26, 46)]
    answer = "It opened in 1885 [1]. Cuypers designed it [plain#26]. More [7].\nSources: [plain#9]"
    run = cited.scored([trace("q", chunks, answer)], [gold("q")])
    material = opened(cited)
    body = str(page_of(material, run, "q").body)
    closed(material)
    linked = re.findall(r'<a class="chip" href="#(chunk-\d)">([^<]*)</a>', body)
    assert linked == [("chunk-1", "[1]"), ("chunk-2", "[plain#26]"), ("chunk-1", "plain#9")]
    assert '<mark class="good">1885</mark>' in body
    assert "by words, numbers and names, not by a judge" in Parts(body).text


def test_each_sentence_leads_to_the_words_that_support_it(cited):
    chunks = [payload("plain", 9, 24), payload("plain", 26, 46)]
    run = cited.scored([trace("q", chunks, "Opened in 1885. Cuypers designed it.")], [gold("q")])
    material = opened(cited)
    places = Places(page_of(material, run, "q"))
    closed(material)
    claims = [one["href"][1:] for one in places.links if "#evidence" in one["href"]]
    assert [places.texts[one] for one in claims] == ["Opened in 1885.", "Cuypers designed it."]


def test_a_run_without_texts_says_what_it_keeps(cited):
    one = trace("q", [payload("plain", 9, 24)])
    run, keeping = (cited.scored([one], [gold("q")], keep=keep) for keep in (False, True))
    material = opened(cited)
    text = Parts(page_of(material, run, "q").body).text
    whole = Parts(page_of(material, keeping, "q").body).text
    row = material.pages.unit(run, "q")
    closed(material)
    assert "answers, chunks and documents are not here" in text
    assert "quality.precision_cited" in text
    assert str(row.detail.get("claim", "")) in text
    assert "are not here" not in whole


def test_answer_and_reference_are_marked_where_they_differ(cited):
    chunks = [payload("plain", 9, 24), payload("plain", 26, 46)]
    usage = {"prompt_tokens": 900, "completion_tokens": 20, "cost": 0.0125}
    answer = "It opened in 1885 in Utrecht [1]."
    one = trace("q", chunks, answer, citations=[], latency_ms=1812.4, usage=usage)
    run = cited.scored([one], [gold("q", gold_answer="It opened in 1885 in Amsterdam.")])
    material = opened(cited)
    page = page_of(material, run, "q")
    closed(material)
    body, text = str(page.body), Parts(page.body).text
    marked_words = re.findall(r'<mark class="differs">([^<]*)</mark>', body)
    assert marked_words == ["Utrecht", "Amsterdam"]
    assert '<mark class="good">1885</mark>' in body
    for fact in ("latency1,812 ms", "tokens920", "cost0.0125"):
        assert fact in text
    opened_chunks = re.findall(r'<details class="question[^"]*"( open)?>', body)
    assert opened_chunks == [" open", ""]  # the cited one, which is also gold, and the other
    assert "None" not in text


SHIFTED = {"start": 11, "end": 26, "unit": "char"}


def shifted(qid: str) -> dict[str, object]:
    """An answer whose segment cites two characters beside the span of its chunk."""
    chunk = payload("plain", 9, 24)
    citation = {"snippet_id": chunk["snippet_id"], "offsets": SHIFTED, "quote": "1885."}
    return trace(qid, [chunk], segments=[{"text": "It opened.", "citations": [citation]}])


def test_a_citation_leads_to_the_span_it_gives_itself(cited):
    run = cited.audited([shifted("q")], [gold("q")])
    material = opened(cited)
    answer = material.answers(run, "q")[-1]
    page = page_of(material, run, "q")
    closed(material)
    assert "mismatch_offsets" in [one.code for one in answer.findings]
    ways = [dict(parse_qsl(urlsplit(one["href"]).query)) for one in Places(page).links]
    spans = Counter((one["start"], one["end"]) for one in ways if "doc" in one)
    # The chunk keeps its own.
    assert spans == {("11", "26"): 1, ("9", "24"): 1}
    assert "cites characters 11–26, the chunk has 9–24" in Parts(page.body).text


def test_an_answer_that_cites_the_gold_and_says_another_thing_is_doubted(cited):
    chunk = payload("plain", 9, 24)
    traces = [trace("said", [chunk]), trace("unsaid", [chunk], "It was built by otters.")]
    run = cited.scored(traces, [gold("said"), gold("unsaid", question="Who built it?")])
    material = opened(cited)
    said, unsaid = (page_of(material, run, unit) for unit in ("said", "unsaid"))
    row = material.pages.unit(run, "unsaid")
    closed(material)
    assert (row.right, row.values["quality.claim_containment"]) == (True, 0)
    assert DOUBT in Parts(unsaid.body).text
    assert DOUBT not in Parts(said.body).text
    assert "v-pass" not in str(unsaid.body)
    for page in (said, unsaid):
        assert f"correct means: {correct_means('score')}" in Parts(page.body).text


@pytest.mark.parametrize("right", [True, False, None])
@pytest.mark.parametrize(
    ("values", "doubted"),
    [
        ({}, False),
        ({CONTAINMENT: 0.0, STRICT: 0.0}, True),
        ({CONTAINMENT: 1.0, STRICT: 0.0}, False),  # it says the phrase, and cites out of scope
        ({STRICT: 0.0}, True),
        ({STRICT: 1.0}, False),
    ],
)
def test_only_what_counts_as_right_is_doubted(right, values, doubted):
    row = UnitRow(unit="q", label="OK", right=right, detail={}, values=values, counts={})
    assert bool(doubt(row)) == (doubted and right is True)


def test_every_command_says_what_right_means(demo):
    commands = {run.record.command for run in demo.runs.values()}
    assert len(commands) > 3
    assert all(correct_means(command) != correct_means("") for command in commands)


def traced(run_id: str, kind: str, code: str = "ok", matched: bool | None = None) -> TracedRun:
    return TracedRun(run_id=run_id, kind=kind, code=code, cited=(), matched=matched, coverage=None)


def test_the_runs_of_a_trace_evaluation_are_grouped_by_what_they_came_to():
    runs = {
        "a": traced("a", "answer", matched=True),
        "b": traced("b", "answer", matched=False),
        "c": traced("c", "refusal"),
        "d": traced("d", "error", "error_record"),
        "e": traced("e", "uncited"),
        "f": traced("f", "answer", "not_retrieved"),
        "g": traced("g", "answer", matched=True),
    }
    one = TracedQuestion(
        qid="q",
        question="?",
        answerable=True,
        retrieval="convergent",
        answer="chaotic",
        broken=None,
        matched=2,
        answered=4,
        coverage=None,
        codes={},
        runs=tuple(runs.values()),
    )
    outcomes = traced_outcomes(report_of([one]), "q")
    assert [outcomes[id][2].partition(",")[0].partition(":")[0] for id in runs] == [
        OUTCOMES[outcome(run)][2].partition(",")[0] for run in runs.values()
    ]
    assert outcomes["c"][2] == "refuses, though the question has an answer"
    assert outcomes["f"][2] == "a citation does not hold: not_retrieved"
    answers = [
        KeptAnswer(code="ok", trace=Trace(qid="q", answer="It is.", run_id=run)) for run in runs
    ]
    groups = grouped([Answer(one, Reader(Reading())) for one in answers], outcomes)
    assert groups[0][0].outcome == ("✓", "right", "holds, and cites the gold")
    assert [len(group) for group in groups] == [2, 1, 1, 1, 1, 1]
    assert all(group[0].outcome[0] for group in groups)


def test_a_text_that_is_nearly_all_another_is_not_marked(demo):
    def kept(claim: str) -> KeptAnswer:
        return KeptAnswer(cell="+", trace=Trace(qid="q", answer=claim))

    common = "It opened in 1885, and Cuypers designed it."
    answers = [kept(common), kept(common), kept("Nobody knows when."), kept(f"{common} So.")]
    _, cards, _, _ = beside(demo.runs["a"], answers)
    said = [marked_in(dict(card.facts)["answer"]) for card in cards.cards]
    assert said[0] == [(common, False)]
    assert [("differs: ", False), ("Nobody knows when.", False)] in said
    assert [(common, False), (" So.", True)] in said


def test_a_long_id_is_cut_and_can_be_had_whole(cited):
    long = "x" * 1_500
    run = cited.scored([trace(long, [payload("plain", 9, 24)])], [gold(long)])
    material = opened(cited)
    page = page_of(material, run, long)
    closed(material)
    assert "Full id" in Parts(page.body).text
    assert Parts(page.body).text.count(long) == 1
    assert len(page.title) < 100


@pytest.mark.parametrize("keeps", ["all but its end", "its size"])
def test_a_damaged_file_is_told_with_its_run_and_what_to_do(tmp_path, keeps):
    history = CitedHistory(tmp_path)
    run = history.audited([trace("q", [payload("plain", 9, 24)])], [gold("q")])
    for name in (ANSWERS, KEPT_DOCUMENTS):
        [file] = tmp_path.rglob(name)
        sound = file.read_bytes()
        file.chmod(0o600)
        file.write_bytes(sound[:-9] if keeps == "all but its end" else bytes(len(sound)))
    material = opened(history)
    asked = (
        (ANSWERS, lambda: material.answers(run, "q")),
        (KEPT_DOCUMENTS, lambda: material.document(run, "plain", rev_of(DOCUMENTS["plain"]))),
    )
    for name, ask in asked:
        with pytest.raises(RagaugeError) as refused:
            ask()
        assert str(refused.value).startswith(f"run {run.shown}: {name}: is damaged")
        assert "`ragauge runs verify`" in str(refused.value)
    closed(material)


def test_findings_are_told_with_place_and_next_step(material, demo):
    run = demo.runs["audit"]
    wrong = material.pages.units(run, UnitQuery(right="wrong")).rows[0]
    finding = material.answers(run, wrong.unit)[-1].findings[0]
    text = Parts(page_of(material, run, wrong.unit).body).text
    assert "Audit findings" in text
    assert finding.code in text
    assert " ".join(finding.tip.split()) in text


def test_a_source_becomes_a_link_only_where_it_is_an_address(cited):
    urls = [
        "https://example.org/a",
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example/",
        "ftp://x",
    ]
    chunks = [
        payload("plain", 9, 24, source_url=url, snippet_id=f"c{n}") for n, url in enumerate(urls)
    ]
    run = cited.scored([trace("q", chunks)], [gold("q")])
    material = opened(cited)
    links = Places(page_of(material, run, "q")).links
    closed(material)
    foreign = [
        one
        for one in links
        if not one["href"].startswith(("/", "#")) or one["href"].startswith("//")
    ]
    assert foreign == [{"href": urls[0], "rel": "noreferrer noopener"}]


KNOWN = re.compile(
    "class|id|href|rel|title|aria-[a-z]+|role|scope|data-(plain|line|sort)|download|open|colspan"
    "|x|y|width|height|viewbox|d|fill|font-size|text-anchor|pointer-events|stroke(-width)?"
    "|preserveaspectratio"
)
OWN = ("#", "/runs/", "/history?", "/gold/", "/?order=")


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> tuple[CitedHistory, Run, Run]:
    history = CitedHistory(tmp_path_factory.mktemp("hostile"))
    traces, golds = hostile()
    return history, history.scored(traces, golds), history.audited(traces, golds)


def test_hostile_text_stays_text(attacked):
    history, *runs = attacked
    material = opened(history)
    seen = 0
    for run in runs:
        for unit in units_of(material, run, 60):
            page = page_of(material, run, unit, **{"with": runs[0].id})
            for tag, attributes in Places(page).tags:
                assert tag not in ("script", "img", "iframe", "style", "base", "meta", "object")
                odd = [name for name in attributes if not KNOWN.fullmatch(name)]
                assert not odd
                assert (attributes.get("href") or "#").startswith(OWN)
            for name in page.figures:
                msgspec.json.decode(page.wanted(f"{name}.json")[0])
            seen += 1
    closed(material)
    assert seen == 2 * len(hostile()[0])


def test_a_browser_runs_nothing_and_asks_nobody(browser, attacked):
    history, run, audited = attacked
    with serving(history.place) as dashboard:
        context = browser.new_context()
        page = context.new_page()
        asked, said, dialogs = [], [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
        for one in (run, audited):
            for unit in units_of(dashboard.material, one, 60):
                page.goto(dashboard.url + Links().question(one.id, unit))
                assert page.evaluate("window.hit") is None, unit
                assert page.locator("h1").inner_text()
        context.close()
    assert (said, dialogs) == ([], [])
    assert all(url.startswith((dashboard.url, "data:")) for url in asked)


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_the_screen_and_pass_axe(browser, served, demo, size, scheme):
    from axe_playwright_python.base import AXE_SCRIPT

    sweep, audit = demo.runs["stability"], demo.runs["audit"]
    rev = served.material.answers(audit, "h001")[-1].trace.retrieved[0]["rev"]
    ways = {
        "question": Links().question(demo.runs["c"].id, "h001", **{"with": demo.runs["a"].id}),
        "sweep": Links().question(sweep.id, "h002"),
        "document": Links().document(audit.id, DocumentPlace("rijksmuseum", rev, 74, 385, "h001")),
    }
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    for name, way in ways.items():
        page.goto(served.url + way)
        page.evaluate(AXE_SCRIPT)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        serious = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not serious, [(one["id"], one["nodes"][0]["html"]) for one in serious]
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
        photographed(page, f"{name}-{scheme}-{width}", whole=True)
    context.close()


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**18)
    | st.floats(allow_nan=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from(
    [
        "id",
        "snippet_id",
        "doc_id",
        "rev",
        "offsets",
        "text",
        "score_raw",
        "k_pos",
        "k_final",
        "quote",
        "citations",
    ]
)
objects = st.lists(st.dictionaries(names, anything, max_size=6), max_size=4).map(tuple)


@given(objects, objects, objects, st.text(alphabet="ab. [1]\n:Sources", max_size=40))
def test_any_payload_can_be_shown(retrieved, segments, cited, answer):
    one = Trace(qid="q", answer=answer, retrieved=retrieved, segments=segments, cited=cited)
    asked = Gold(qid="q", question="?", answerable=True, gold_claim_substr=("a",))
    shown = Answer(KeptAnswer(trace=one), Reader(Reading()), asked)
    assert "".join(piece[0] for piece in marked(shown.text, list(links_of(shown)))) == shown.text
    assert len(shown.chunks) == len(retrieved)
    pieces = marked(shown.text, compared(plain(shown), "a b"))
    assert "".join(piece[0] for piece in pieces) == shown.text


def test_spelled_out_text_is_what_everyone_reads():
    assert spelled("a\u202eb\r\nc") == "a\\u202eb\r\nc" == readable("a\u202eb") + "\r\nc"
    assert DOCUMENTS["crlf"].count("\r\n") == 4


CONTEXT = "The museum opened in 1885. Cuypers designed it, and it moved to Amsterdam."
ANSWERED = "It opened in 1885 in Amsterdam. Cuypers liked it."


def answers_run(history: CitedHistory, context: str = CONTEXT, **options: object) -> Run:
    """A recorded run of `ragauge eval answers` on one answer."""
    own = options.pop("own", {})
    row = {"id": "r1", "question": "When did it open?", "answer": ANSWERED, "contexts": [context]}
    outcome = evaluate_answers([{**row, **own}], **options)
    with closing(open_history(history.place)) as opened_history:
        return record(outcome, opened_history, name="answers", keep=True)


def support_in(text: str) -> str:
    return text.partition("Support, sentence by sentence")[2].partition("Retrieved")[0]


@pytest.mark.parametrize(
    "options", [{}, {"kind": "summary"}, {"kind": "data_to_text"}, {"own": {"kind": "summary"}}]
)
def test_support_is_what_the_record_says(cited, options):
    run = answers_run(cited, **options)
    material = opened(cited)
    row, page = material.pages.unit(run, "r1"), page_of(material, run, "r1")
    closed(material)
    kind = options.get("kind") or options.get("own", {}).get("kind")
    found = groundedness(ANSWERED, [CONTEXT], "When did it open?", kind=kind)
    assert row.values["answers.groundedness"] == pytest.approx(found.value, abs=1e-6)
    told = support_in(Parts(page.body).text)
    says = "grounded" if row.values["answers.grounded"] else "not grounded"
    number = written_value(found.value)
    assert f"Groundedness in the run: {number}, {says}." in told
    for note in (CUT, OTHERWISE):
        assert note not in told


def test_a_calibrated_run_has_the_verdict_of_the_record(cited, tmp_path):
    file = tmp_path / "calibration.json"
    file.write_bytes(msgspec.json.encode(AnswerCalibration(thresholds={"qa": 0.01})))
    run = answers_run(cited, calibration=(str(file),))
    material = opened(cited)
    row, page = material.pages.unit(run, "r1"), page_of(material, run, "r1")
    closed(material)
    told = support_in(Parts(page.body).text)
    number = written_value(row.values["answers.groundedness"])
    assert row.values["answers.grounded"] == 1
    assert f"Groundedness in the run: {number}, grounded." in told


def test_a_cut_chunk_gives_no_verdict(cited):
    long = payload("plain", 9, 24, f"Opened in 1885. {'x ' * LONGEST_TEXT}")
    run = cited.scored([trace("q", [long])], [gold("q")])
    other = answers_run(cited, f"{'Old. ' * LONGEST_TEXT}{CONTEXT}"[-LONGEST_TEXT - 900 :])
    material = opened(cited)
    told = support_in(Parts(page_of(material, run, "q").body).text)
    recorded = support_in(Parts(page_of(material, other, "r1").body).text)
    closed(material)
    for text in (told, recorded):
        assert CUT in text
    assert "Groundedness" not in told
    assert "Groundedness in the run" in recorded


def test_ranks_and_scores_are_those_of_the_trace(cited):
    exact = 0.12345678901234
    chunks = [
        payload("plain", 26, 46, k_pos=7, score_raw=exact, score_norm=0.5),
        payload("plain", 9, 24, k_pos=4, score_raw=3, score_norm="much"),
        payload("plain", 0, 7, k_pos=9, k_final=2),
    ]
    run = cited.scored([trace("q", chunks)], [gold("q")])
    material = opened(cited)
    page = page_of(material, run, "q")
    closed(material)
    rows = json.loads(page.wanted("chunks.json")[0])
    assert [(one["rank"], one["id"]) for one in rows] == [
        (2, "plain#0"), (4, "plain#9"), (7, "plain#26"),
    ]  # fmt: skip
    assert [one["score_raw"] for one in rows] == [None, 3, exact]
    assert [one["score_norm"] for one in rows] == [None, "much", 0.5]
    text = Parts(page.body).text
    assert text.count("before reranking") == 1
    assert "9 before reranking (up 7)" in text


def test_an_answer_of_which_nobody_says_anything_is_not_drawn_as_right():
    def drawn(**kept: str) -> str:
        one = KeptAnswer(trace=Trace(qid="q", answer="It is."), **kept)
        return grouped([Answer(one, Reader(Reading()))])[0][0].outcome[1]

    assert [drawn(), drawn(cell="+"), drawn(code="ok")] == ["none", "right", "right"]


@pytest.mark.parametrize("kind", ["stability", "eval qa"])
def test_what_the_summary_cut_is_not_said_to_be_absent(material, demo, kind):
    run = demo.runs[kind]
    whole = material.report(run)
    rows = material.pages.units(run, UnitQuery(limit=200)).rows
    row = next(row for row in rows if set(run.record.metrics) - set(row.values))
    if kind == "stability":
        cut = structs.replace(whole, details={})
    else:
        cut = structs.replace(whole, detail=structs.replace(whole.detail, answers=()))
    for report, is_cut in ((whole, False), (cut, True)):
        heads, rows = values(run, row, report, row.unit, None, Links()).data()
        absent = [one for one in rows if one[heads.index("value")] is None]
        assert absent
        assert all((one[heads.index("reason")] == NOT_KEPT) == is_cut for one in absent)


def test_errors_that_the_summary_cut_are_told(material, demo):
    report = material.report(demo.runs["eval all"])

    def without(task: str, **lists: object) -> object:
        one = report.tasks[task]
        short = structs.replace(one, detail=structs.replace(one.detail, **lists))
        return structs.replace(report, tasks={**report.tasks, task: short})

    def cut(report: object, unit: str, *, right: bool) -> bool:
        blocks = [block for one in errors(report, unit, right) for block in one.blocks]
        return any(isinstance(one, doc.Text) and "has no details" in one.text for one in blocks)

    wrong = f"ner/{report.tasks['ner'].detail.errors[0].document}"
    assert not cut(report, wrong, right=False)
    assert cut(without("ner", errors=()), wrong, right=False)
    assert not cut(without("ner", errors=()), wrong, right=True)
    query = f"retrieval/{report.tasks['retrieval'].detail.queries[0].query}"
    assert not cut(report, query, right=True)
    assert cut(without("retrieval", queries=()), query, right=True)
    item = f"types/{report.tasks['types'].detail.confusions[0].examples[0]}"
    assert not cut(report, item, right=False)
    assert cut(without("types", confusions=()), item, right=False)


def test_units_of_components_show_no_hash(material, demo):
    run = demo.runs["eval qa"]
    for unit in units_of(material, run, 10):
        asked = material.pages.question(run.record.gold_sha256, unit)
        assert asked.is_unit
        page = page_of(material, run, unit)
        text = Parts(page.body).text
        assert asked.gold_claim not in page.body
        for reference in material.answers(run, unit)[-1].references:
            assert reference in text
        assert "must contain" not in page.body
        assert "expected phrase" not in text
        assert material.answers(run, unit)[-1].trace.q in Parts(page.body).text
    plain = page_of(material, demo.runs["a"], "h001").body
    assert "must contain" in plain
    assert "only a hash of the gold" not in plain


def test_runs_without_gold_are_not_said_to_share_it(cited, tmp_path):
    history = CitedHistory(tmp_path)
    path = tmp_path / "traces.jsonl"
    path.write_text(json.dumps(trace("q", [payload("plain", 9, 24)])) + "\n")
    texts = []
    for _ in range(2):
        with closing(open_history(history.place)) as kept:
            run = record(audit(path, docs=str(history.documents)), kept, name="cited", keep=True)
        assert run.record.gold_sha256 is None
        material = opened(history)
        [unit] = units_of(material, run)
        texts.append(Parts(page_of(material, run, unit).body).text)
        closed(material)
    assert "No other recorded run of the same command and name has it." in texts[0]
    assert "The last 2 runs of the same command and name;" in texts[1]
    assert not any("same gold set" in text for text in texts)


def test_answers_there_was_no_room_for_are_counted(tmp_path, monkeypatch):
    one = trace("q", [payload("plain", 9, 24)])
    monkeypatch.setattr(packed, "LONGEST", 3 * len(json.dumps(one)))
    history = CitedHistory(tmp_path)
    run = history.scored([{**one, "answer": f"In 1885, {n}."} for n in range(9)], [gold("q")])
    material = opened(history)
    answered = material.answered(run, "q")
    text = Parts(page_of(material, run, "q").body).text
    closed(material)
    kept = len(answered.answers)
    assert kept > 1
    assert answered.left_out == 9 - kept
    assert answered.answers[-1].trace.answer == "In 1885, 8."
    assert f"{9 - kept} earlier answers not kept" in text
    assert f"The last {kept} answers side by side" in text
