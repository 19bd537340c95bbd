"""A history brought to the newest version, step by step, inside the caller's transaction."""

from __future__ import annotations

from pathlib import Path

from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from ragauge.store.tables import VERSION_TABLE


def scripts() -> ScriptDirectory:
    """The migrations that come with this Ragauge."""
    return ScriptDirectory(
        str(Path(__file__).parent), version_locations=[str(Path(__file__).parent / "versions")]
    )


def written_versions() -> set[str]:
    """Every version that a Ragauge up to this one has written."""
    return {step.revision for step in scripts().walk_revisions()}


def upgrade(connection: Connection, version: str | None, to: str = "head") -> None:
    """Run every migration after `version`; None is a database that holds no history yet."""
    steps = scripts()
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    with Operations.context(context):
        for step in reversed([*steps.iterate_revisions(to, version or "base")]):
            step.module.upgrade()
            context.stamp(steps, step.revision)
