"""What pages of units and questions are sorted, filtered and searched by, drawn from the rows."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "unit_keys",
        *_run(),
        sa.Column("key", sa.BigInteger, nullable=False, autoincrement=False),
        sa.Column("place", sa.Integer, nullable=False, autoincrement=False),
        sa.PrimaryKeyConstraint("run", "key", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table("packed_units", *_run(), *_packed("run"))
    op.create_table(
        "packed_gold", sa.Column("gold_sha256", sa.Text, nullable=False), *_packed("gold_sha256")
    )
    op.create_table(
        "run_words",
        *_run(),
        sa.Column("words", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run"),
    )
    # Here, not above: whoever only asks for the versions needs no numpy.
    from ragauge.store.column_filling import fill_columns

    fill_columns(op.get_bind())


def _run() -> tuple[sa.Column[int], sa.ForeignKeyConstraint]:
    column = sa.Column("run", sa.Integer, nullable=False, autoincrement=False)
    return column, sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE")


def _packed(owner: str) -> tuple[Any, ...]:
    return (
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("text", sa.Text),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint(owner, "number"),
    )
