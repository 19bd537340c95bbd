"""The codes an audit speaks in: what each means, what it ranks, and the next step."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from msgspec import Struct

from ragauge.contracts.audit import OK, CitationFinding
from ragauge.contracts.citation import Citation

FIELD = "<field>"
TRACES = "traces"

FIRST_MISSING = ("index_hash", "embed_model", "analyzer", "rev", "doc_id")
"""Among missing fields these rank first; the others follow by name."""


class Code(Struct, frozen=True):
    """An entry of the table; `<field>` stands for any field's name."""

    code: str
    depth: str
    """The first depth of the check that finds it; `traces` if reading them finds it."""
    means: str
    tip: str


_WORDS: dict[str, tuple[str, str]] = {
    OK: (
        "Nothing was found at the depth that was asked for.",
        "Nothing to do; a deeper check asks more.",
    ),
    "bad_json": (
        "The reply begins JSON that cannot be read: cut off, or broken.",
        "Raise the token limit of the reply, and ask for JSON by a schema; then ask again.",
    ),
    "empty_citations": (
        "An answer without a citation.",
        "Enforce cite-first in the prompt contract: citations before the answer, or the refusal.",
    ),
    "missing_<field>": (
        "A field the payload must have is absent or empty.",
        "Project the field in the adapter, so that every retrieved chunk carries it.",
    ),
    "bad_type_<field>": (
        "A field is not of its kind, or outside its range.",
        "Write the field as `ragauge schema citation` says, where the payload is made.",
    ),
    "bad_offsets": (
        "start is not before end, or the offsets can be read in two ways.",
        "Rebuild the chunk offsets and check the unit: start < end, char or token.",
    ),
    "mixed_units": (
        "Some offsets count characters and some tokens; a run has one unit.",
        "Choose one unit in the chunker and rebuild the offsets of the rest.",
    ),
    "cross_section_reuse": (
        "One segment of the answer cites more than one section.",
        "Forbid it in the prompt, answer in segments, or whitelist the pair of sections.",
    ),
    "missing_score": (
        "A citation has neither score_raw nor score_norm.",
        "Project the store's score in the adapter.",
    ),
    "missing_k_pos": (
        "A citation does not tell its place in the retrieved list.",
        "Log the place before reranking as k_pos, from the retriever.",
    ),
    "missing_k_final": (
        "The list was reranked, but a citation does not tell its place afterwards.",
        "Log the place after reranking as k_final, for every chunk that is shown.",
    ),
    "mismatch_index_hash": (
        "The citation comes from another index than the live one.",
        "Rebuild the index, or fix the start-up order so that readers open the new one.",
    ),
    "mismatch_embed_model": (
        "The chunk was embedded with another model than the live index uses.",
        "Rebuild the index with the live model and pooling, or open the index it belongs to.",
    ),
    "analyzer_mismatch": (
        "The chunk was written with another analyzer than it is read with.",
        "Align analyzer and normalisation of the write and the read path, then rebuild.",
    ),
    "rev_mismatch": (
        "The citation points into another revision of the document than the index holds.",
        "Re-index the document, or cite from the revision that made the chunk.",
    ),
    "mismatch_<field>": (
        "The model's citation and the retrieved payload disagree on a field both have.",
        "Have the model copy the field, or leave it out: the retrieved payload knows it.",
    ),
    "not_retrieved": (
        "A cited id is not among the retrieved ones.",
        "Show ids with their chunks, forbid others in the prompt, and drop what is not known.",
    ),
    "span_text_mismatch": (
        "The text at the offsets is not the snippet's, or not the quoted words.",
        "Rebuild the chunk offsets against the frozen text; the finding says how far off.",
    ),
    "out_of_range": (
        "The offsets reach beyond the end of the document.",
        "Check the unit and the revision: the document is shorter than the offsets say.",
    ),
    "cite_after_answer": (
        "The citations stand only after the answer.",
        "Put citations first in the reply's schema: a model that cites last looks for reasons.",
    ),
    "duplicate_citation": (
        "The same span is cited twice.",
        "Drop the repetition in the adapter; it makes support look stronger than it is.",
    ),
    "bad_order": (
        "The list is not by score_norm falling, then section_id, snippet_id and start rising.",
        "Sort with the tie-break before the list is shown, with a fixed reranker and seed.",
    ),
    "missing_document": (
        "The document of that revision is not where documents are kept.",
        "Keep every indexed revision frozen: in a folder, or by its content's hash.",
    ),
    "misattributed": (
        "The words stand in another document or passage than the one that is cited.",
        "Cite the one that holds the words; check how chunk ids are given to the model.",
    ),
    "unsupported": (
        "What is said does not stand in the cited span, as far as words and numbers tell.",
        "Read the claim beside the span; ask for claims that the span states.",
    ),
    "model_reported_error": (
        "The model answered {error, fix} or {error, field, tip}: neither answer nor refusal.",
        "Mend what the model names, then ask again.",
    ),
}
"""By code, worst first, as findings are sorted: what it means, and the next step."""
_DEPTHS = {
    **dict.fromkeys(
        (OK, "bad_json", "empty_citations", "not_retrieved", "model_reported_error"), "marker"
    ),
    **dict.fromkeys(
        ("span_text_mismatch", "out_of_range", "missing_document", "misattributed"), "text"
    ),
    "unsupported": "support",
}
CODES = tuple(Code(code, _DEPTHS.get(code, "payload"), *said) for code, said in _WORDS.items())

_WORDS_OF_TRACES: dict[str, tuple[str, str]] = {
    "bad_line": (
        "A line of the traces cannot be read, so nothing in it was audited.",
        "Mend the line; `--max-bad` lets an audit go on without some.",
    ),
    "error_record": (
        "A trace without an answer: the system failed, or answered with nothing.",
        "Look at the system first; the trace's error says what happened.",
    ),
    "unknown_question": (
        "A trace of a question that the gold set does not have: audited, and not matched.",
        "Add the question to the gold set, or leave its traces out.",
    ),
    "ambiguous_question": (
        "A trace without a qid, of a question that stands twice in the gold set.",
        "Give the trace the qid of the one it answers.",
    ),
    "missing_trace": (
        "A gold question that no trace answers.",
        "Ask it, or audit against the part of the gold set that was asked.",
    ),
    "unreadable_document": (
        "A file among the documents cannot be read as text.",
        "Save it as UTF-8, or take it out of the folder.",
    ),
    "unproven_revision": (
        "A document was taken for a revision that neither its hash nor its folder proves.",
        "Name revisions by the hash of the text, or keep each in a folder of its name.",
    ),
    "not_checked": (
        "What one reply was to be held against is not there, so it neither holds nor fails.",
        "Give what the answer names: what was retrieved, or the words to be compared.",
    ),
    "few_wordings": (
        "A question has fewer wordings than the recipe of a trace evaluation asks for.",
        "Add paraphrases to the question in the gold set.",
    ),
}
OF_TRACES = tuple(Code(code, TRACES, *said) for code, said in _WORDS_OF_TRACES.items())
"""What an audit finds besides: about the traces and documents, not about a citation."""

FIELD_TIPS = {
    "index_hash": "Write the index's hash into every payload when the index is built.",
    "embed_model": "Write model and pooling into every payload when the index is built.",
    "analyzer": "Write the analyzer's name into every payload when the index is built.",
    "rev": "Write the document's revision into every payload when it is chunked.",
    "offsets": "Keep start and end of every chunk when the document is split.",
    "tokens": "Count the chunk's tokens when the document is split.",
    "snippet_id": "Give every chunk an id and show it to the model beside the text.",
}
"""Next steps for a missing field that say more than the table's."""

_EXACT = {entry.code: place for place, entry in enumerate(CODES)}
_FAMILIES = ("missing_", "bad_type_", "mismatch_")
_FIELDS = frozenset({*Citation.__struct_fields__, "citation", "answer", "retrieved"})
"""What a code of a family can name: the payload's fields, and what they belong to."""
_NO_MARKER = frozenset(
    {"missing_snippet_id", "bad_type_snippet_id"}
    | {f"bad_type_{name}" for name in ("citation", "answer", "retrieved")}
)
"""Codes for what leaves no id to look up."""


@cache
def entry_of(code: str) -> Code | None:
    """The entry of a code, a field's name in place of `<field>` included; None for no code.

    >>> entry_of("missing_rev").means
    'A field the payload must have is absent or empty.'
    """
    if code in _EXACT:
        return CODES[_EXACT[code]]
    family = next((start for start in _FAMILIES if code.startswith(start)), None)
    return CODES[_EXACT[family + FIELD]] if family and len(code) > len(family) else None


def explain(code: str) -> Code | None:
    """The entry of a code that an audit can find, worded for this code; None if there is none.

    >>> explain("missing_rev").tip
    "Write the document's revision into every payload when it is chunked."
    >>> explain("missing_colour") is None
    True
    """
    about = next((entry for entry in OF_TRACES if entry.code == code), None)
    entry = about or entry_of(code)
    if entry is None or entry is about:
        return about
    named = code.removeprefix(entry.code.removesuffix(FIELD))
    if code not in _EXACT and named not in _FIELDS:
        return None
    return Code(code, depth_of(code), entry.means, tip_of(code))


@cache
def depth_of(code: str) -> str:
    """The first depth that finds a code: of what names no id, the first of all.

    >>> depth_of("missing_rev"), depth_of("missing_snippet_id")
    ('payload', 'marker')
    """
    entry = entry_of(code)
    assert entry, code
    return "marker" if code in _NO_MARKER else entry.depth


@cache
def rank_of(code: str) -> tuple[int, int, str]:
    """The rank of a code among the others: the lowest is the worst."""
    entry = entry_of(code)
    assert entry, code
    field = code.removeprefix("missing_") if entry.code == "missing_<field>" else ""
    first = FIRST_MISSING.index(field) if field in FIRST_MISSING else len(FIRST_MISSING)
    return _EXACT[entry.code], first, code


@cache
def tip_of(code: str) -> str:
    """The next step in words."""
    entry = entry_of(code)
    assert entry, code
    if entry.code == "missing_<field>":
        return FIELD_TIPS.get(code.removeprefix("missing_"), entry.tip)
    return entry.tip


def worst_first(findings: list[CitationFinding]) -> tuple[CitationFinding, ...]:
    """The findings by rank, then by place."""
    return tuple(sorted(findings, key=_place))


def _place(finding: CitationFinding) -> tuple[tuple[int, int, str], int, int]:
    segment = -1 if finding.segment is None else finding.segment
    return rank_of(finding.code), segment, -1 if finding.item is None else finding.item


_NOTHING = {"cite_after_answer": "only after the answer", "empty_citations": "none"}
_TOLD = ("span_text_mismatch", "out_of_range")
"""Codes whose expectation is a sentence: the actual place of the text."""


def place_of(finding: CitationFinding) -> str:
    """Where in the answer it was found, as a path into the reply.

    >>> place_of(CitationFinding(code="missing_rev", field="rev", item=2, segment=0))
    'segments[0].citations[2].rev'
    """
    segment = "" if finding.segment is None else f"segments[{finding.segment}]."
    if finding.item is not None:
        field = f".{finding.field}" if finding.field else ""
        return f"{segment}citations[{finding.item}]{field}"
    return segment + (finding.field or "answer")


def fact_of(finding: CitationFinding) -> str:
    """What was found there, and what should have been.

    >>> fact_of(CitationFinding(code="mismatch_index_hash", got="2f7d", expected="8c01"))
    '"2f7d", expected "8c01"'
    """
    code, got, expected = finding.code, finding.got, finding.expected
    if got is None:
        expectation = f", expected {expected}" if expected else ""
        return f"{_NOTHING.get(code, 'missing')}{expectation}"
    if expected is None:
        return _in_quotes(got)
    if code == "misattributed":
        return f"not in the cited {got}: {expected}"
    if code in _TOLD:
        return f"{_in_quotes(got)}; {expected}"
    same_kind = "mismatch" in code
    return f"{_in_quotes(got)}, expected {_in_quotes(expected) if same_kind else expected}"


def message_of(finding: CitationFinding) -> str:
    return f"{place_of(finding)}: {fact_of(finding)}"


def _in_quotes(value: Any) -> str:
    """An id in quotes; sentences and other values as they are."""
    if isinstance(value, str) and " " in value:
        return value
    return json.dumps(value, ensure_ascii=False)
