"""The report as JSON: every key, sorted; the same bytes for the same report."""

from __future__ import annotations

import re

import msgspec

# JSON may contain these as they are, but a terminal acts on them; escaped they mean the same.
_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def render(report: object) -> str:
    """JSON indented by two spaces; a number that is not finite is null, as the format requires."""
    encoded = msgspec.json.format(msgspec.json.encode(report, order="sorted"), indent=2)
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded.decode()) + "\n"
