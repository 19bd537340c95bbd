"""Writes frozen documents, the manifest of their index and traces that cite them.

python -m benchmarks.audit_traces FOLDER 10000

The same bytes for the same arguments; the traces of a smaller number are the first of a larger.
A trace is about 4.6 KB: five retrieved payloads with their texts, and two citations. Half of the
replies are raw text, the others parsed; a third of the lists stand in a reranker's order, one
answer in five is in segments, one in twenty a refusal. About 3 % are faulty, every fault in turn.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.audit_corpus import Corpus, Payload, encode_utf8, make_corpus, write_corpus
from benchmarks.audit_faults import FAULTS, Draft, Fault, fault_of, other_section, said
from benchmarks.generate import remark

QUESTIONS = 2_000
RETRIEVED = 5


def make_traces(traces: int, corpus: Corpus, faults: tuple[Fault, ...]) -> Iterator[str]:
    rng = Random("audited traces")
    for number in range(traces):
        yield encode_utf8(make_trace(number, corpus, fault_of(number, faults), rng))


def make_trace(number: int, corpus: Corpus, fault: Fault | None, rng: Random) -> Payload:
    retrieved = retrieve(corpus, rng, reranked=rng.random() < 1 / 3)
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
