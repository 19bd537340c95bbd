"""Judgements and runs that a program holds as a polars frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragauge.ingest.ranked.ranking_rows import (
    GRADES_WITHIN,
    VALUE,
    RankingRows,
    Role,
    with_source_lists,
)
from ragauge.ingest.ranked.ranking_tables import titles_of

if TYPE_CHECKING:
    import polars as pl


def rows_of_frame(name: str, frame: pl.DataFrame, role: Role, problems: list[str]) -> RankingRows:
    """The rows of a frame with query, document and grade, or query, document and score."""
    import polars as pl

    titles = titles_of(frame.columns, role)
    needed = ("query", "document", "value") if role == "qrels" else ("query", "document")
    missing = [title for title in needed if titles.count(title) != 1]
    if missing:
        own = [VALUE[role] if title == "value" else title for title in missing]
        there = ", ".join(frame.columns) or "none"
        problems += [
            f"{name}: columns: exactly one is called {title}, not so here; there are {there}"
            for title in own
        ]
        return RankingRows(name=name, frame=_empty(role))
    kept = [title for title in ("query", "document", "value", "rank", "source") if title in titles]
    plain = pl.DataFrame({title: frame.to_series(titles.index(title)) for title in kept})
    if "value" not in kept:
        plain = plain.with_columns(pl.lit(None, dtype=pl.Float64).alias("value"))
    marks = _faults(plain, role)
    _tell(name, plain, marks, problems)
    good = ~marks.select(pl.any_horizontal(pl.all())).to_series()
    strata = _strata(frame, titles) if "strata" in titles else {}
    return RankingRows(
        name=name,
        frame=_cast(plain.filter(good), role),
        line=good.arg_true().to_numpy() + 1,
        place="{name}: row {line}",
        strata=strata,
    )


def _empty(role: Role) -> pl.DataFrame:
    import polars as pl

    value = pl.Int64 if role == "qrels" else pl.Float64
    return pl.DataFrame(schema={"query": pl.String, "document": pl.String, "value": value})


def _cast(plain: pl.DataFrame, role: Role) -> pl.DataFrame:
    import polars as pl

    kinds: dict[str, Any] = {
        "query": pl.String,
        "document": pl.String,
        "value": pl.Int64 if role == "qrels" else pl.Float64,
        "rank": pl.Int64,
    }
    plain = plain.with_columns(
        pl.col(title).cast(kind, strict=False)
        for title, kind in kinds.items()
        if title in plain.columns
    )
    return with_source_lists(plain)


def _faults(plain: pl.DataFrame, role: Role) -> pl.DataFrame:
    """By field, whether a row cannot be used for it."""
    import polars as pl

    value = pl.col("value").cast(pl.Float64, strict=False)
    bad = {
        title: pl.col(title).cast(pl.String, strict=False).fill_null("").str.strip_chars() == ""
        for title in ("query", "document")
    }
    if role == "qrels":
        within = value.is_between(-GRADES_WITHIN, GRADES_WITHIN, closed="none")
        bad["grade"] = ~(within & (value == value.round())).fill_null(False)
    else:
        bad["score"] = pl.col("value").is_not_null() & ~value.is_finite().fill_null(False)
    return plain.select(mark.alias(title) for title, mark in bad.items())


_FACTS = {
    "query": "is empty; every row names its query",
    "document": "is empty; every row names its document",
    "grade": "is not a whole number within bounds; write 0, 1, 2 or 3",
    "score": "is not a finite number",
}


def _tell(name: str, plain: pl.DataFrame, marks: pl.DataFrame, problems: list[str]) -> None:
    for title in marks.columns:
        column = "value" if title in ("grade", "score") else title
        for row in marks[title].arg_true().to_list():
            given = plain[column][row]
            shown = "" if given is None else f"{given!r} "
            problems.append(f"{name}: row {row + 1}: {title}: {shown}{_FACTS[title]}")


def _strata(frame: pl.DataFrame, titles: tuple[str, ...]) -> dict[str, dict[str, str]]:
    """By query, the strata of its last row that has some."""
    columns = (frame.to_series(titles.index(title)).to_list() for title in ("query", "strata"))
    return {
        str(query): {key: str(value) for key, value in strata.items() if value is not None}
        for query, strata in zip(*columns, strict=True)
        if isinstance(strata, dict)
    }
