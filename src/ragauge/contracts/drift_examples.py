"""A manifest and a drift report as they look."""

from __future__ import annotations

from ragauge.contracts.drift import ComparedManifest, Difference, DriftCoverage, DriftReport
from ragauge.contracts.finding import Finding
from ragauge.contracts.manifest import Manifest

MANIFEST = Manifest(
    index_type="faiss-flat",
    metric="cosine",
    embedding="bge-large-en-v1.5:mean",
    chunker={"name": "sections", "most_words": 200},
    text_preproc="lowercase+ascii_fold",
    doc_revs={"handbook_2024": "3b91f2a"},
    chunks=412,
    hash="2f7d9a",
)

_FOLLOWS = "Its old citations are stale: they point into the revision that was."
_TIP = "Cite it anew, and keep the old revision frozen as long as old answers are checked."

DRIFT = DriftReport(
    passed=False,
    was=ComparedManifest(name="old.json", hash=None, documents=2),
    now=ComparedManifest(name="new.json", hash="2f7d9a", documents=2),
    differences=(
        Difference(
            code="document_changed",
            field="doc_revs",
            doc_id="handbook_2024",
            was="9c04e17",
            now="3b91f2a",
            follows=_FOLLOWS,
            tip=_TIP,
        ),
    ),
    difference_count=1,
    findings=(
        Finding(
            "document_changed",
            "new.json: document handbook_2024",
            f"was 9c04e17, is 3b91f2a. {_FOLLOWS} {_TIP}",
        ),
    ),
    finding_counts={"document_changed": 1},
    coverage=DriftCoverage(compared=("doc_revs",), untold=("hash",), documents=2, same=1),
)
