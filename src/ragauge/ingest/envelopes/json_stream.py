"""The elements of one JSON document, one at a time, whatever the size of the document."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from ragauge.errors import InputRejected
from ragauge.ingest.lines import MAX_LINE

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\]]', re.DOTALL)
_COLON = re.compile(rb"\s*:\s*")


def elements(
    name: str, chunks: Iterable[bytes], keys: Collection[str] = ()
) -> Iterator[tuple[int, bytes]]:
    """The objects in the outermost arrays under one of these keys, each with its line.

    Of a document that is an array these are its members; without keys, objects that follow each
    other are elements too. Raises InputRejected where an element is larger than MAX_LINE.

    >>> list(elements("f", [b'{"spans": [{"a": "]"}, ', b'{"b": 2}]}'], {"spans"}))
    [(1, b'{"a": "]"}'), (1, b'{"b": 2}')]
    >>> list(elements("f", [b'{"a": 1}\\n{"a"', b": 2}"]))
    [(1, b'{"a": 1}'), (2, b'{"a": 2}')]
    """
    wanted = {key.encode() for key in keys}
    members = None if wanted else 0
    """The depth at which elements begin, where one of the arrays is open."""
    held, seen, line, depth, start = b"", 0, 1, 0, -1
    last_text, text_end, counted = b"", 0, 0
    for chunk in chunks:
        done = start if start >= 0 else seen
        line += held.count(b"\n", counted, done)
        held, seen, text_end, counted = held[done:] + chunk, seen - done, text_end - done, 0
        start = 0 if start >= 0 else -1
        if len(held) - len(chunk) > MAX_LINE:
            raise InputRejected(f"{name}:{line}: an element is larger than {MAX_LINE >> 20} MiB")
        for token in _TOKEN.finditer(held, seen):
            sign, at = token[0], token.start()
            if sign[0] == 0x22:
                if not token[1]:
                    break  # the text goes on in the next chunk
                last_text, text_end, seen = sign[1:-1], token.end(), token.end()
                continue
            seen = token.end()
            if sign == b"{" and depth == members and start < 0:
                start = at
            elif sign == b"[" and start < 0:
                named = last_text in wanted and _COLON.fullmatch(held, max(0, text_end), at)
                if depth == 0 or (members is None and named):
                    members = depth + 1
            if sign in (b"{", b"["):
                depth += 1
                continue
            depth -= 1
            if start >= 0 and depth == members:
                line, counted = line + held.count(b"\n", counted, start), start
                yield line, held[start:seen]
                start = -1
            elif members is not None and depth < members:
                members = None if wanted else 0
