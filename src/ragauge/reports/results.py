"""What the methods of a report do: `contracts.report.Report` finds them here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.contracts.report import Report, RunReport, Score, UnitRows
from ragauge.contracts.verdict import Verdict
from ragauge.errors import UsageError
from ragauge.gates.decide import is_quality
from ragauge.metrics.headlines import leading
from ragauge.metrics.names import metric_id
from ragauge.reports.envelope import gate_note, gate_word, short_names, verdict_word
from ragauge.reports.foreign import flat
from ragauge.reports.forms import form_of, render
from ragauge.reports.numbers import bound, interval, n_of, value, value_beside
from ragauge.store.files import write_whole

if TYPE_CHECKING:
    import polars as pl

HEADLINES = 5
"""Metrics that one line shows."""
ROWS = 40
"""Metrics that a notebook shows; the table has them all."""


def score_of(report: Report, name: str) -> Score:
    """The score of a metric, by its id or its short name; raises KeyError with what is near."""
    listed = f"there are {', '.join(short_names(report.metrics).values()) or 'none'}"
    unknown = f'this report has no metric "{name}"'
    try:
        return report.metrics[metric_id(str(name), report.metrics, unknown=unknown, listed=listed)]
    except UsageError as error:
        raise KeyError(str(error)) from None


def demand_pass(report: Report) -> None:
    """Raise AssertionError with each gate that does not hold, unless the report passed."""
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
        lines += [f"{_gate(gate, names[gate.metric])}" for gate in stopped]
    elif report.passed is False:
        lines += [f"{code}: {times:,}" for code, times in report.finding_counts.items()]
    raise AssertionError("\n  ".join(map(flat, lines)))


def _gate(gate: Verdict, name: str) -> str:
    """A gate with its value, its interval, its bound, and why it was not evaluated."""
    found = " ".join(filter(None, (value_beside(gate.value, gate.bound), interval(gate.ci))))
    note = gate_note(gate)
    words = f"{name} {found} (n {gate.n:,}): {gate_word(gate)}, must be {bound(gate)}"
    return f"{words}; {note}" if note else words


def line(report: Report) -> str:
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
    """The metrics that gates on quality are about, the headlines, others, and other gated ones."""
    gated = [gate.metric for gate in report.verdicts if gate.metric in report.metrics]
    first = [gate.metric for gate in report.verdicts if is_quality(gate)]
    free = [id for id in report.metrics if id not in gated]
    command = str(report.identity.get("command", "")) if isinstance(report, RunReport) else ""
    for id in dict.fromkeys([*first, *leading(free, command), *free, *gated]):
        if id in report.metrics:
            yield id, report.metrics[id]


def html(report: Report) -> str:
    """The verdict, the gates and the metrics as tables, without script or style sheet."""
    gates, names = report.verdicts, short_names(report.metrics)
    word = verdict_word(report.passed, gates)
    parts = [f"<p><b>{escape(word)}</b> {type(report).__name__}</p>"]
    rows = [
        (
            *(gate.metric, value_beside(gate.value, gate.bound), interval(gate.ci)),
            *(bound(gate), gate_word(gate), gate_note(gate)),
        )
        for gate in gates
    ]
    if rows:
        parts.append(_table(("gate", "value", "interval", "bound", "verdict", "note"), rows))
    scores = [
        (names[id], value(one.value), interval(one.ci), n_of(one.n, one.of), one.reason or "")
        for id, one in _by_weight(report)
    ]
    parts.append(_table(("metric", "value", "interval", "n", "note"), scores[:ROWS]))
    if len(scores) > ROWS:
        parts.append(f"<p>and {len(scores) - ROWS:,} more: see <code>.to_polars()</code></p>")
    return f"<div>{''.join(parts)}</div>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{escape(flat(cell))}</{tag}>' for cell in cells)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>"


def markdown(report: Report) -> str:
    return render(report, "markdown")


def save(report: Report, path: str | Path) -> Path:
    """Write the report in the form that the file's ending names, complete or not at all."""
    file = Path(path)
    write_whole(file, render(report, form_of(file, type(report))).encode())
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
    told = [pl.Series(name, list(held), strict=False) for name, held in columns.items()]
    values = [pl.Series(id, one.values).fill_nan(None) for id, one in units.measured.items()]
    return pl.DataFrame([pl.Series("unit", list(units.ids), pl.String), *told, *values])


def in_pandas(frame: pl.DataFrame) -> Any:
    """The same as a pandas DataFrame; raises UsageError where pandas is not installed."""
    try:
        pandas = import_module("pandas")  # not one of our dependencies
    except ImportError:
        fact = "pandas is not installed; install it (pip install pandas) or use .to_polars()"
        raise UsageError(fact) from None
    return pandas.DataFrame(frame.to_dict(as_series=False))
