"""Tags and marks sealed, so that one that was changed by hand is seen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    from ragauge.store.recorded import seal_of_mark

    connection = op.get_bind()
    runs = sa.table("runs", sa.column("number"), sa.column("id"))
    ids = {row.number: row.id for row in connection.execute(sa.select(runs))}
    for name, marked in (("tags", "tag"), ("regressions", "baseline")):
        op.add_column(name, sa.Column("seal", sa.Text))
        rows = sa.table(name, sa.column("run"), sa.column(marked), sa.column("seal"))
        for row in connection.execute(sa.select(rows)).mappings().all():
            seal = seal_of_mark(ids[row["run"]], row[marked])
            which = (rows.c.run == row["run"]) & (rows.c[marked] == row[marked])
            connection.execute(sa.update(rows).where(which).values(seal=seal))
