"""Times pydantic models with the payload's fields, and the rules by hand, on the sample answers.

python -m benchmarks.peers.pydantic_citations

In an environment of its own: neither ragauge nor its dependencies are wanted here.
"""

from operator import attrgetter
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic import __version__ as version

from benchmarks.peers.plain_citations import broken_rule, refuses
from benchmarks.peers.sample_citations import LIVE, SAID, Payload
from benchmarks.peers.timed_citations import print_costs

Name = Annotated[str, StringConstraints(pattern=r"\S")]
Count = Annotated[int, Field(ge=0)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class Record(BaseModel):
    """Types are not coerced, as `CitationValidator` does not either."""

    model_config = ConfigDict(strict=True, frozen=True)


class Offsets(Record):
    start: Count
    end: Count
    unit: Literal["char", "token"] = "char"


class Window(Record):
    pre: Count
    post: Count


class ModelCitation(Record):
    snippet_id: Name
    section_id: Name
    source_url: Name
    offsets: Offsets
    tokens: Count


class Citation(ModelCitation):
    doc_id: Name
    index_hash: Name
    embed_model: Name
    analyzer: Name
    rev: Name
    window: Window | None = None
    page: int | None = None
    score_raw: Finite | None = None
    score_norm: Share | None = None
    rerank_score: Finite | None = None
    k_pos: Count | None = None
    k_final: Count | None = None


class Reply(Record):
    citations: list[ModelCitation]
    answer: str


class WholeReply(Record):
    citations: list[Citation]
    answer: str


row_of = attrgetter(
    *("doc_id", "section_id", "snippet_id", "offsets.start", "offsets.end", "offsets.unit"),
    *("index_hash", "embed_model", "analyzer", "rev"),
    *("score_raw", "score_norm", "k_pos", "k_final"),
)
said = attrgetter(*SAID)


def validate(answer: Any, retrieved: list[Payload] | None) -> str:
    kind = WholeReply if retrieved is None else Reply
    try:
        raw = isinstance(answer, str)
        reply = kind.model_validate_json(answer) if raw else kind.model_validate(answer)
        if refuses(reply.answer):
            return "ok"
        if retrieved is None:
            return broken_rule(map(row_of, reply.citations), answer["citations"], LIVE)
        return joined_verdict(reply.citations, retrieved)
    except ValidationError as error:
        return code_of(error)


def joined_verdict(citations: list[ModelCitation], retrieved: list[Payload]) -> str:
    known = {chunk["snippet_id"]: chunk for chunk in retrieved}
    found = []
    for one in citations:
        chunk = known.get(one.snippet_id)
        if chunk is None:
            return "not_retrieved"
        whole = Citation.model_validate(chunk)
        if said(whole) != said(one):
            return "mismatch"
        found.append(whole)
    return broken_rule(map(row_of, found), retrieved, LIVE)


def code_of(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    kind = "missing" if first["type"] == "missing" else "bad_type"
    return f"{kind}_{first['loc'][-1]}"


if __name__ == "__main__":
    print_costs(f"pydantic {version}, the rules by hand", validate)
