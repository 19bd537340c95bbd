"""The report as JSON: every key, sorted; the same bytes for the same report."""

from __future__ import annotations

import re

import msgspec

# JSON may hold these as they are, but a terminal obeys them; escaped they mean the same.
_OBEYED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def render(report: object) -> str:
    """JSON with two blanks of indent; a number that is not finite is null, as the format says."""
    encoded = msgspec.json.format(msgspec.json.encode(report, order="sorted"), indent=2)
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded.decode()) + "\n"
