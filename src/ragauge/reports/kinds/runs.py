"""The reports of `ragauge runs`: the list, a run's details, and what each command did.

The dashboard shows runs by the same functions, so that both use the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ragauge.contracts import archive
from ragauge.contracts.history import ID_SHOWN, GitState, Run
from ragauge.contracts.kinds import KINDS
from ragauge.metrics.names import leading
from ragauge.reports import document as doc
from ragauge.reports import phrasing
from ragauge.reports.document import Block, Cell, Column, Document, Facts, Verdict
from ragauge.reports.phrasing import pluralize
from ragauge.text.natural import natural
from ragauge.text.visible import shown

COLUMNS = 8  # headlines in a list
COMMIT_SHOWN = 7
LONGEST_NAME = 24
NAMES_SHOWN = 20
DIRTY = "*"
DIFFERED = f"{DIRTY} files differed from the commit"
UNGATED = "No quality gate"
TONES: dict[str, doc.Tone] = {"PASS": "good", UNGATED: "soft"}


def verdict(run: Run) -> str:
    """PASS, FAIL, or that no gate is on quality; REGRESSED if a gated comparison failed."""
    return verdict_cell(run.record.passed, bool(run.regressions)).text


def verdict_cell(passed: bool | None, regressed: bool) -> Cell:
    word = UNGATED if passed is None else "PASS" if passed else "FAIL"
    word = "REGRESSED" if passed and regressed else word
    return Cell(
        word, word, TONES.get(word, "bad"), badge="open" if word == UNGATED else word.lower()
    )


def run_cell(id: str) -> Cell:
    return doc.names(id[:ID_SHOWN], to=("run", id))


def recorded(at: str) -> Cell:
    return Cell(when(at), at, "dim")


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


def labels(given: Mapping[str, str]) -> list[str]:
    return [f"{key}={value}" for key, value in sorted(given.items())]


def headlines(runs: Sequence[Run]) -> list[str]:
    """The ids of the metrics to show for these runs: of each family the first, then the second."""
    commands = {run.record.command for run in runs}
    command = commands.pop() if len(commands) == 1 else ""
    return leading(dict.fromkeys(id for run in runs for id in run.record.metrics), command)


def facts(run: Run) -> list[tuple[str, str]]:
    """The details of a run, a line each; empty where it does not have one."""
    record, git = run.record, run.record.git
    where = "" if git is None else f"{git.branch}@{git.commit}" if git.branch else git.commit
    against = ", ".join(id[:ID_SHOWN] for id in run.regressions)
    files = (f"{name} ({pluralize(seal.size, 'byte')})" for name, seal in record.files.items())
    return [
        ("id", run.id),
        ("recorded", f"{record.recorded_at[:19].replace('T', ' ')} UTC, ragauge {record.ragauge}"),
        ("code", f"{where}, files differed from the commit" if git and git.dirty else where),
        ("regressed", f"against {against}" if against else ""),
        ("tags", ", ".join(run.tags)),
        ("labels", ", ".join(labels(record.labels))),
        ("gold", record.gold_sha256 or ""),
        ("settings", record.configuration_sha256),
        ("units", phrasing.count(record.units)),
        ("files", ", ".join(files)),
    ]


def document(report: archive.Envelope) -> Document:
    return Document(KINDS[type(report)].command, list(_blocks(report)))


def _list(report: archive.RunList) -> Iterator[Block]:
    runs, total = report.runs, pluralize(len(report.runs), "run")
    newest = "the newest " if report.more else ""
    yield Verdict("", f"{newest}{total} in {report.store}", one_line=True)
    if not runs:
        return
    ids = headlines(runs)[:COLUMNS]
    names = phrasing.short_names(ids)
    columns: dict[str | Column, Callable[[Run], Cell]] = {
        "run": lambda run: run_cell(run.id),
        "recorded (UTC)": lambda run: recorded(run.record.recorded_at),
        "name": lambda run: doc.names(shown(run.record.name, LONGEST_NAME), "strong"),
        "verdict": lambda run: verdict_cell(run.record.passed, bool(run.regressions)),
    }

    def value(id: str, run: Run) -> Cell:
        score = run.record.metrics.get(id)
        return doc.number(score.value) if score else Cell("")

    for place, id in enumerate(ids, 1):
        # Where the page is narrow, only the first of them are shown.
        head = Column(names[id], right=True, spare=place, foreign=True)
        columns[head] = partial(value, id)

    def note(run: Run) -> str:
        record, tags = run.record, ", ".join(sorted(run.tags, key=natural))
        tagged = tags and f"tagged {tags}"
        return doc.listed(
            record.command, code(record.git), tagged, *labels(record.labels), sep="; "
        )

    dirty = any(run.record.git and run.record.git.dirty for run in runs)
    older = report.more and "older runs: --limit, or --name and the other filters"
    after = doc.listed(dirty and DIFFERED, older, sep="; ")
    yield doc.table(runs, columns, note=note, title="Runs", below=False, after=after)


def _blocks(report: archive.Envelope) -> Iterator[Block]:
    """The blocks of a list or a run, or what a command did."""
    match report:
        case archive.RunList():
            yield from _list(report)
        case archive.ShownRun():
            run = Run(
                id=report.id, record=report.record, tags=report.tags, regressions=report.regressions
            )
            names = dict.fromkeys([run.record.name, run.record.command])
            yield Verdict(verdict(run), f"{', '.join(names)} ({run.shown})")
            yield Facts([(label, doc.foreign(text)) for label, text in facts(run)])
            # In a terminal the report of the run follows.
            metrics = phrasing.metric_names(report)
            gates = doc.gates(report.gates, report.metrics, metrics)
            scores = doc.scores(report.metrics, metrics, title="Metrics")
            yield doc.Only(frozenset({"markdown"}), [*gates, scores])
        case archive.Tagged():
            now = f"run {report.run[:ID_SHOWN]}" if report.run else "no run any more"
            yield Verdict("", f'"{report.tag}" names {now}')
        case archive.Removed():
            yield Verdict("", f"removed {pluralize(len(report.runs), 'run')}")
            yield Facts([("", doc.foreign(named(run))) for run in report.runs])
        case archive.Exported():
            runs, size = pluralize(len(report.runs), "run"), pluralize(report.size, "byte")
            yield Verdict("", f"wrote {runs} to {report.file} ({size})")
        case archive.Imported():
            already = pluralize(len(report.present), "run was", "runs were")
            present = f"; {already} already present" if report.present else ""
            yield Verdict("", f"imported {pluralize(len(report.imported), 'run')}{present}")
            yield _first([id[:ID_SHOWN] for id in report.imported])
            kept = [("not changed", doc.foreign(finding.message)) for finding in report.findings]
            tags = ", ".join(sorted(report.tags, key=natural))
            yield Facts([("tags", doc.foreign(tags)), *kept])
        case archive.Verified():
            intact = f"{pluralize(len(report.whole), 'run is', 'runs are')} intact"
            damaged = f"; {pluralize(len(report.faults), 'is', 'are')} not" if report.faults else ""
            yield Verdict("FAIL" if report.faults else "PASS", f"{intact}{damaged}")
            faults = [
                (id[:ID_SHOWN], doc.foreign(fault))
                for id in sorted(report.faults)
                for fault in report.faults[id]
            ]
            if faults:
                yield doc.Section(title="Faults", blocks=[Facts(faults)])
            if report.leftovers:
                yield doc.Section(
                    title="Files that belong to no run",
                    remark="a process is writing them, or was killed; `ragauge runs gc` removes "
                    "old ones",
                    blocks=[_first(report.leftovers)],
                )
        case archive.Cleaned():
            removed = f"removed {pluralize(len(report.removed), 'item')}"
            freed = report.bytes and f"freed {pluralize(report.bytes, 'byte')}"
            done = doc.listed(removed, freed) if report.removed else "nothing to remove"
            yield Verdict("", done)
            yield _first(report.removed)


def _first(names: Sequence[str]) -> Facts:
    """The first names, a line each, and how many there are beyond them."""
    more = f"and {phrasing.count(len(names) - NAMES_SHOWN)} more; see --format json"
    lines = [("", doc.foreign(name)) for name in names[:NAMES_SHOWN]]
    return Facts([*lines, ("", more)] if len(names) > NAMES_SHOWN else lines)
