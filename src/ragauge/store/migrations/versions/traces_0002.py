"""Log lines of a serving system, one a question and segment."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0002"
down_revision = "0001"

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")
_ORDERED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "rag_traces",
        sa.Column("run", sa.Text, nullable=False),
        sa.Column("qid", sa.Text, nullable=False),
        sa.Column("seg", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("ts", _ORDERED, nullable=False),
        sa.Column("deltaS", sa.Float(53)),
        sa.Column("lambda_state", sa.Text),
        sa.Column("k", sa.Integer),
        sa.Column("store", sa.Text),
        sa.Column("index_hash", sa.Text),
        sa.Column("embed_model", sa.Text),
        sa.Column("analyzer", sa.Text),
        sa.Column("section_id", sa.Text),
        sa.Column("rev", sa.Text),
        sa.Column("citations", _JSON, nullable=False),
        sa.Column("scores", _JSON, nullable=False),
        sa.Column("kpos", _JSON, nullable=False),
        sa.Column("kfinal", _JSON, nullable=False),
        sa.PrimaryKeyConstraint("run", "qid", "seg"),
    )
    op.create_index("ix_rag_traces_ts", "rag_traces", ["ts"])
