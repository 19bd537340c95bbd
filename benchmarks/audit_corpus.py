"""Frozen documents, the payloads of their snippets and the manifest of their index."""

import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from benchmarks.generate import FOREIGN_REMARKS, remark

DOCUMENTS = 200
SECTIONS = 10
SNIPPETS = 5
"""In a section."""
INDEX_HASH = "faiss:2f7d9ac41b08"
EMBED_MODEL = "bge-large-en-v1.5:mean"
ANALYZER = "lowercase+ascii_fold"

Payload = dict[str, Any]
encode_utf8 = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


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


def write_corpus(corpus: Corpus, folder: Path) -> None:
    """The documents and `index.json`, the manifest."""
    documents = folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    for id, text in corpus.texts.items():
        (documents / f"{id}.md").write_text(text, "utf-8", newline="\n")
    manifest: Payload = {"index_type": "faiss", "embedding": EMBED_MODEL, "text_preproc": ANALYZER}
    manifest |= {"hash": INDEX_HASH, "doc_revs": corpus.revs}
    (folder / "index.json").write_text(encode_utf8(manifest), "utf-8")
