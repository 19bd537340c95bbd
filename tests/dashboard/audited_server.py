"""`ragauge serve` in a process that writes down every socket it opens from Python, and to where.

python -m tests.dashboard.audited_server FILE serve --store …
"""

from __future__ import annotations

import sys

WATCHED = (
    *("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname"),
    *("socket.sendto", "socket.sendmsg", "urllib.Request", "subprocess.Popen", "os.exec"),
    *("os.system", "os.posix_spawn", "webbrowser.open", "ctypes.dlopen"),
)


def main(file: str, *arguments: str) -> None:
    with open(file, "a", buffering=1, encoding="utf-8") as said:  # noqa: PTH123 (audited, too)

        def hook(event: str, details: tuple[object, ...]) -> None:
            if event in WATCHED:
                shown = [detail for detail in details if isinstance(detail, str | int | tuple)]
                said.write(f"{event} {shown}\n")

        sys.addaudithook(hook)
        sys.argv = ["ragauge", *arguments]
        from ragauge.cli.main import main as ragauge

        ragauge()


if __name__ == "__main__":
    main(*sys.argv[1:])
