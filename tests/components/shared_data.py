"""Real public data beside the repository: read there, never copied."""

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "data"


def shared(name: str) -> Path:
    """A file of it. Where it is absent, CI fails; elsewhere the test is skipped, and says so."""
    path = SHARED / name
    if not path.exists():
        absent = f"{path} is not there; it holds real data this test reads"
        if os.environ.get("CI") == "true":
            pytest.fail(absent)
        pytest.skip(absent)
    return path
