"""Every kind of record that files hold, in the order of the reference page."""

from __future__ import annotations

from ragauge.ingest.annotations import ANNOTATION
from ragauge.ingest.fields import Shape
from ragauge.ingest.gold import CHUNK, GOLD
from ragauge.ingest.heritage import ENTRY
from ragauge.ingest.judgements import JUDGEMENT
from ragauge.ingest.labelled_items import GOLD_ITEM, PREDICTED_ITEM
from ragauge.ingest.linked.crosswalk import PAIR
from ragauge.ingest.linked.knowledge_base import KNOWN_ENTITY
from ragauge.ingest.linked.link_files import LINK
from ragauge.ingest.traces import TRACE

SHAPES: tuple[Shape, ...] = (
    *(TRACE, GOLD, CHUNK, ENTRY, JUDGEMENT, ANNOTATION, GOLD_ITEM, PREDICTED_ITEM),
    *(LINK, PAIR, KNOWN_ENTITY),
)
