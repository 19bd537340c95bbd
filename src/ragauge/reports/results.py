"""The methods of reports: `contracts.report.Report` calls the functions here."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from ragauge.contracts.report import Report, RunReport, Score, UnitRows
from ragauge.errors import UsageError
from ragauge.gates.rules import is_quality
from ragauge.metrics.names import leading, metric_id
from ragauge.reports import document as doc
from ragauge.reports.formats.html import write_blocks
from ragauge.reports.phrasing import gate_sentence, interval, short_names, value, verdict_word
from ragauge.reports.rendering import format_of, render
from ragauge.store.files import write_whole
from ragauge.text.visible import flat

if TYPE_CHECKING:
    import polars as pl

HEADLINES = 5  # metrics that one line shows
ROWS = 40  # metrics that a notebook shows; the table has them all


def score_of(report: Report, name: str) -> Score:
    """The score of a metric, by its id or short name; raises KeyError with a similar name."""
    listed = f"there are {', '.join(short_names(report.metrics).values()) or 'none'}"
    unknown = f'this report has no metric "{name}"'
    try:
        return report.metrics[metric_id(str(name), report.metrics, unknown=unknown, listed=listed)]
    except UsageError as error:
        raise KeyError(str(error)) from None


def require_pass(report: Report) -> None:
    """Raise AssertionError with the gates that do not hold, unless the report passed."""
    if report.passed:
        return
    gates = report.verdicts
    stopped = [gate for gate in gates if not gate.holds]
    word = verdict_word(report.passed, gates)
    names = short_names(gate.metric for gate in gates)
    lines = [f"{type(report).__name__}: {word}"]
    if report.passed is None:
        lines[0] += "; a report passes only where a gate on quality holds"
    if stopped:
        lines[0] += f": {len(stopped)} of {len(gates)} gates do not hold"
        lines += [gate_sentence(gate, names[gate.metric]) for gate in stopped]
    elif report.passed is False:
        lines += [f"{code}: {times:,}" for code, times in report.finding_counts.items()]
    raise AssertionError("\n  ".join(map(flat, lines)))


def summary_line(report: Report) -> str:
    """The verdict and the headline numbers."""
    names = short_names(report.metrics)
    shown = [
        " ".join(filter(None, (names[id], value(score.value), interval(score.ci))))
        for id, score in _by_weight(report)
        if score.value is not None
    ][:HEADLINES]
    parts = [verdict_word(report.passed, report.verdicts), *shown]
    more = len(report.metrics) - len(shown)
    parts += [f"{more:,} more"] if more and shown else []
    return f"<{type(report).__name__} {flat(', '.join(parts))}>"


def _by_weight(report: Report) -> Iterator[tuple[str, Score]]:
    """The metrics of gates on quality, then the headline metrics, then the others."""
    first = [gate.metric for gate in report.verdicts if is_quality(gate)]
    command = str(report.identity.get("command", "")) if isinstance(report, RunReport) else ""
    for id in dict.fromkeys([*first, *leading(report.metrics, command), *report.metrics]):
        if id in report.metrics:
            yield id, report.metrics[id]


def html(report: Report) -> str:
    """The verdict, gates and metrics for a notebook, without scripts or a style sheet."""
    gates, scores = report.verdicts, dict(_by_weight(report))
    names = short_names([*scores, *(gate.metric for gate in gates)])
    word = doc.Span(verdict_word(report.passed, gates), "strong")
    first = doc.scores(dict(islice(scores.items(), ROWS)), names, title="Metrics")
    more = {"total": len(scores), "everything": "`.to_polars()` has them"}
    tables = [*doc.gates(gates, report.metrics, names), structs.replace(first, **more)]
    # Plots have no size without a style sheet, and what a narrow page puts below is not hidden.
    plain = [
        structs.replace(
            doc.select_columns(
                one, [at for at, column in enumerate(one.columns) if not column.plot]
            ),
            below=False,
        )
        for one in tables
    ]
    return str(write_blocks([doc.Text([word, doc.Span(f" {type(report).__name__}")]), *plain]))


def markdown(report: Report) -> str:
    return render(report, "markdown")


def save(report: Report, path: str | Path) -> Path:
    """Write the report atomically, in the format of the file's extension."""
    file = Path(path)
    write_whole(file, render(report, format_of(file, type(report))).encode())
    return file


def metrics_frame(report: Report) -> pl.DataFrame:
    """A row for each metric."""
    import polars as pl

    rows = [
        (id, one.value, *(one.ci or (None, None)), one.n, one.of, one.reason, one.signature)
        for id, one in report.metrics.items()
    ]
    text, number, count = pl.String, pl.Float64, pl.Int64
    heads = ("metric", "value", "ci_low", "ci_high", "n", "of", "reason", "signature")
    kinds = (text, number, number, number, count, count, text, text)
    return pl.DataFrame(rows, schema=dict(zip(heads, kinds, strict=True)), orient="row")


def units_frame(units: UnitRows) -> pl.DataFrame:
    """A row for each unit: its label, its details, and its value of each metric, null if absent."""
    import polars as pl

    columns: dict[str, Any] = {**units.details, "label": units.labels, "right": units.right}
    details = [pl.Series(name, list(column), strict=False) for name, column in columns.items()]
    values = [pl.Series(id, one.values).fill_nan(None) for id, one in units.measured.items()]
    return pl.DataFrame([pl.Series("unit", list(units.ids), pl.String), *details, *values])


def to_pandas(frame: pl.DataFrame) -> Any:
    """The same as a pandas DataFrame; raises UsageError where pandas is not installed."""
    try:
        pandas = import_module("pandas")  # not one of our dependencies
    except ImportError:
        fact = "pandas is not installed; install it (pip install pandas) or use .to_polars()"
        raise UsageError(fact) from None
    return pandas.DataFrame(frame.to_dict(as_series=False))
