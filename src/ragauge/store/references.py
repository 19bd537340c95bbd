"""The run a user means."""

from __future__ import annotations

import difflib
import re
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, exists, select

from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.errors import UsageError
from ragauge.store.recorded import plain
from ragauge.store.tables import regressions, runs, tags
from ragauge.text.visible import one_line

WORDS = ("latest", "green")
COMMIT = "commit:"
SHORTEST = 4
LONGEST_TAG = 100
NEAR = 5
SHOWN = LONGEST_TAG
"""Characters that are repeated of what a user wrote: no tag is cut."""
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
    return one_line(text, SHOWN)


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
    if number is None:
        raise UsageError(_none_such(connection, reference, word, branch, like))
    return int(number)


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


def _none_such(
    connection: Connection, reference: str, word: str, branch: str | None, like: Run | None
) -> str:
    kind = "run that passed" if word == "green" else "run"
    where = f" on branch {repeated(branch)}" if branch is not None else ""
    message = f"{repeated(reference)}: there is no {kind}{where}{_of_its_line(like)}"
    held = connection.execute(select(runs.c.git_branch).distinct()).scalars()
    branches = sorted(name for name in held if name is not None)
    if branch is not None and branches:
        message += f"; branches with runs: {', '.join(map(repeated, branches[:NEAR]))}"
    return message


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
