"""The commit a run was made from, as far as git can tell."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ragauge.contracts.history import GitState

PATIENCE_S = 10


def git_state(folder: Path) -> GitState | None:
    """The commit, branch and dirtiness of the work tree around a folder.

    None outside of a repository, before its first commit, and where there is no git.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    branch = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return GitState(commit=commit, branch=branch or None, dirty=bool(changed))


def _git(folder: Path, *words: str) -> str | None:
    """What git prints; None where it fails, is missing or hangs."""
    try:
        done = subprocess.run(
            # Without locks: a recording must not get in the way of somebody's commit.
            ["git", "--no-optional-locks", "-C", str(folder), *words],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=PATIENCE_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
