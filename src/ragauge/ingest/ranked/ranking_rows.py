"""Rows of judgements or of a run, column by column, whatever file they came from."""

from __future__ import annotations

import math
import numbers
import re
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field

from ragauge.contracts.report import Findings
from ragauge.ingest.fields import BadField, expected, number, quoted, whole

if TYPE_CHECKING:
    import polars as pl

    from ragauge.contracts.metric import Array

Role = Literal["qrels", "run"]
VALUE: dict[Role, str] = {"qrels": "grade", "run": "score"}
"""What the number of a row is called."""
GRADES_WITHIN = 1 << 31

_WRITE = "write 0, 1, 2 or 3"
_WHOLE = re.compile(r"[+-]?[0-9]+", re.ASCII)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)


class RankingRows(Struct, frozen=True, kw_only=True):
    """Documents of queries, a row each, in the order they were given."""

    name: str
    frame: pl.DataFrame
    """query, document and value: the grade, or the score (null where the order is the ranking);
    for a run perhaps rank and source: a list of those that brought the document."""
    line: Array | None = None
    """Where each row stands; None where every line has one."""
    first_line: int = 1
    place: str = "{name}:{line}"
    strata: dict[str, dict[str, str]] = field(default_factory=dict)
    """By query, where the records tell."""
    empty: tuple[str, ...] = ()
    """Queries that were given without a document."""
    findings: Findings = field(default_factory=Findings)
    """What reading them showed."""
    form: str | None = None
    """The input format of the file they were read from; None where there was no file."""

    def line_of(self, row: int) -> int:
        return self.first_line + row if self.line is None else int(self.line[row])

    def where(self, row: int) -> str:
        """The place of a row, as a finding names it."""
        return self.place.format(name=self.name, line=self.line_of(row))


class RowsRead:
    """Rows as a careful reader meets them, one by one."""

    def __init__(self, role: Role) -> None:
        self.role: Role = role
        self.strata: dict[str, dict[str, str]] = {}
        self.empty: list[str] = []
        self.findings = Findings()
        self.listed: dict[str, str] = {}
        """By query, where its list of results stands."""
        self._rows: list[tuple[Any, ...]] = []

    def add(
        self,
        query: str,
        document: str,
        value: float | None,
        line: int,
        rank: int | None = None,
        source: list[str] | None = None,
    ) -> None:
        self._rows.append((query, document, value, rank, source, line))

    def rows(self, name: str, place: str = "{name}:{line}") -> RankingRows:
        """All of them, as columns; a rank and a source only where some row has one."""
        import polars as pl

        schema = {**kinds(self.role), "source": pl.List(pl.String), "line": pl.Int64}
        frame = pl.DataFrame(self._rows, schema=schema, orient="row")
        unused = [name for name in ("rank", "source") if not frame[name].count()]
        return RankingRows(
            name=name,
            frame=frame.drop("line", *unused),
            line=frame["line"].to_numpy(),
            place=place,
            strata=self.strata,
            empty=tuple(self.empty),
            findings=self.findings,
        )


def kinds(role: Role) -> dict[str, Any]:
    """The columns of rows with their types, without the sources."""
    import polars as pl

    value = pl.Int64 if role == "qrels" else pl.Float64
    return {"query": pl.String, "document": pl.String, "value": value, "rank": pl.Int64}


def with_source_lists(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows with a list of texts for the sources, where each names one or lists several."""
    import polars as pl

    if "source" not in frame.columns:
        return frame
    if isinstance(frame.schema["source"], pl.List | pl.Array):
        listed = pl.col("source").cast(pl.List(pl.String), strict=False)
    else:
        listed = pl.concat_list(pl.col("source").cast(pl.String, strict=False))
    return frame.with_columns(listed.alias("source"))


def number_of(given: Any, role: Role, *, cell: bool = False) -> float | None:
    """The grade or the score, of a cell from its text; only a result may lack one."""
    if given is None and role == "run":
        return None
    if isinstance(given, numbers.Number) and not isinstance(given, int | float):
        given = given.item() if hasattr(given, "item") else given  # numpy's, from a program
    if not cell:
        found = number(given, "score") if role == "run" else _grade(given)
    elif role == "run":
        found = float(given) if _NUMBER.fullmatch(given) else math.nan
        if not math.isfinite(found):
            fact = f"{quoted(given)} is not a finite number; write such as 12.5"
            raise BadField("score", fact)
    elif not _WHOLE.fullmatch(given):
        raise BadField("grade", f"{quoted(given)} is not a whole number; {_WRITE}")
    else:
        found = _grade(int(given) if len(given) <= 12 else GRADES_WITHIN, shown=quoted(given))
    return found if role == "qrels" else float(found)


def _grade(given: Any, shown: str | None = None) -> int:
    if given is None:
        raise BadField("grade", f"missing; {_WRITE}")
    grade = whole(given, "grade")
    if not -GRADES_WITHIN < grade < GRADES_WITHIN:
        raise BadField("grade", f"{shown or grade} is out of range; {_WRITE}")
    return grade


def rank_of(written: str) -> int | None:
    """The rank a cell holds, None where it holds something else: it never decides the order of
    scored rows."""
    return int(written) if _WHOLE.fullmatch(written) and len(written) < 18 else None


def id_of(value: Any, field: str) -> str:
    """An id: text, or a whole number as many tools write it."""
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise BadField(field, expected("an id", value))
    if not value.strip():
        raise BadField(field, "is empty; every row names its query and its document")
    return value
