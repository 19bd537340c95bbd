"""The reports of `ragauge runs`: the list, a run's details, and what each command did.

The dashboard shows runs by the same functions, so that both use the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ragauge.contracts import archive
from ragauge.contracts.history import ID_SHOWN, GitState, Run
from ragauge.contracts.kinds import SHOWN
from ragauge.contracts.report import Report
from ragauge.errors import InputRejected
from ragauge.metrics.headlines import leading
from ragauge.reports import document as doc
from ragauge.reports import numbers
from ragauge.reports.document import Block, Cell, Column, Document, Facts, Row, Table, Text, Verdict
from ragauge.reports.envelope import short_names as without_family
from ragauge.reports.foreign import shown
from ragauge.reports.numbers import counted

COLUMNS = 8
"""Headlines in a list."""
COMMIT_SHOWN = 7
LONGEST_NAME = 24
LONGEST_LINE = 40
"""Runs of a sparkline: the newest."""
NAMES_SHOWN = 20
TREND_RUNS = 3
"""Fewer runs than these are no line."""
DIRTY = "*"
REGRESSED = "REGRESSED"
UNGATED = "OPEN"
"""Recorded without a gate on quality."""
TONES: dict[str, doc.Tone] = {"PASS": "good", UNGATED: "soft"}


class _Versioned(Struct):
    schema: str


def stored_report(content: bytes, run: str) -> Report:
    """The report that a run of the history keeps in these bytes; raises InputRejected."""
    try:
        schema = msgspec.json.decode(content, type=_Versioned).schema
        if schema in SHOWN:
            report: Report = msgspec.json.decode(content, type=SHOWN[schema].type)
            return report
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputRejected(f"run {run}: its report cannot be read: {error}") from error
    raise InputRejected(
        f'run {run}: its report has the schema "{schema}", and this version of Ragauge reads '
        f"{', '.join(sorted(SHOWN))}; --identity shows the rest of the run"
    )


def verdict(run: Run) -> str:
    """PASS, FAIL, OPEN without a quality gate; REGRESSED where a gated comparison failed it."""
    if run.record.passed and run.regressions:
        return REGRESSED
    return verdict_of(run.record.passed)


def verdict_of(passed: bool | None) -> str:
    return UNGATED if passed is None else "PASS" if passed else "FAIL"


def when(recorded_at: str) -> str:
    """
    >>> when("2026-11-15T21:45:44.123456Z")
    '2026-11-15 21:45'
    """
    return recorded_at[:16].replace("T", " ")


def named(run: Run) -> str:
    """A run in a few words: `4f2a91c03b7e (score "nightly" of 2026-11-15 21:45)`."""
    record = run.record
    return f'{run.shown} ({record.command} "{record.name}" of {when(record.recorded_at)})'


def code(git: GitState | None) -> str:
    """The branch and commit of a run, with a mark where files differed; empty if unknown.

    >>> code(GitState(commit="1a2b3c4d5e", branch="main", dirty=True))
    'main@1a2b3c4*'
    """
    if git is None:
        return ""
    branch = f"{git.branch}@" if git.branch else ""
    return f"{branch}{git.commit[:COMMIT_SHOWN]}{DIRTY if git.dirty else ''}"


def labels(run: Run) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(run.record.labels.items())]


def headlines(runs: Sequence[Run]) -> list[str]:
    """The ids of the metrics to show for these runs: of each family the first, then the second."""
    commands = {run.record.command for run in runs}
    command = commands.pop() if len(commands) == 1 else ""
    return leading(dict.fromkeys(id for run in runs for id in run.record.metrics), command)


def short_names(ids: Iterable[str]) -> dict[str, str]:
    """Metric ids by the names to show: without the family, unless two would be the same."""
    ids = list(ids)
    bare = [id.partition(".")[2] or id for id in ids]
    return {id: name if bare.count(name) == 1 else id for id, name in zip(ids, bare, strict=True)}


class Trend(Struct, frozen=True):
    """A metric over the runs of one name, the oldest first."""

    name: str
    metric: str
    values: tuple[float, ...]


def trends(runs: Sequence[Run]) -> list[Trend]:
    """Of the runs of each name the first headline that changes, where there are enough runs."""
    lines: dict[tuple[str, str], list[Run]] = {}
    for run in reversed(runs):
        lines.setdefault((run.record.name, run.record.command), []).append(run)
    found = []
    for (name, _), line in sorted(lines.items()):
        drawn = []
        for id in headlines(line):
            scores = (run.record.metrics.get(id) for run in line)
            known = tuple(one.value for one in scores if one and one.value is not None)
            drawn.append(Trend(name, id, known))
        changing = (one for one in drawn if len(set(one.values)) > 1)
        found += [one for one in [next(changing, None), *drawn[:1]] if one][:1]
    return [trend for trend in found if len(trend.values) >= TREND_RUNS]


def sparkline(values: Sequence[float]) -> str:
    """The values as blocks between the least and the greatest; level where they are all the same.

    >>> sparkline([0.1, 0.2, 0.8]), sparkline([0.5, 0.5])
    ('▁▂█', '▄▄')
    """
    low, high, blocks = min(values), max(values), "▁▂▃▄▅▆▇█"
    if low == high:
        return blocks[3] * len(values)
    return "".join(blocks[round((value - low) / (high - low) * 7)] for value in values)


def facts(run: Run) -> list[tuple[str, str]]:
    """The details of a run, a line each; what it does not have is left out."""
    record, git = run.record, run.record.git
    where = "" if git is None else f"{git.branch}@{git.commit}" if git.branch else git.commit
    against = ", ".join(id[:ID_SHOWN] for id in run.regressions)
    files = (f"{name} ({counted(seal.size, 'byte')})" for name, seal in record.files.items())
    known = [
        ("id", run.id),
        ("recorded", f"{record.recorded_at[:19].replace('T', ' ')} UTC, ragauge {record.ragauge}"),
        ("code", f"{where}, files differed from the commit" if git and git.dirty else where),
        ("regressed", f"against {against}" if against else ""),
        ("tags", ", ".join(run.tags)),
        ("labels", ", ".join(labels(run))),
        ("gold", record.gold_sha256 or ""),
        ("settings", record.configuration_sha256),
        ("units", numbers.count(record.units)),
        ("files", ", ".join(files)),
    ]
    return [(label, text) for label, text in known if text]


def document(report: archive.Envelope) -> Document:
    name, blocks = KINDS[type(report)]
    return Document(f"runs {name}", list(blocks(report)))


def _list(report: archive.RunList) -> Iterator[Block]:
    runs, total = report.runs, counted(len(report.runs), "run")
    newest = "the newest " if report.more else ""
    yield Verdict("", f"{newest}{total} in {report.store}", one_line=True)
    if not runs:
        return
    ids = headlines(runs)[:COLUMNS]
    shown_names = short_names(ids)
    dirty = any(run.record.git and run.record.git.dirty for run in runs)
    older = "older runs: --limit, or --name and the other filters" if report.more else ""
    legend = (f"{DIRTY} files differed from the commit" if dirty else "", older)
    yield Table(
        title="Runs",
        columns=[
            *doc.columns("run", "recorded (UTC)", "name", "verdict"),
            # Where the page is narrow, only the first of them are shown.
            *(
                Column(shown_names[id], right=True, spare=place, foreign=True)
                for place, id in enumerate(ids, 1)
            ),
        ],
        below=False,
        rows=[_row(run, ids) for run in runs],
        after="; ".join(filter(None, legend)),
    )
    found = trends(runs)
    metrics = short_names({trend.metric for trend in found})
    if found:
        yield Table(
            title="Over time",
            remark="the newest on the right",
            columns=doc.columns("name", "metric", "values", "from", "to", right=("from", "to")),
            rows=doc.rows(
                [
                    doc.names(shown(one.name, LONGEST_NAME), "strong"),
                    Cell(metrics[one.metric], one.metric, foreign=True),
                    Cell(sparkline(one.values[-LONGEST_LINE:]), tone="plain"),
                    doc.number(one.values[0]),
                    doc.number(one.values[-1]),
                ]
                for one in found
            ),
        )


def _row(run: Run, ids: Iterable[str]) -> Row:
    record, word = run.record, verdict(run)
    scores = [record.metrics.get(id) for id in ids]
    tagged = f"tagged {', '.join(run.tags)}" if run.tags else ""
    return Row(
        (
            doc.names(run.shown),
            Cell(when(record.recorded_at), record.recorded_at, "dim"),
            doc.names(shown(record.name, LONGEST_NAME), "strong"),
            Cell(word, word, TONES.get(word, "bad")),
            *(doc.number(one.value) if one else Cell("") for one in scores),
        ),
        "; ".join(filter(None, (record.command, code(record.git), tagged, *labels(run)))),
    )


def _show(report: archive.ShownRun) -> Iterator[Block]:
    run = Run(id=report.id, record=report.record, tags=report.tags, regressions=report.regressions)
    names = dict.fromkeys([run.record.name, run.record.command])
    yield Verdict(verdict(run), f"{', '.join(names)} ({run.shown})")
    yield Facts([(label, doc.theirs(text)) for label, text in facts(run)])
    # In a terminal the report of the run follows.
    metrics = without_family({**report.metrics, **{gate.metric: 0 for gate in report.gates}})
    tables = [
        *doc.gates(report.gates, report.metrics, metrics),
        doc.scores(report.metrics, metrics, title="Metrics"),
    ]
    yield doc.Only(frozenset({"markdown"}), tables)


def _tag(report: archive.Tagged) -> Iterator[Block]:
    run = f"run {report.run[:ID_SHOWN]}" if report.run else "no run any more"
    yield Verdict("", f'"{report.tag}" names {run}')


def _rm(report: archive.Removed) -> Iterator[Block]:
    yield Verdict("", f"removed {counted(len(report.runs), 'run')}")
    yield Facts([("", doc.theirs(named(run))) for run in report.runs])


def _export(report: archive.Exported) -> Iterator[Block]:
    runs, size = counted(len(report.runs), "run"), counted(report.size, "byte")
    yield Verdict("", f"wrote {runs} to {report.file} ({size})")


def _import(report: archive.Imported) -> Iterator[Block]:
    yield Verdict("", f"imported {counted(len(report.imported), 'run')}")
    yield from _first(id[:ID_SHOWN] for id in report.imported)
    present = counted(len(report.present), "run was", "runs were")
    kept = [("not changed", doc.theirs(finding.message)) for finding in report.findings]
    yield Facts(
        [
            ("", f"{present} there already" if report.present else ""),
            ("tags", doc.theirs(", ".join(sorted(report.tags)))),
            *kept,
        ]
    )


def _verify(report: archive.Verified) -> Iterator[Block]:
    intact = f"{counted(len(report.whole), 'run is', 'runs are')} intact"
    damaged = f"; {counted(len(report.faults), 'is', 'are')} not" if report.faults else ""
    yield Verdict("FAIL" if report.faults else "PASS", f"{intact}{damaged}")
    for id, faults in sorted(report.faults.items()):
        is_run = len(id) > ID_SHOWN
        title = f"Run {id[:ID_SHOWN]} is damaged" if is_run else "Rows that belong to no run"
        yield doc.Section(
            title=title, blocks=[Facts([("", doc.theirs(fault)) for fault in faults])]
        )
    if report.leftovers:
        total = counted(len(report.leftovers), "file or folder", "files or folders")
        text = (
            f"{total}: a process is writing them, or was killed; `ragauge runs gc` removes what "
            "was not changed for an hour"
        )
        yield doc.Section(
            title="Files that belong to no run", blocks=[Text(text), *_first(report.leftovers)]
        )


def _gc(report: archive.Cleaned) -> Iterator[Block]:
    removed = counted(len(report.removed), "item")
    freed = f", freed {counted(report.bytes, 'byte')}" if report.bytes else ""
    yield Verdict("", f"removed {removed}{freed}" if report.removed else "nothing to remove")
    yield from _first(report.removed)


def _first(names: Iterable[str]) -> Iterator[Block]:
    """The first names, a line each, and how many there are beyond them."""
    every = list(names)
    if every:
        yield Facts([("", doc.theirs(name)) for name in every[:NAMES_SHOWN]])
    if len(every) > NAMES_SHOWN:
        more = numbers.count(len(every) - NAMES_SHOWN)
        yield Text(f"and {more} more; see --format json", "dim")


KINDS: dict[type[archive.Envelope], tuple[str, Callable[[Any], Iterable[Block]]]] = {
    archive.RunList: ("list", _list),
    archive.ShownRun: ("show", _show),
    archive.Tagged: ("tag", _tag),
    archive.Removed: ("rm", _rm),
    archive.Exported: ("export", _export),
    archive.Imported: ("import", _import),
    archive.Verified: ("verify", _verify),
    archive.Cleaned: ("gc", _gc),
}
"""The command of each report, and its blocks."""
