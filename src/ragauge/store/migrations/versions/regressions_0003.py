"""Runs that a gated comparison failed, with the baseline each was compared with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_ORDERED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "regressions",
        sa.Column("run", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("baseline", _ORDERED, nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run", "baseline"),
    )
