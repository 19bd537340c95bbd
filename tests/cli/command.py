"""The real command in a real process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RAGAUGE = Path(sys.executable).with_name("ragauge")
QUIET_ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.startswith(("RAGAUGE", "NO_COLOR"))
}


def ragauge(
    *arguments: object, stdin: bytes = b"", cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [RAGAUGE, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=QUIET_ENVIRONMENT | environment,
        check=False,
        timeout=120,
    )
