"""Runs with their labels, metrics, units, tags, gold sets and files."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0001"
down_revision = None

_JSON = sa.JSON().with_variant(JSONB(), "postgresql")
_ORDERED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    _runs()
    _parts_of_runs()
    _units()
    _gold_questions()
    _files()


def _run() -> tuple[sa.Column[int], sa.ForeignKeyConstraint]:
    column = sa.Column("run", sa.Integer, nullable=False, autoincrement=False)
    return column, sa.ForeignKeyConstraint(["run"], ["runs.number"], ondelete="CASCADE")


def _runs() -> None:
    op.create_table(
        "runs",
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", _ORDERED, nullable=False, unique=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("command", sa.Text, nullable=False),
        sa.Column("recorded_at", _ORDERED, nullable=False),
        sa.Column("passed", sa.Boolean, nullable=False),
        sa.Column("git_commit", sa.Text),
        sa.Column("git_branch", sa.Text),
        sa.Column("gold_sha256", sa.Text),
        sa.Column("configuration_sha256", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
    op.create_index("ix_runs_recorded_at", "runs", ["recorded_at"])
    op.create_index("ix_runs_gold_sha256", "runs", ["gold_sha256"])


def _parts_of_runs() -> None:
    op.create_table(
        "run_labels",
        *_run(),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("value", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "key"),
    )
    op.create_index("ix_run_labels_key_value", "run_labels", ["key", "value"])
    op.create_table(
        "run_metrics",
        *_run(),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("better", sa.Text, nullable=False),
        sa.Column("total", sa.Text, nullable=False),
        sa.Column("value", sa.Float(53)),
        sa.Column("low", sa.Float(53)),
        sa.Column("high", sa.Float(53)),
        sa.Column("n", sa.BigInteger, nullable=False),
        sa.Column("of", sa.BigInteger, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("signature", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "metric"),
    )
    op.create_index("ix_run_metrics_metric", "run_metrics", ["metric"])
    op.create_table("tags", sa.Column("tag", sa.Text, primary_key=True), *_run())
    op.create_index("ix_tags_run", "tags", ["run"])


def _units() -> None:
    op.create_table(
        "run_units",
        *_run(),
        sa.Column("place", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("unit", sa.Text, nullable=False),
        sa.Column("label", sa.Text),
        sa.Column("right", sa.Boolean),
        sa.Column("values", _JSON, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("run", "place"),
    )
    op.create_index("ix_run_units_run_label", "run_units", ["run", "label"])


def _gold_questions() -> None:
    op.create_table(
        "gold_questions",
        sa.Column("gold_sha256", sa.Text, nullable=False),
        sa.Column("place", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("qid", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("answerable", sa.Boolean, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("gold_sha256", "place"),
    )


def _files() -> None:
    op.create_table(
        "run_files",
        *_run(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("run", "name"),
    )
    op.create_table(
        "file_pieces",
        *_run(),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("run", "name", "number"),
    )
