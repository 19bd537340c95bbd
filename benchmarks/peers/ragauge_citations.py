"""Times `CitationValidator` on the sample answers: every rule, every finding, with its next step.

python -m benchmarks.peers.ragauge_citations
"""

from typing import Any

from benchmarks.peers.sample_citations import LIVE
from benchmarks.peers.timed_citations import print_costs
from ragauge import CitationValidator
from ragauge.contracts.manifest import Manifest


def main() -> None:
    hash, embed_model, analyzer, revs = LIVE
    live = Manifest(hash=hash, embedding=embed_model, text_preproc=analyzer, doc_revs=revs)
    validator = CitationValidator(live)

    def validate(answer: Any, retrieved: list[dict[str, Any]] | None) -> str:
        return validator(answer, retrieved).code

    print_costs("ragauge `CitationValidator`", validate)


if __name__ == "__main__":
    main()
