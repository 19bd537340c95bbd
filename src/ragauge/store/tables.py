"""The tables of a history, the same on SQLite and PostgreSQL.

Each value is sealed: it is hashed, drawn from what is hashed, or has a seal of its own, so that
`runs verify` sees a change. `rag_traces` and `judge_replies` belong to no run and have no seals.

What is hashed is kept as the text that was hashed (`document`, `line`); the other columns are
drawn from it, for queries. PostgreSQL's JSONB may not be that text: it writes 1e22 as an integer,
drops the sign of -0.0 and refuses U+0000.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

VERSION_TABLE = "ragauge_version"
HEAD = "0007"
"""The newest migration; read here, so that a history that is up to date never loads Alembic."""

metadata = MetaData()

_JSON = JSON().with_variant(JSONB(), "postgresql")
_ORDERED = Text().with_variant(Text(collation="C"), "postgresql")
"""Text in the order of its bytes, whatever language the server sorts by."""


def _of_a_run(*, key: bool = True) -> Column[int]:
    return Column(
        "run",
        ForeignKey("runs.number", ondelete="CASCADE"),
        primary_key=key,
        nullable=False,
        autoincrement=False,
    )


runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("id", _ORDERED, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("command", Text, nullable=False),
    Column("recorded_at", _ORDERED, nullable=False, index=True),
    Column("passed", Boolean, nullable=False),
    Column("git_commit", Text),
    Column("git_branch", Text),
    Column("gold_sha256", Text, index=True),
    Column("configuration_sha256", Text, nullable=False),
    Column("document", Text, nullable=False),
)

run_labels = Table(
    "run_labels",
    metadata,
    _of_a_run(),
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Index("ix_run_labels_key_value", "key", "value"),
)

run_metrics = Table(
    "run_metrics",
    metadata,
    _of_a_run(),
    Column("metric", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("better", Text, nullable=False),
    Column("total", Text, nullable=False),
    Column("value", Float(53)),
    Column("low", Float(53)),
    Column("high", Float(53)),
    Column("n", BigInteger, nullable=False),
    Column("of", BigInteger, nullable=False),
    Column("reason", Text),
    Column("signature", Text, nullable=False),
    Index("ix_run_metrics_metric", "metric"),
)

run_units = Table(
    "run_units",
    metadata,
    _of_a_run(),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("unit", Text, nullable=False),
    Column("label", Text),
    Column("right", Boolean),
    Column("values", _JSON, nullable=False),
    Column("line", Text, nullable=False),
    Index("ix_run_units_run_label", "run", "label"),
)

unit_keys = Table(
    "unit_keys",
    metadata,
    _of_a_run(),
    Column("key", BigInteger, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)
"""Where a unit stands in its run, by the hash of its id: an id may be longer than a server lets
the text of an index be."""


def _packed(*owner: Column[Any]) -> tuple[Column[Any], ...]:
    return (
        *owner,
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("kind", Text, nullable=False),
        Column("name", Text, nullable=False),
        Column("text", Text),
        Column("content", LargeBinary, nullable=False),
    )


packed_units = Table("packed_units", metadata, *_packed(_of_a_run()))
"""What the units of a run are sorted and filtered by, a column a row: a few bytes a unit, where
the rows themselves are a thousand and more. `store/column_filling.py` says how they are packed."""

run_words = Table(
    "run_words",
    metadata,
    _of_a_run(),
    Column("words", Text, nullable=False),
)
"""What a run is searched by, in one case."""

tags = Table(
    "tags",
    metadata,
    Column("tag", Text, primary_key=True),
    _of_a_run(key=False),
    Column("seal", Text),
    Index("ix_tags_run", "run"),
)

regressions = Table(
    "regressions",
    metadata,
    _of_a_run(),
    Column("baseline", _ORDERED, primary_key=True),
    Column("seal", Text),
)
"""Runs that a gated comparison failed. The baseline is an id, whose run may be removed since."""

gold_questions = Table(
    "gold_questions",
    metadata,
    Column("gold_sha256", Text, primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("qid", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("answerable", Boolean, nullable=False),
    Column("line", Text, nullable=False),
)

packed_gold = Table(
    "packed_gold", metadata, *_packed(Column("gold_sha256", Text, primary_key=True))
)
"""As `packed_units`, of the questions of a gold set."""

run_files = Table(
    "run_files",
    metadata,
    _of_a_run(),
    Column("name", Text, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
)

file_pieces = Table(
    "file_pieces",
    metadata,
    _of_a_run(),
    Column("name", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)
"""Empty on SQLite, whose files stand in a folder beside it."""

rag_traces = Table(
    "rag_traces",
    metadata,
    Column("run", Text, primary_key=True),
    Column("qid", Text, primary_key=True),
    Column("seg", Integer, primary_key=True, autoincrement=False),
    Column("ts", _ORDERED, nullable=False),
    Column("deltaS", Float(53)),
    Column("lambda_state", Text),
    Column("k", Integer),
    Column("store", Text),
    Column("index_hash", Text),
    Column("embed_model", Text),
    Column("analyzer", Text),
    Column("section_id", Text),
    Column("rev", Text),
    Column("citations", _JSON, nullable=False),
    Column("scores", _JSON, nullable=False),
    Column("kpos", _JSON, nullable=False),
    Column("kfinal", _JSON, nullable=False),
    Index("ix_rag_traces_ts", "ts"),
)
"""Log lines of a serving system; `run` is whatever it calls its run."""

judge_replies = Table(
    "judge_replies",
    metadata,
    Column("key", Text, primary_key=True),
    Column("reply", LargeBinary, nullable=False),
)
"""What models replied, by the hash of all that was asked; of no run, so that all share them."""
