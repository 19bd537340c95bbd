"""What models replied, by the hash of all that was asked."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "judge_replies",
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("reply", sa.LargeBinary, nullable=False),
    )
