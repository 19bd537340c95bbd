"""Times `jsonschema` with the published schema, and the rules by hand, on the sample answers.

python -m benchmarks.peers.jsonschema_citations
"""

from importlib.metadata import version
from typing import Any

from jsonschema import Draft202012Validator

from benchmarks.peers.plain_citations import broken_rule, joined, read, refuses, row_of
from benchmarks.peers.sample_citations import LIVE, Payload
from benchmarks.peers.timed_citations import print_costs
from ragauge.contracts.schemas import schema


def main() -> None:
    citation = Draft202012Validator(schema("citation"))

    def validate(answer: Any, retrieved: list[Payload] | None) -> str:
        reply = read(answer)
        if refuses(reply["answer"]):
            return "ok"
        chunks = joined(reply["citations"], retrieved)
        if isinstance(chunks, str):
            return chunks
        for chunk in chunks:
            for error in citation.iter_errors(chunk):
                return code_of(error)
        return broken_rule(map(row_of, chunks), chunks if retrieved is None else retrieved, LIVE)

    print_costs(f"jsonschema {version('jsonschema')}, the rules by hand", validate)


def code_of(error: Any) -> str:
    if error.validator == "required":
        lost = (name for name in error.validator_value if name not in error.instance)
        return f"missing_{next(lost)}"
    return f"bad_type_{error.path[0]}"


if __name__ == "__main__":
    main()
