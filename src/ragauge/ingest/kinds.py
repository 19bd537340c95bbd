"""Every kind of record that files hold, in the order of the reference page."""

from __future__ import annotations

from ragauge.ingest.answers import ANSWER
from ragauge.ingest.fields import Shape
from ragauge.ingest.gold import CHUNK, GOLD
from ragauge.ingest.heritage import ENTRY
from ragauge.ingest.judgements import JUDGEMENT
from ragauge.ingest.linked.knowledge_base import KNOWN_ENTITY
from ragauge.ingest.questions import ASKED
from ragauge.ingest.scored.samples import SAMPLE
from ragauge.ingest.traces import TRACE

SHAPES: tuple[Shape, ...] = (
    *(TRACE, GOLD, CHUNK, ANSWER, ASKED, SAMPLE, ENTRY, JUDGEMENT, KNOWN_ENTITY),
)
