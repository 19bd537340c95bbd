"""The ten quality numbers as one would write them by hand: one process, `json`, a loop.

python benchmarks/stdlib_loop.py GOLD.jsonl TRACES.jsonl

Every trace is a row, as under `ragauge score --each trace`. It is the time to beat and the twin
that proves the numbers, so it is kept plain. Gold questions without a trace are not counted.
"""

import argparse
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Outcome = tuple[str, bool]

METRICS = (
    "precision_cited",
    "precision_strict",
    "under_refusal",
    "over_refusal",
    "citation_hit_rate",
    "chr_shipped",
    "compliance",
    "claim_containment",
    "out_of_scope",
    "gold_retrieved@5",
)
REFUSAL = "not in context"
SHORT_PHRASE = 5
CITATIONS = re.compile(r"citations\s*:(.*)", re.IGNORECASE)
CLAIM_LABEL = re.compile(r"\s*-?\s*claim\s*:", re.IGNORECASE)


class CanonicalCharacters(dict[int, str]):
    """What each character becomes, worked out once, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        if category == "Pd":
            self[code] = " "
        else:
            self[code] = "" if category[0] in "PS" else chr(code)
        return self[code]


CANONICAL_CHARACTERS = CanonicalCharacters()


def canonical(text: str) -> str:
    """The text as it is compared.

    >>> canonical("Opened-in  \u201c\uff11\uff18\uff17\uff14\u201d, by the Stra\u00dfe.")
    'opened in 1874 by the strasse'
    """
    # Case folding can undo NFKC (U+0345 becomes a letter), hence the second time.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.translate(CANONICAL_CHARACTERS).split())


def contains(claim: str, phrase: str) -> bool:
    """Whether a canonical claim holds a canonical phrase; short ones only as whole words.

    >>> contains("many eyes", "yes"), contains("yes it is", "yes"), contains("it opened", "opened")
    (False, True, True)
    """
    if len(phrase) < SHORT_PHRASE:
        return f" {phrase} " in f" {claim} "
    return phrase in claim


def is_refusal(text: str) -> bool:
    """Whether the whole text is the refusal.

    >>> is_refusal(" Not  in context "), is_refusal("Not in context.")
    (True, False)
    """
    return " ".join(text.casefold().split()) == REFUSAL


def answer_text(trace: Record) -> str:
    """The claim of a structured answer, or else the whole answer; empty where there is none."""
    if trace.get("answer_json"):
        return trace["answer_json"].get("claim") or ""
    return trace.get("answer") or ""


def claim_of(text: str) -> str:
    """The answer without its label and its list of citations.

    >>> claim_of("- claim: X is a mapping.\\n- citations: [p1#1]")
    'X is a mapping.'
    """
    before_citations = CITATIONS.split(text)[0].rstrip("- \n")
    return CLAIM_LABEL.sub("", before_citations, count=1).strip()


def citations_of(trace: Record) -> list[str]:
    """The cited ids, from the field if there is one, else from the text."""
    fields = trace.get("answer_json") or trace
    if fields.get("citations") is not None:
        return fields["citations"]
    return citations_in(answer_text(trace))


def citations_in(text: str) -> list[str]:
    """The ids listed after every `citations:` of a text.

    >>> citations_in("- claim: X.\\n- citations: [p1#1, 'p2#4'; p3#1]")
    ['p1#1', 'p2#4', 'p3#1']
    """
    lists = " ".join(CITATIONS.findall(text))
    ids = (word.strip("[](){}\"'`") for word in re.split(r"[,;\s]+", lists))
    return [name for name in ids if name]


def retrieved_of(trace: Record) -> list[str] | None:
    """The retrieved ids in order, or None where the trace does not say."""
    if trace.get("retrieved_ids") is not None:
        return trace["retrieved_ids"]
    if trace.get("chunks") is not None:
        return [chunk["id"] for chunk in trace["chunks"]]
    return None


def outcomes(gold: Record, trace: Record) -> Iterator[Outcome]:
    """Each metric whose denominator the trace belongs to, and whether it is in the numerator."""
    answerable = gold["answerable"]
    text = answer_text(trace)
    if trace.get("status") == "error" or not text.strip():
        yield from error_outcomes(answerable)
        return
    refused = is_refusal(text)
    cited = citations_of(trace)
    hit = answerable and not refused and bool(set(cited) & set(gold["gold_citations"]))
    contained = answerable and not refused and claim_is_right(gold, text)
    retrieved = retrieved_of(trace)
    yield "compliance", bool(cited) or refused
    if answerable:
        yield "over_refusal", refused
        yield "citation_hit_rate", hit
        yield "claim_containment", contained
    else:
        yield "under_refusal", not refused
    if not refused:
        yield "precision_cited", hit
    if not refused and answerable:
        yield "chr_shipped", hit
    if not refused and retrieved is not None:
        in_scope = set(cited) <= set(retrieved)
        yield "precision_strict", hit and in_scope and contained
        yield "out_of_scope", not in_scope
    if answerable and retrieved is not None:
        yield "gold_retrieved@5", set(gold["gold_citations"]) <= set(retrieved[:5])


def error_outcomes(answerable: bool) -> Iterator[Outcome]:
    """An error counts against the two metrics that a failing system must not escape."""
    yield "compliance", False
    if answerable:
        yield "citation_hit_rate", False


def claim_is_right(gold: Record, text: str) -> bool:
    claim = canonical(claim_of(text))
    return any(contains(claim, phrase) for phrase in gold["canonical_phrases"])


def read_gold(path: Path) -> dict[str, Record]:
    """The gold records by qid and by question, since a trace may carry either."""
    gold = {}
    for record in read_records(path):
        record["canonical_phrases"] = [canonical(phrase) for phrase in record["gold_claim_substr"]]
        gold[record["qid"]] = gold[question_key(record["question"])] = record
    return gold


def read_records(path: Path) -> Iterator[Record]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        yield from map(json.loads, lines)


def question_key(question: str) -> str:
    return unicodedata.normalize("NFC", question.strip())


def gold_for(trace: Record, gold: dict[str, Record]) -> Record:
    return gold[trace["qid"]] if "qid" in trace else gold[question_key(trace["q"])]


def score(gold_path: Path, traces_path: Path) -> dict[str, list[int]]:
    """Numerator and denominator of each metric."""
    gold = read_gold(gold_path)
    counts = {metric: [0, 0] for metric in METRICS}
    for trace in read_records(traces_path):
        for metric, counted in outcomes(gold_for(trace, gold), trace):
            counts[metric][0] += counted
            counts[metric][1] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gold", type=Path)
    parser.add_argument("traces", type=Path)
    arguments = parser.parse_args()
    print(json.dumps(score(arguments.gold, arguments.traces)))


if __name__ == "__main__":
    main()
