"""Ids and questions in the order people count: what pages are sorted by is drawn again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    from ragauge.store.column_filling import fill_columns

    for table in ("unit_keys", "packed_units", "packed_gold", "run_words"):
        op.get_bind().execute(sa.delete(sa.table(table)))
    fill_columns(op.get_bind())
