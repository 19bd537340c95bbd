"""A valid answer broken one thing at a time gets the right code, and every code is reached."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragauge.citations.codes import CODES, entry_of
from ragauge.citations.offsets import OffsetReading, Whitespace
from ragauge.citations.validator import CitationValidator, Policy
from ragauge.contracts.audit import DEPTHS, AnswerAudit
from ragauge.contracts.manifest import Manifest
from ragauge.store.documents import FolderDocuments
from tests.citations.answers import FIXTURE, NOT_OF_THEIR_KIND, REQUIRED, chunk, model_side

HANDBOOK = (
    "Keys are turned every year, by two people.\n"
    "The safe opens at nine, and closes at five.\n"
    "Nobody enters alone: the second key hangs in another room.\n"
)
FAQ = "May I enter alone? You may not, says the guard of the northern gate.\n"
LINES = HANDBOOK.splitlines()


def rev_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def snippet(number: int) -> dict[str, Any]:
    """The payload of a line of the handbook, with its text."""
    start = HANDBOOK.index(LINES[number - 1])
    end = start + len(LINES[number - 1])
    return chunk(
        number,
        doc_id="handbook",
        rev=rev_of(HANDBOOK),
        offsets={"start": start, "end": end, "unit": "char"},
        score_raw=9.5 - number,
        rerank_score=number / 10,
        k_final=number,
        page=number,
        window={"pre": 0, "post": 0},
        text=LINES[number - 1],
    )


MANIFEST = Manifest(
    hash=FIXTURE["index_hash"],
    text_preproc=FIXTURE["analyzer"],
    embedding=FIXTURE["embed_model"],
    doc_revs={"handbook": rev_of(HANDBOOK), "faq": rev_of(FAQ)},
)


class Case:
    """An answer of two citations with what was retrieved, and how it is given to the validator."""

    def __init__(self) -> None:
        self.retrieved: Any = [snippet(1), snippet(2), snippet(3)]
        self.citations: Any = [
            {**model_side(self.retrieved[0]), "quote": "every year"},
            model_side(self.retrieved[1]),
        ]
        self.answer: Any = "Every year, and the safe opens at nine."
        self.written: Callable[[Any], Any] = lambda reply: reply
        self.manifest: Manifest | None = MANIFEST

    def own(self) -> None:
        """Let the answer bring its payloads, with nothing retrieved to join them to."""
        self.citations, self.retrieved = self.retrieved[:2], None

    @property
    def payloads(self) -> Any:
        return self.citations if self.retrieved is None else self.retrieved

    def audited(self, depth: str, folder: Path | None = None) -> AnswerAudit:
        documents = FolderDocuments(folder, self.manifest) if folder else None
        reading = OffsetReading(tokenizer=Whitespace())
        policy = Policy(depth=depth, offsets=reading)
        validator = CitationValidator(self.manifest, policy, documents)
        reply = self.written({"citations": self.citations, "answer": self.answer})
        return validator(reply, self.retrieved)


LOOKING = ("text", "support")
"""Depths that look into documents."""
Mutation = Callable[[Case], None]
MUTATIONS: dict[str, tuple[str, str, Mutation]] = {}
"""By name: the code that must come back, the depth that finds it, and what is done."""


def mutation(name: str, code: str, depth: str = "payload") -> Callable[[Mutation], Mutation]:
    def named(change: Mutation) -> Mutation:
        assert name not in MUTATIONS
        MUTATIONS[name] = code, depth, change
        return change

    return named


def _set(where: str, place: int, field: str, value: Any, *, own: bool = False) -> Mutation:
    """The change of one field; `...` takes it out."""

    def change(case: Case) -> None:
        if own:
            case.own()
        payload = getattr(case, where)[place]
        if value is ...:
            del payload[field]
        else:
            payload[field] = value

    return change


AT_MARKER = ("snippet_id",)
for field in REQUIRED:
    depth = "marker" if field in AT_MARKER else "payload"
    for label, value in {"dropped": ..., "null": None}.items():
        change = _set("payloads", 1, field, value, own=True)
        mutation(f"own {field} {label}", f"missing_{field}", depth)(change)
    if field != "snippet_id":
        for label, value in {"dropped": ..., "null": None}.items():
            for place in (0, 1):
                # What the model says itself the chunk need not.
                said = field in ("section_id", "source_url", "offsets", "tokens")
                code = "ok" if said else f"missing_{field}"
                change = _set("retrieved", place, field, value)
                mutation(f"chunk {place} {field} {label}", code)(change)
for field, values in NOT_OF_THEIR_KIND.items():
    depth = "marker" if field in AT_MARKER else "payload"
    for n, value in enumerate(values):
        change = _set("payloads", 0, field, value, own=True)
        mutation(f"own {field} as {n}", f"bad_type_{field}", depth)(change)
        if field == "snippet_id":
            continue
        mutation(f"chunk {field} as {n}", f"bad_type_{field}")(_set("retrieved", 1, field, value))
        if value != snippet(2)[field]:
            said = _set("citations", 1, field, value)
            mutation(f"model's {field} as {n}", f"bad_type_{field}")(said)

OTHERWISE: dict[str, tuple[Any, str]] = {
    "doc_id": ("faq", "mismatch_doc_id"),
    "section_id": ("access", "mismatch_section_id"),
    "source_url": ("https://example.org/other", "mismatch_source_url"),
    "offsets": ([1, 3], "mismatch_offsets"),
    "tokens": (3, "mismatch_tokens"),
    "index_hash": ("faiss:000", "mismatch_index_hash"),
    "embed_model": ("minilm", "mismatch_embed_model"),
    "analyzer": ("none", "analyzer_mismatch"),
    "rev": ("000", "rev_mismatch"),
    "window": ({"pre": 1, "post": 1}, "mismatch_window"),
    "page": (99, "mismatch_page"),
    "score_raw": (-1.5, "mismatch_score_raw"),
    "score_norm": (0.01, "mismatch_score_norm"),
    "rerank_score": (-9, "mismatch_rerank_score"),
    "k_pos": (77, "mismatch_k_pos"),
    "k_final": (77, "mismatch_k_final"),
}
for field, (value, code) in OTHERWISE.items():
    for place in (0, 1):
        mutation(f"model's {field} of {place} otherwise", code)(
            _set("citations", place, field, value)
        )
for place in (0, 1):
    for id in ("c9", "C1", "c1#2"):
        mutation(f"model's id of {place} as {id}", "not_retrieved", "marker")(
            _set("citations", place, "snippet_id", id)
        )

for own in (False, True):
    whose, depth = "own" if own else "chunk", "payload"
    for field, value, code in (
        ("offsets", {"start": 9, "end": 9}, "bad_offsets"),
        ("offsets", [9, 4], "bad_offsets"),
        ("offsets", [4, 9, 12], "bad_offsets"),
        ("offsets", {"start": 0, "end": 9, "token_start": 0, "token_end": 2}, "bad_offsets"),
        ("offsets", {"char_start": 0, "char_end": 9, "unit": "token"}, "bad_offsets"),
        ("offsets", {"start": -1, "end": 9}, "bad_offsets"),
        ("offsets", {"start": 0}, "missing_offsets"),
        ("index_hash", "faiss:000000", "mismatch_index_hash"),
        ("index_hash", "000000", "mismatch_index_hash"),
        ("index_hash", "faiss:", "missing_index_hash"),
        ("analyzer", "lowercase", "analyzer_mismatch"),
        ("embed_model", "minilm:mean", "mismatch_embed_model"),
        ("rev", "0000000", "rev_mismatch"),
        ("k_pos", ..., "missing_k_pos"),
        ("k_pos", None, "missing_k_pos"),
        ("k_final", ..., "missing_k_final"),
    ):
        change = _set("payloads", 0, field, value, own=own)
        mutation(f"{whose} {field} {value}", code)(change)


@mutation("no citations", "empty_citations", "marker")
def _no_citations(case: Case) -> None:
    case.citations = []


@mutation("null citations", "empty_citations", "marker")
def _null_citations(case: Case) -> None:
    case.citations = None


@mutation("a number for a citation", "bad_type_citation", "marker")
def _number(case: Case) -> None:
    case.citations[0] = 7


@mutation("a number for a reply", "bad_type_answer", "marker")
def _number_for_a_reply(case: Case) -> None:
    case.written = lambda reply: 7


@mutation("an object for what was retrieved", "bad_type_retrieved", "marker")
def _object(case: Case) -> None:
    case.retrieved = {"chunks": case.retrieved}


@mutation("a reply cut off", "bad_json", "marker")
def _cut_off(case: Case) -> None:
    case.written = lambda reply: json.dumps(reply)[:-20]


@mutation("a reply that is an error", "model_reported_error", "marker")
def _error(case: Case) -> None:
    case.written = lambda reply: '{"error": "no such index", "fix": "build it"}'


@mutation("the answer before its citations", "cite_after_answer")
def _late(case: Case) -> None:
    case.written = lambda reply: json.dumps(dict(reversed(reply.items())))


@mutation("what was retrieved forgotten", "not_retrieved", "marker")
def _forgotten(case: Case) -> None:
    case.retrieved = []


@mutation("only ids of what was retrieved", "missing_index_hash")
def _only_ids(case: Case) -> None:
    case.retrieved = [one["snippet_id"] for one in case.retrieved]


@mutation("another section", "cross_section_reuse")
def _another_section(case: Case) -> None:
    for payload in (case.retrieved[1], case.citations[1]):
        payload["section_id"] = "access"


@mutation("another section of one's own", "cross_section_reuse")
def _own_section(case: Case) -> None:
    case.own()
    case.citations[1]["section_id"] = "access"


@mutation("the same section of another document", "cross_section_reuse")
def _another_document(case: Case) -> None:
    case.retrieved[1] |= {"doc_id": "faq", "rev": rev_of(FAQ)}


@mutation("tokens beside characters", "mixed_units")
def _mixed(case: Case) -> None:
    for payload in (case.retrieved[1], case.citations[1]):
        payload["offsets"] = {"start": 8, "end": 17, "unit": "token"}


@mutation("no score", "missing_score")
def _no_score(case: Case) -> None:
    case.retrieved[0] |= {"score_raw": None, "score_norm": None}


@mutation("cited twice", "duplicate_citation")
def _twice(case: Case) -> None:
    case.citations.append(case.citations[0])


@mutation("two scores turned round", "bad_order")
def _turned(case: Case) -> None:
    for one, other in ((0, 1), (1, 0)):
        case.retrieved[one]["score_norm"] = snippet(other + 1)["score_norm"]


@mutation("ties in the wrong order", "bad_order")
def _ties(case: Case) -> None:
    case.retrieved[0]["score_norm"] = case.retrieved[1]["score_norm"]
    case.retrieved[0]["section_id"] = case.citations[0]["section_id"] = "z"
    case.citations = case.citations[:1]


@mutation("a letter of the snippet", "span_text_mismatch", "text")
def _letter(case: Case) -> None:
    case.retrieved[0]["text"] = LINES[0].replace("two", "ten")


@mutation("offsets that drifted", "span_text_mismatch", "text")
def _drifted(case: Case) -> None:
    for payload in (case.retrieved[1], case.citations[1]):
        offsets = payload["offsets"]
        payload["offsets"] = {"start": offsets["start"] - 3, "end": offsets["end"] - 3}


@mutation("a quote that is not there", "span_text_mismatch", "text")
def _quote(case: Case) -> None:
    case.citations[0]["quote"] = "every month"


@mutation("a quote of another line", "span_text_mismatch", "text")
def _quote_elsewhere(case: Case) -> None:
    case.citations[0]["quote"] = "the second key hangs in another room"


@mutation("offsets beyond the end", "out_of_range", "text")
def _beyond(case: Case) -> None:
    for payload in (case.retrieved[1], case.citations[1]):
        payload["offsets"] = {"start": 10, "end": len(HANDBOOK) + 1}


@mutation("offsets in tokens beyond the end", "out_of_range", "text")
def _tokens_beyond(case: Case) -> None:
    case.citations = case.citations[1:]
    for payload in (case.retrieved[1], case.citations[0]):
        payload["offsets"] = {"start": 8, "end": 900, "unit": "token"}


@mutation("a document that is not kept", "missing_document", "text")
def _not_kept(case: Case) -> None:
    case.manifest = None
    for one in case.retrieved:
        one["doc_id"] = "bylaws"


@mutation("a quote of another document", "misattributed", "text")
def _misattributed(case: Case) -> None:
    case.citations[0]["quote"] = "says the guard of the northern gate"


@mutation("a snippet of another document", "misattributed", "text")
def _snippet_of_another(case: Case) -> None:
    case.retrieved[0]["text"] = FAQ.strip()


@mutation("a claim that the spans do not make", "unsupported", "support")
def _unsupported(case: Case) -> None:
    case.answer = "Visitors pay twelve guilders for a lamp."


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("documents")
    (made / "handbook.md").write_text(HANDBOOK, encoding="utf-8")
    (made / "faq.md").write_text(FAQ, encoding="utf-8")
    (made / "handbook_old.md").write_text("Keys were turned never.\n", encoding="utf-8")
    return made


def codes(audit: AnswerAudit) -> set[str]:
    return {finding.code for finding in audit.findings}


@pytest.mark.parametrize("own", [False, True], ids=["joined", "own"])
@pytest.mark.parametrize("depth", DEPTHS)
def test_unbroken_it_is_ok_at_every_depth(depth, own, folder):
    case = Case()
    if own:
        case.own()
    assert case.audited(depth, folder).code == "ok"


@pytest.mark.parametrize("depth", DEPTHS)
def test_what_is_broken_gets_its_code_at_its_depth_and_deeper_and_no_earlier(depth, folder):
    faults = []
    for name, (code, found_at, change) in MUTATIONS.items():
        case = Case()
        change(case)
        own, here = DEPTHS.index(found_at), DEPTHS.index(depth)
        if here < own - 1 or (here > own and depth not in LOOKING):
            continue
        audit = case.audited(depth, folder if depth in LOOKING else None)
        if here == own:
            holds = audit.code == code and audit.ok == (code == "ok")
        elif here < own:
            holds = audit.code == "ok" or code == "ok"
        else:
            holds = code in codes(audit) or code == "ok"
        faults += [] if holds else [(name, audit.code, audit.findings)]
    assert faults == []


def test_the_place_is_told_of_text_that_drifted(folder):
    case = Case()
    _drifted(case)
    (finding,) = case.audited("text", folder).findings
    assert (finding.field, finding.item) == ("offsets", 1)
    assert "3 characters" in finding.expected


def test_a_revision_that_is_not_kept_has_no_text(folder):
    case = Case()
    for one in case.retrieved:
        one["rev"] = "0000000"
    found = case.audited("text", folder).findings
    assert [(one.code, one.item) for one in found] == [
        *(("rev_mismatch", item) for item in (0, 1)),
        *(("missing_document", item) for item in (0, 1)),
    ]


def test_misattribution_names_both_documents(folder):
    case = Case()
    _misattributed(case)
    (finding,) = case.audited("text", folder).findings
    assert finding.got == "handbook" and finding.expected.startswith("faq ")


def test_the_same_search_is_not_made_twice(folder):
    """Of citations that fail alike in many answers, the documents are searched once."""
    documents = FolderDocuments(folder, MANIFEST)
    searched = []
    others = documents.others
    documents.others = lambda doc_id: searched.append(doc_id) or others(doc_id)  # type: ignore[method-assign]
    validator = CitationValidator(MANIFEST, Policy(depth="text"), documents)
    case = Case()
    _snippet_of_another(case)
    audits = []
    for k_pos in range(3):
        case.retrieved[0]["k_pos"] = k_pos
        reply = {"citations": ["c1"], "answer": "So."}
        audits.append(validator(reply, copy.deepcopy(case.retrieved)))
    assert [audit.code for audit in audits] == ["misattributed"] * 3
    assert len({audit.findings for audit in audits}) == 1
    assert searched == ["handbook"]


def test_every_code_is_reached_by_a_mutation():
    reached = {entry.code for code, _, _ in MUTATIONS.values() if (entry := entry_of(code))}
    assert {entry.code for entry in CODES} == reached


MINIMAL: dict[str, tuple[Any, Any]] = {
    "ok": ([FIXTURE], None),
    "bad_json": ('{"citations": [', None),
    "empty_citations": ([], None),
    "missing_<field>": ([{**FIXTURE, "rev": None}], None),
    "bad_type_<field>": ([{**FIXTURE, "page": "14"}], None),
    "bad_offsets": ([{**FIXTURE, "offsets": [9, 4]}], None),
    "mixed_units": ([chunk(1), chunk(2, offsets={"token_start": 1, "token_end": 2})], None),
    "cross_section_reuse": ([chunk(1), chunk(2, section_id="other")], None),
    "missing_score": ([chunk(1, score_norm=None)], None),
    "missing_k_pos": ([chunk(1, k_pos=None)], None),
    "missing_k_final": ([chunk(1, k_final=1), chunk(2)], None),
    "mismatch_index_hash": ([chunk(1, index_hash="old")], None),
    "mismatch_embed_model": ([chunk(1, embed_model="old")], None),
    "analyzer_mismatch": ([chunk(1, analyzer="old")], None),
    "rev_mismatch": ([chunk(1, rev="old")], None),
    "mismatch_<field>": ([{"snippet_id": "c1", "tokens": 3}], [chunk(1)]),
    "not_retrieved": (["c9"], [chunk(1)]),
    "cite_after_answer": ("claim: So.\ncitations: [c1]", [chunk(1)]),
    "duplicate_citation": (["c1", "c1"], [chunk(1)]),
    "bad_order": ([chunk(2), chunk(1)], None),
    "model_reported_error": ({"error": "x"}, None),
}
ON_FILES = {"span_text_mismatch", "out_of_range", "missing_document", "misattributed"}


@pytest.mark.parametrize("code", MINIMAL)
def test_a_minimal_example_of_each_code(code):
    live = Manifest(
        hash="2f7d9a",
        text_preproc=FIXTURE["analyzer"],
        embedding=FIXTURE["embed_model"],
        doc_revs={"handbook_2024": "3b91f2a"},
    )
    answer, retrieved = MINIMAL[code]
    audit = CitationValidator(live)(answer, retrieved)
    assert {entry_of(found).code for found in codes(audit)} == ({code} - {"ok"})
    assert entry_of(audit.code).code == code


@pytest.mark.parametrize(
    ("code", "changed"),
    [
        ("span_text_mismatch", {"text": "The gate opens at nine, as it should."}),
        ("out_of_range", {"offsets": {"start": 0, "end": 9_999}, "text": None}),
        ("missing_document", {"doc_id": "nowhere"}),
        ("misattributed", {"text": FAQ.strip()}),
    ],
)
def test_a_minimal_example_of_each_code_about_text(code, changed, folder):
    validator = CitationValidator(None, Policy(depth="text"), FolderDocuments(folder))
    payload = {**snippet(2), **changed}
    assert validator([payload]).code == code
    assert codes(validator([payload])) == {code}


def test_no_code_is_forgotten():
    assert {entry.code for entry in CODES} == {*MINIMAL, *ON_FILES, "unsupported"}
