"""Every kind of record that files hold, in the order of the reference page."""

from __future__ import annotations

from ragauge.ingest.fields import Shape
from ragauge.ingest.gold import CHUNK, GOLD
from ragauge.ingest.heritage import ENTRY
from ragauge.ingest.judgements import JUDGEMENT
from ragauge.ingest.linked.knowledge_base import KNOWN_ENTITY
from ragauge.ingest.traces import TRACE

SHAPES: tuple[Shape, ...] = (TRACE, GOLD, CHUNK, ENTRY, JUDGEMENT, KNOWN_ENTITY)
