"""Every kind of record that files hold, and what a file is seen to hold."""

from __future__ import annotations

from ragauge.ingest.annotations import ANNOTATION
from ragauge.ingest.answers import ANSWER
from ragauge.ingest.fields import Shape
from ragauge.ingest.gold import CHUNK, GOLD
from ragauge.ingest.heritage import ENTRY
from ragauge.ingest.judgements import JUDGEMENT
from ragauge.ingest.labelled_items import GOLD_ITEM, PREDICTED_ITEM
from ragauge.ingest.linked.crosswalk import PAIR
from ragauge.ingest.linked.knowledge_base import KNOWN_ENTITY
from ragauge.ingest.linked.link_files import LINK
from ragauge.ingest.questions import ASKED
from ragauge.ingest.scored.samples import SAMPLE
from ragauge.ingest.traces import TRACE

SHAPES: tuple[Shape, ...] = (
    *(TRACE, GOLD, CHUNK, ANSWER, ASKED, SAMPLE, ENTRY, JUDGEMENT, ANNOTATION),
    *(GOLD_ITEM, PREDICTED_ITEM, LINK, PAIR, KNOWN_ENTITY),
)
"""In the order of the reference page."""
