"""What can be wrong with the citations of a trace, planted on purpose, and the code it gets."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.audit_corpus import Corpus, Payload

FAULTY_EVERY = 33
SAID = ("snippet_id", "section_id", "source_url", "offsets", "tokens")
"""The fields of a payload that the model repeats."""


class Draft(NamedTuple):
    """A trace about to be written: what was retrieved, and which of it is cited."""

    retrieved: list[Payload]
    citations: list[Payload]

    def cited(self, place: int = 0) -> Payload:
        """The retrieved payload of a citation."""
        id = self.citations[place]["snippet_id"]
        return next(chunk for chunk in self.retrieved if chunk["snippet_id"] == id)


class Fault(NamedTuple):
    """A way to be wrong, and the code it gets in each depth."""

    payload: str
    text: str
    plant: Callable[[Draft, Corpus], None]


def said(chunk: Payload, quote: bool = False) -> Payload:
    """What the model writes of a snippet that it was shown."""
    words = {"quote": chunk["text"].split(". ")[0]} if quote else {}
    return {name: chunk[name] for name in SAID} | words


def other_section(draft: Draft) -> Payload:
    """The first retrieved snippet of a section that is not cited."""
    cited = {one["source_url"] for one in draft.citations}
    return next(chunk for chunk in draft.retrieved if chunk["source_url"] not in cited)


def drop(*names: str) -> Callable[[Draft, Corpus], None]:
    def plant(draft: Draft, corpus: Corpus) -> None:
        for name in names:
            del draft.cited()[name]

    return plant


def put(name: str, value: str) -> Callable[[Draft, Corpus], None]:
    return lambda draft, corpus: draft.cited().update({name: value})


def move(start: int, end: int) -> Callable[[Draft, Corpus], None]:
    """Both the retriever and the model give other offsets."""

    def plant(draft: Draft, corpus: Corpus) -> None:
        chunk = draft.cited()
        was = chunk["offsets"]
        moved = was | {"start": was["start"] + start, "end": was["end"] + end}
        chunk["offsets"] = draft.citations[0]["offsets"] = moved

    return plant


def cite_nothing(draft: Draft, corpus: Corpus) -> None:
    draft.citations.clear()


def cite_another_section(draft: Draft, corpus: Corpus) -> None:
    draft.citations[1] = said(other_section(draft))


def cite_unseen(draft: Draft, corpus: Corpus) -> None:
    draft.citations[1] = draft.citations[1] | {"snippet_id": "catalogue-999-0-0"}


def show_words_of_another(draft: Draft, corpus: Corpus) -> None:
    chunk = draft.cited()
    other = corpus.sections[0 if chunk["doc_id"] != "catalogue-000" else -1]
    chunk["text"] = other[0]["text"]


def show_words_of_nobody(draft: Draft, corpus: Corpus) -> None:
    """Every cited snippet has its sentences in another order: known words, in no document so."""
    for place in range(len(draft.citations)):
        chunk = draft.cited(place)
        sentences = chunk["text"].removesuffix(".").split(". ")
        chunk["text"] = f"{'. '.join(reversed(sentences))}."


FAULTS = (
    Fault("empty_citations", "empty_citations", cite_nothing),
    Fault("missing_index_hash", "missing_index_hash", drop("index_hash")),
    Fault("bad_offsets", "bad_offsets", move(1_000, 0)),
    Fault("cross_section_reuse", "cross_section_reuse", cite_another_section),
    Fault("missing_score", "missing_score", drop("score_raw", "score_norm")),
    Fault("mismatch_index_hash", "mismatch_index_hash", put("index_hash", "faiss:00c0ffee0000")),
    Fault("rev_mismatch", "rev_mismatch", put("rev", "0ld0ld0ld0ld")),
    Fault("not_retrieved", "not_retrieved", cite_unseen),
    Fault("ok", "span_text_mismatch", move(-7, -7)),
    Fault("ok", "misattributed", show_words_of_another),
    Fault("ok", "span_text_mismatch", show_words_of_nobody),
)
NOWHERE = (FAULTS[-1],)
"""The dearest fault: every document is searched for words that none has."""


def planted(traces: int, depth: str, faults: tuple[Fault, ...] = FAULTS) -> Counter[str]:
    """How many answers are to get each code, those without a fault left out."""
    codes = Counter(getattr(fault_of(number, faults), depth, "ok") for number in range(traces))
    del codes["ok"]
    return codes


def fault_of(number: int, faults: tuple[Fault, ...]) -> Fault | None:
    turn, rest = divmod(number, FAULTY_EVERY)
    return None if rest else faults[turn % len(faults)]
