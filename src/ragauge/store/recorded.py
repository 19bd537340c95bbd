"""A run as rows, rows as a run, and the run a user means."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Select, Table, exists, insert, select

from ragauge.contracts.gold import Gold, fingerprint
from ragauge.contracts.history import (
    ID_SHOWN,
    NewRun,
    Run,
    RunFilter,
    RunRecord,
    UnitRow,
    canonical,
)
from ragauge.contracts.kinds import SHOWN
from ragauge.contracts.report import Report
from ragauge.errors import InputRejected, UsageError
from ragauge.store.database import BATCH, add_rows, insert_unless_there
from ragauge.store.tables import (
    gold_questions,
    regressions,
    run_files,
    run_labels,
    run_metrics,
    run_units,
    runs,
    tags,
)
from ragauge.text.visible import one_line

decode_record = msgspec.json.Decoder(RunRecord).decode
decode_unit = msgspec.json.Decoder(UnitRow).decode
decode_gold = msgspec.json.Decoder(Gold).decode
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def check_record(run: NewRun) -> None:
    """Refuse a run that could not be found, or not be verified, later."""
    record, problems = run.record, []
    if not _MOMENT.fullmatch(record.recorded_at):
        problems.append(
            f"recorded_at: {record.recorded_at!r} is not like 2026-11-15T21:45:44.123456Z"
        )
    if record.units != len(run.units):
        problems.append(f"units: the record says {record.units:,}, given are {len(run.units):,}")
    if record.gold_sha256 is None and run.gold:
        problems.append("gold_sha256: the record names no gold set, and one is given")
    if record.gold_sha256 is not None and fingerprint(run.gold) != record.gold_sha256:
        problems.append("gold_sha256: the gold set is not the one the record names")
    if problems:
        raise InputRejected(*(f"run {run.id[:12]}: {problem}" for problem in problems))


def insert_run(connection: Connection, run: NewRun) -> int | None:
    """The number of a run that was not there before; None where it was."""
    row = {"id": run.id, **run_columns(run.record), "document": run.written.decode()}
    new = insert_unless_there(connection, runs).values(row).returning(runs.c.number)
    return connection.execute(new).scalar()


def insert_parts(
    connection: Connection, run: NewRun, number: int, units: Iterable[dict[str, Any]]
) -> None:
    """All rows of a run but its own; those of its units are encoded already."""
    _insert(connection, run_labels, number, label_rows(run.record))
    _insert(connection, run_metrics, number, metric_rows(run.record))
    _insert(connection, run_files, number, file_rows(run.record))
    _insert(connection, run_units, number, units)
    marks = (
        {"baseline": baseline, "seal": seal_of_mark(run.id, baseline)}
        for baseline in run.regressions
    )
    _insert(connection, regressions, number, marks)
    sha256 = run.record.gold_sha256
    known = select(gold_questions.c.place).where(gold_questions.c.gold_sha256 == sha256)
    if sha256 is None or connection.execute(known.limit(1)).first() is not None:
        return
    rows = (
        {"gold_sha256": sha256, "place": place}
        | gold_columns(question)
        | {"line": canonical(question).decode()}
        for place, question in enumerate(run.gold)
    )
    add_rows(connection, insert_unless_there(connection, gold_questions), rows)


def seal_of_mark(id: str, mark: str) -> str:
    """What a tag or a mark of a run must have next to it."""
    return hashlib.sha256(canonical([id, mark])).hexdigest()


def run_columns(record: RunRecord) -> dict[str, Any]:
    """What runs are found by."""
    return {
        "name": plain(record.name),
        "command": plain(record.command),
        "recorded_at": record.recorded_at,
        "passed": record.passed is True,
        "git_commit": plain(record.git.commit) if record.git else None,
        "git_branch": plain(record.git.branch) if record.git else None,
        "gold_sha256": record.gold_sha256,
        "configuration_sha256": record.configuration_sha256,
    }


def label_rows(record: RunRecord) -> list[dict[str, Any]]:
    return [
        {"key": plain(key), "value": plain(value)} for key, value in sorted(record.labels.items())
    ]


def metric_rows(record: RunRecord) -> list[dict[str, Any]]:
    return [
        {
            "metric": plain(id),
            "version": metric.version,
            "better": metric.better,
            "total": metric.total,
            "value": metric.value,
            "low": metric.ci[0] if metric.ci else None,
            "high": metric.ci[1] if metric.ci else None,
            "n": metric.n,
            "of": metric.of,
            "reason": plain(metric.reason),
            "signature": plain(metric.signature),
        }
        for id, metric in sorted(record.metrics.items())
    ]


def file_rows(record: RunRecord) -> list[dict[str, Any]]:
    return [
        {"name": name, "sha256": seal.sha256, "size": seal.size}
        for name, seal in sorted(record.files.items())
    ]


def unit_columns(row: UnitRow) -> dict[str, Any]:
    """What units are found and sorted by."""
    return {
        "unit": plain(row.unit),
        "label": plain(row.label),
        "right": row.right,
        "values": {plain(metric): value for metric, value in row.values.items()},
    }


def gold_columns(question: Gold) -> dict[str, Any]:
    """What questions are found by."""
    return {
        "qid": plain(question.qid),
        "question": plain(question.question),
        "answerable": question.answerable,
    }


def plain(text: Any) -> Any:
    """Text as a column can hold it; what is hashed keeps every character.

    PostgreSQL has no U+0000, and what a terminal hands over may not be text at all.
    """
    if not text or (text.isascii() and "\0" not in text):
        return text
    spelled = text.encode(errors="backslashreplace").decode()
    return spelled.replace("\0", "\N{SYMBOL FOR NULL}")


def _insert(
    connection: Connection, table: Table, number: int, rows: Iterable[dict[str, Any]]
) -> None:
    add_rows(connection, insert(table), ({"run": number, **row} for row in rows))


def read_runs(connection: Connection, numbers: Select[Any]) -> list[Run]:
    """The runs whose numbers a query gives, in its order."""
    return runs_numbered(connection, connection.execute(numbers).scalars().all())


def runs_numbered(connection: Connection, order: Sequence[int]) -> list[Run]:
    """The runs with these numbers, in this order."""
    found: dict[int, Any] = {}
    tagged: dict[int, list[str]] = {}
    marked: dict[int, list[str]] = {}
    for start in range(0, len(order), BATCH):
        some = order[start : start + BATCH]
        columns = select(runs.c.number, runs.c.id, runs.c.document)
        for row in connection.execute(columns.where(runs.c.number.in_(some))):
            found[row.number] = row
        names = select(tags.c.tag, tags.c.run).where(tags.c.run.in_(some))
        for tag, run in connection.execute(names):
            tagged.setdefault(run, []).append(tag)
        marks = select(regressions.c.run, regressions.c.baseline).where(regressions.c.run.in_(some))
        for run, baseline in connection.execute(marks):
            marked.setdefault(run, []).append(baseline)
    read = []
    for number in order:
        row = found[number]
        try:
            record = decode_record(row.document)
        except msgspec.DecodeError as error:
            raise UsageError(
                f"run {row.id[:12]}: its record cannot be read: {error}; `ragauge runs verify` "
                "says which runs are whole; restore the database from a copy"
            ) from error
        called, failed = sorted(tagged.get(number, ())), sorted(marked.get(number, ()))
        read.append(Run(id=row.id, record=record, tags=tuple(called), regressions=tuple(failed)))
    return read


def matching(which: RunFilter) -> Select[Any]:
    """The numbers of the runs that a filter lets through, in no order."""
    wanted = {
        runs.c.name: which.name,
        runs.c.command: which.command,
        runs.c.git_branch: which.branch,
    }
    found = select(runs.c.number)
    for column, value in wanted.items():
        if value is not None:
            found = found.where(column == plain(value))
    if which.green is not None:
        found = found.where(is_green() if which.green else is_red())
    if which.before is not None:
        found = found.where(runs.c.recorded_at < which.before)
    for key, value in sorted(which.labels.items()):
        label = (run_labels.c.key == plain(key)) & (run_labels.c.value == plain(value))
        found = found.where(exists().where(run_labels.c.run == runs.c.number, label))
    return found


def run_number(connection: Connection, id: str) -> int:
    """The number of a run in its tables; raises UsageError where it is not there."""
    number = connection.execute(select(runs.c.number).where(runs.c.id == id)).scalar()
    if number is None:
        raise UsageError(f"run {id[:12]}: is not in this history")
    return int(number)


WORDS = ("latest", "green")
COMMIT = "commit:"
SHORTEST = 4
LONGEST_TAG = 100  # also the characters that are repeated of what a user wrote
NEAR = 5
_HEX = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
_UNTAGGABLE = re.compile(r"[@\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def referred(connection: Connection, reference: str, like: Run | None) -> int:
    """The number of the run that `reference` names; raises UsageError with what is near."""
    word, at, branch = reference.partition("@")
    if word in WORDS:
        return _newest(connection, reference, word, branch if at else None, like)
    if reference.startswith(COMMIT):
        return _at_commit(connection, reference, like)
    tagged = connection.execute(select(tags.c.run).where(tags.c.tag == plain(reference))).scalar()
    if tagged is not None:
        return int(tagged)
    beginning = reference.lower()
    if _HEX.fullmatch(beginning):
        return _beginning(connection, reference, beginning)
    raise _unknown(connection, reference)


def repeated(text: str) -> str:
    """What a user wrote, as a message repeats it: on one line, cut, and nothing in it obeyed."""
    return one_line(text, LONGEST_TAG)


def check_tag(tag: str) -> None:
    """Refuse a tag that could be taken for something else."""
    shown = f"tag '{repeated(tag)}'"
    if not tag or _UNTAGGABLE.search(tag) or len(tag) > LONGEST_TAG or tag.startswith("-"):
        raise UsageError(
            f"{shown}: a tag is 1 to {LONGEST_TAG} characters without blanks, control "
            "characters and @, and does not begin with -"
        )
    if tag in WORDS:
        raise UsageError(f"{shown}: `{tag}` already names a run by its time; choose another")
    if tag.startswith(COMMIT):
        raise UsageError(f"{shown}: `{COMMIT}` names a run by its commit; choose another")
    if _HEX.fullmatch(tag.lower()):
        raise UsageError(
            f"{shown}: it looks like the beginning of a run's id; add a character outside 0–9 "
            "and a–f"
        )


def is_green() -> ColumnElement[bool]:
    """Of a run: it passed, and no gated comparison failed it."""
    return runs.c.passed & ~exists().where(regressions.c.run == runs.c.number)


def is_red() -> ColumnElement[bool]:
    """Of a run: it failed, or a gated comparison failed it; a run without a quality gate is not."""
    # The column says only whether it passed; quotes inside of texts are escaped in the document.
    return ~is_green() & ~runs.c.document.contains('"passed":null', autoescape=True)


def newest_first(which: Select[Any]) -> Select[Any]:
    """The order of runs: by time, and by id where the time is the same."""
    return which.order_by(runs.c.recorded_at.desc(), runs.c.id)


def _newest(
    connection: Connection, reference: str, word: str, branch: str | None, like: Run | None
) -> int:
    which = select(runs.c.number)
    if word == "green":
        which = which.where(is_green())
    if branch is not None:
        which = which.where(runs.c.git_branch == plain(branch))
    number = connection.execute(_before(which, like).limit(1)).scalar_one_or_none()
    if number is not None:
        return int(number)
    kind = "run that passed" if word == "green" else "run"
    where = f" on branch {repeated(branch)}" if branch is not None else ""
    message = f"{repeated(reference)}: there is no {kind}{where}{_of_its_line(like)}"
    held = connection.execute(select(runs.c.git_branch).distinct()).scalars()
    branches = sorted(name for name in held if name is not None)
    if branch is not None and branches:
        message += f"; branches with runs: {', '.join(map(repeated, branches[:NEAR]))}"
    raise UsageError(message)


def _before(which: Select[Any], like: Run | None) -> Select[Any]:
    """The last recorded first; with `like`, of its command and name and recorded before it.

    By the order of recording: a clock may go back.
    """
    if like is not None:
        known = runs.alias()  # not the table that is asked, or the subquery would be about its row
        which = which.where(
            runs.c.command == plain(like.record.command),
            runs.c.name == plain(like.record.name),
            runs.c.number < select(known.c.number).where(known.c.id == like.id).scalar_subquery(),
        )
    return which.order_by(runs.c.number.desc())


def _at_commit(connection: Connection, reference: str, like: Run | None) -> int:
    """The newest run at the commit that begins so."""
    beginning = reference.removeprefix(COMMIT).lower()
    if not _HEX.fullmatch(beginning):
        raise UsageError(
            f"{repeated(reference)}: a commit is named by {SHORTEST} hexadecimal digits of its "
            f"hash at least, such as {COMMIT}5d2c9e"
        )
    here = runs.c.git_commit.startswith(beginning)
    commits = sorted(connection.execute(select(runs.c.git_commit).where(here).distinct()).scalars())
    if len(commits) > 1:
        raise UsageError(
            f"{reference}: is the beginning of several commits: {', '.join(commits[:NEAR])}; "
            "write more of it"
        )
    newest = _before(select(runs.c.number).where(here), like).limit(1)
    number = connection.execute(newest).scalar_one_or_none()
    if number is None:
        raise UsageError(f"{reference}: there is no run at this commit{_of_its_line(like)}")
    return int(number)


def _of_its_line(like: Run | None) -> str:
    return f" of {like.record.command} '{repeated(like.record.name)}' before it" if like else ""


def _beginning(connection: Connection, reference: str, beginning: str) -> int:
    rows = connection.execute(
        select(runs.c.number, runs.c.id, runs.c.name, runs.c.recorded_at)
        .where(runs.c.id >= beginning, runs.c.id < beginning + "g")
        .order_by(runs.c.id)
        .limit(NEAR + 1)
    ).all()
    if not rows:
        raise _unknown(connection, reference)
    if len(rows) > 1:
        found = [f"{row.id[:ID_SHOWN]} ({repeated(row.name)}, {row.recorded_at})" for row in rows]
        more = " and more" if len(rows) > NEAR else ""
        raise UsageError(
            f"{reference}: is the beginning of several runs' ids: {', '.join(found[:NEAR])}{more}; "
            "write more of it"
        )
    return int(rows[0].number)


def _unknown(connection: Connection, reference: str) -> UsageError:
    names = [*connection.execute(select(tags.c.tag)).scalars(), *WORDS]
    ids = connection.execute(newest_first(select(runs.c.id)).limit(1_000)).scalars()
    names += [id[: max(SHORTEST, min(len(reference), ID_SHOWN))] for id in ids]
    near = list(dict.fromkeys(difflib.get_close_matches(reference, names, n=NEAR, cutoff=0.5)))
    hint = f"near it: {', '.join(map(repeated, near))}" if near else "`ragauge runs list` has them"
    return UsageError(
        f"{repeated(reference)}: names no run; a run is named by the beginning of its id "
        f"({SHORTEST} characters at least), a tag, latest, green, green@BRANCH or {COMMIT}HASH; "
        f"{hint}"
    )


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
