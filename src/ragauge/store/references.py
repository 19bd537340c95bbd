"""The run a user means."""

from __future__ import annotations

import difflib
import re
from typing import Any

from sqlalchemy import Connection, Select, select

from ragauge.contracts.history import ID_SHOWN, Run
from ragauge.errors import UsageError
from ragauge.store.recorded import plain
from ragauge.store.tables import runs, tags
from ragauge.text.visible import visible

WORDS = ("latest", "green")
SHORTEST = 4
LONGEST_TAG = 100
NEAR = 5
_HEX = re.compile(rf"[0-9a-f]{{{SHORTEST},64}}")
_UNTAGGABLE = re.compile(r"[@\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def referred(connection: Connection, reference: str, like: Run | None) -> int:
    """The number of the run that `reference` names; raises UsageError with what is near."""
    word, at, branch = reference.partition("@")
    if word in WORDS:
        return _newest(connection, reference, word, branch if at else None, like)
    tagged = connection.execute(select(tags.c.run).where(tags.c.tag == plain(reference))).scalar()
    if tagged is not None:
        return int(tagged)
    beginning = reference.lower()
    if _HEX.fullmatch(beginning):
        return _beginning(connection, reference, beginning)
    raise _unknown(connection, reference)


def check_tag(tag: str) -> None:
    """Refuse a tag that could be taken for something else."""
    shown = visible(tag)
    if not tag or _UNTAGGABLE.search(tag) or len(tag) > LONGEST_TAG or tag.startswith("-"):
        raise UsageError(
            f"tag {shown!r}: a tag is 1 to {LONGEST_TAG} characters without blanks, control "
            "characters and @, and does not begin with -"
        )
    if tag in WORDS:
        raise UsageError(f"tag {shown!r}: `{tag}` already names a run by its time; choose another")
    if _HEX.fullmatch(tag.lower()):
        raise UsageError(
            f"tag {shown!r}: it looks like the beginning of a run's id; add another character"
        )


def newest_first(which: Select[Any]) -> Select[Any]:
    """The order of runs: by time, and by id where the time is the same."""
    return which.order_by(runs.c.recorded_at.desc(), runs.c.id)


def _newest(
    connection: Connection, reference: str, word: str, branch: str | None, like: Run | None
) -> int:
    which = select(runs.c.number)
    if word == "green":
        which = which.where(runs.c.passed)
    if branch is not None:
        which = which.where(runs.c.git_branch == plain(branch))
    if like is not None:
        which = which.where(
            runs.c.command == plain(like.record.command),
            runs.c.name == plain(like.record.name),
            runs.c.recorded_at < like.record.recorded_at,
        )
    number = connection.execute(newest_first(which).limit(1)).scalar_one_or_none()
    if number is None:
        raise UsageError(_none_such(connection, reference, word, branch, like))
    return int(number)


def _none_such(
    connection: Connection, reference: str, word: str, branch: str | None, like: Run | None
) -> str:
    kind = "run that passed" if word == "green" else "run"
    where = f" on branch {visible(branch)}" if branch is not None else ""
    before = f" of {like.record.command} {visible(like.record.name)!r} before it" if like else ""
    message = f"{visible(reference)}: there is no {kind}{where}{before}"
    held = connection.execute(select(runs.c.git_branch).distinct()).scalars()
    branches = sorted(name for name in held if name is not None)
    if branch is not None and branches:
        message += f"; branches with runs: {', '.join(map(visible, branches[:NEAR]))}"
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
        found = [f"{row.id[:ID_SHOWN]} ({visible(row.name)}, {row.recorded_at})" for row in rows]
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
    hint = f"near it: {', '.join(map(visible, near))}" if near else "`ragauge runs list` has them"
    return UsageError(
        f"{visible(reference)}: names no run; a run is named by the beginning of its id "
        f"({SHORTEST} characters at least), a tag, latest, green, or green@BRANCH; {hint}"
    )
