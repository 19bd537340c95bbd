"""Writes frozen documents, the manifest of their index and traces that cite them.

python -m benchmarks.audit_traces FOLDER 10000

The same bytes for the same arguments; the traces of a smaller number are the first of a larger.
A trace is about 4 KB: five retrieved payloads with their texts, and two citations. Half of the
replies are raw text, the others parsed; a third of the lists stand in a reranker's order, one
answer in five is in segments, one in twenty a refusal. About 3 % are faulty, every fault in turn.
"""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.generate import FOREIGN_REMARKS, remark

DOCUMENTS = 200
SECTIONS = 10
SNIPPETS = 5
"""In a section."""
QUESTIONS = 2_000
RETRIEVED = 5
FAULTY_EVERY = 33
INDEX_HASH = "faiss:2f7d9ac41b08"
EMBED_MODEL = "bge-large-en-v1.5:mean"
ANALYZER = "lowercase+ascii_fold"
SAID = ("snippet_id", "section_id", "source_url", "offsets", "tokens")
"""The fields of a payload that the model repeats."""

Payload = dict[str, Any]
encode_utf8 = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


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
    plant: Callable[[Draft, "Corpus"], None]


class Corpus(NamedTuple):
    """The texts of the documents by id, and the payloads of each section."""

    texts: dict[str, str]
    sections: list[list[Payload]]

    @property
    def revs(self) -> dict[str, str]:
        return {id: rev_of(text) for id, text in self.texts.items()}


def make_corpus(documents: int = DOCUMENTS) -> Corpus:
    rng = Random("audited documents")
    corpus = Corpus({}, [])
    for number in range(documents):
        sections = [[passage(rng) for _ in range(SNIPPETS)] for _ in range(SECTIONS)]
        add_document(f"catalogue-{number:03}", sections, corpus)
    return corpus


def passage(rng: Random) -> str:
    """Four remarks; one passage in fifty has one that is not in ASCII."""
    remarks = [remark(rng) for _ in range(4)]
    if rng.random() < 0.02:
        remarks[0] = rng.choice(FOREIGN_REMARKS)
    return " ".join(remarks)


def add_document(doc_id: str, sections: list[list[str]], corpus: Corpus) -> None:
    text = f"# {doc_id}\n"
    made: list[list[Payload]] = []
    for place, passages in enumerate(sections):
        section_id = f"part-{place}"
        text += f"\n## {section_id}\n"
        made.append([])
        for number, words in enumerate(passages):
            text += f"\n{words}\n"
            end = len(text) - 1
            made[-1].append(
                {
                    "doc_id": doc_id,
                    "section_id": section_id,
                    "snippet_id": f"{doc_id}-{place}-{number}",
                    "source_url": f"https://example.org/{doc_id}#{section_id}",
                    "offsets": {"start": end - len(words), "end": end, "unit": "char"},
                    "tokens": len(words.split()),
                    "index_hash": INDEX_HASH,
                    "embed_model": EMBED_MODEL,
                    "analyzer": ANALYZER,
                    "window": {"pre": 120, "post": 120},
                    "text": words,
                }
            )
    corpus.texts[doc_id] = text
    rev = rev_of(text)
    corpus.sections.extend([[chunk | {"rev": rev} for chunk in section] for section in made])


def rev_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def retrieve(corpus: Corpus, rng: Random, reranked: bool) -> list[Payload]:
    """Two snippets of one section and three of others, best first; the order may be a reranker's.

    The first two of the list are not always those of the section.
    """
    home = rng.sample(rng.choice(corpus.sections), 2)
    found = home + [rng.choice(rng.choice(corpus.sections)) for _ in range(RETRIEVED - 2)]
    found = list({chunk["snippet_id"]: chunk for chunk in found}.values())
    rng.shuffle(found)
    norm = 0.97
    listed = []
    for place, chunk in enumerate(found, 1):
        norm = round(norm - rng.uniform(0.01, 0.1), 4)
        listed.append(chunk | {"score_raw": round(norm * 1.07, 4), "score_norm": norm})
        listed[-1]["k_pos"] = place
    if not reranked:
        return listed
    rng.shuffle(listed)
    return [
        chunk | {"rerank_score": round(0.9 - 0.1 * place, 4), "k_final": place}
        for place, chunk in enumerate(listed, 1)
    ]


def same_section(retrieved: list[Payload]) -> list[Payload]:
    """The first two of the retrieved snippets that come from one section."""
    urls = Counter(chunk["source_url"] for chunk in retrieved)
    url = next(chunk["source_url"] for chunk in retrieved if urls[chunk["source_url"]] > 1)
    return [chunk for chunk in retrieved if chunk["source_url"] == url][:2]


def said(chunk: Payload, quote: bool = False) -> Payload:
    """What the model writes of a snippet that it was shown."""
    words = {"quote": chunk["text"].split(". ")[0]} if quote else {}
    return {name: chunk[name] for name in SAID} | words


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
    Fault("ok", "span_text_mismatch", move(7, 7)),
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


def make_traces(traces: int, corpus: Corpus, faults: tuple[Fault, ...]) -> Iterator[str]:
    rng = Random("audited traces")
    for number in range(traces):
        yield encode_utf8(make_trace(number, corpus, fault_of(number, faults), rng))


def make_trace(number: int, corpus: Corpus, fault: Fault | None, rng: Random) -> Payload:
    retrieved = retrieve(corpus, rng, reranked=number % 3 == 0)
    draft = Draft(retrieved, [said(one, rng.random() < 0.2) for one in same_section(retrieved)])
    form = "plain" if fault else rng.choices(("plain", "segments", "refusal"), (75, 20, 5))[0]
    if fault:
        fault.plant(draft, corpus)
    reply = reply_of(draft, form, rng)
    question = number % QUESTIONS
    trace: Payload = {
        "qid": f"q{question:05}",
        "q": f"What does entry {question} say of the collection?",
    }
    trace |= {"ts": 1_750_000_000 + number, "latency_ms": rng.randrange(200, 2_000)}
    raw = form == "refusal" or rng.random() < 0.5
    answered = {"answer": reply if form == "refusal" else encode_utf8(reply)}
    return trace | {"retrieved": retrieved} | (answered if raw else {"answer_json": reply})


def reply_of(draft: Draft, form: str, rng: Random) -> Any:
    """The model's reply: citations first, then the answer; in segments, one section each."""
    if form == "refusal":
        return "not in context"
    claims = [remark(rng), remark(rng)]
    if form == "plain":
        return {"citations": draft.citations, "answer": " ".join(claims)}
    both = [draft.citations[0], said(other_section(draft))]
    segments = [{"text": text, "citations": [one]} for text, one in zip(claims, both, strict=True)]
    return {"citations": both, "answer": " ".join(claims), "segments": segments}


def other_section(draft: Draft) -> Payload:
    """The first retrieved snippet of a section that is not cited."""
    cited = {one["source_url"] for one in draft.citations}
    return next(chunk for chunk in draft.retrieved if chunk["source_url"] not in cited)


def write_corpus(corpus: Corpus, folder: Path) -> None:
    """The documents and `index.json`, the manifest."""
    documents = folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    for id, text in corpus.texts.items():
        (documents / f"{id}.md").write_text(text, "utf-8", newline="\n")
    manifest: Payload = {"index_type": "faiss", "embedding": EMBED_MODEL, "text_preproc": ANALYZER}
    manifest |= {"hash": INDEX_HASH, "doc_revs": corpus.revs}
    (folder / "index.json").write_text(encode_utf8(manifest), "utf-8")


def write_traces(
    traces: int, corpus: Corpus, path: Path, faults: tuple[Fault, ...] = FAULTS
) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in make_traces(traces, corpus, faults))


def main() -> None:
    folder, traces = Path(sys.argv[1]), int(sys.argv[2])
    corpus = make_corpus()
    write_corpus(corpus, folder)
    write_traces(traces, corpus, folder / f"traces-{traces}.jsonl")


if __name__ == "__main__":
    main()
