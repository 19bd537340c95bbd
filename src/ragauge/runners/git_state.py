"""The commit a run was made from, as far as git can tell."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ragauge.contracts.history import GitState
from ragauge.store.files import pieces_of, seal_of

PATIENCE_S = 10
HEADS = "refs/heads/"

BUILT = (
    *("GITHUB_HEAD_REF", "GITHUB_REF_NAME"),
    *("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_REF_NAME"),
    *("SYSTEM_PULLREQUEST_SOURCEBRANCH", "BUILD_SOURCEBRANCH"),
    *("CHANGE_BRANCH", "BRANCH_NAME"),
    *("BITBUCKET_BRANCH", "BUILDKITE_BRANCH", "CIRCLE_BRANCH"),
    *("TRAVIS_PULL_REQUEST_BRANCH", "TRAVIS_BRANCH"),
)
"""Where CI servers say which branch they build: GitHub, GitLab, Azure, Jenkins and others.

Of a pull request the branch it comes from is asked for first: the others may name its target.
"""
TAGGED = ("CI_COMMIT_TAG", "BITBUCKET_TAG", "BUILDKITE_TAG", "CIRCLE_TAG", "TRAVIS_TAG", "TAG_NAME")
"""Set where a tag is built: what else is set then names no branch."""


def git_state(folder: Path, environment: Mapping[str, str]) -> GitState | None:
    """The commit, branch and dirtiness of the work tree around a folder.

    None outside of a repository, before its first commit, and where there is no git. On a
    detached head, which is what CI servers check out, the branch is the one the environment says
    is built.
    """
    commit = _git(folder, "rev-parse", "--verify", "HEAD")
    if not commit:
        return None
    branch = _git(folder, "symbolic-ref", "--quiet", "--short", "HEAD") or _built(environment)
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return GitState(commit=commit, branch=branch, dirty=bool(changed))


def uncommitted(folder: Path) -> str | None:
    """A digest of what differs from the commit; None where nothing does, or there is no git.

    Of files that git does not know, only Python's count: the others may be what a run has just
    written, a report or a history, and must not make it another run.
    """
    changes = _git(folder, "diff", "--no-ext-diff", "--no-textconv", "--full-index", "HEAD")
    others = _git(folder, "ls-files", "-z", "--others", "--exclude-standard", "--", ":/*.py")
    new = sorted(filter(None, (others or "").split("\0")))
    if not changes and not new:
        return None
    told = [changes or ""]
    for name in new:
        content = None
        with suppress(OSError):  # whoever reads it says what is wrong
            content = seal_of(pieces_of(folder / name)).sha256
        told.append(f"{name} {content}")
    return hashlib.sha256("\n".join(told).encode(errors="replace")).hexdigest()


def _built(environment: Mapping[str, str]) -> str | None:
    """The branch a CI server says it builds; None where there is none, or a tag is built."""
    if environment.get("GITHUB_REF_TYPE") == "tag" or any(map(environment.get, TAGGED)):
        return None
    for name in BUILT:
        # Azure writes the whole reference, also of what is no branch: refs/tags/v1.
        branch = environment.get(name, "").removeprefix(HEADS)
        if branch and not branch.startswith("refs/"):
            return branch
    return None


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
