"""What people read is plain English: words that users stumbled over do not come back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GENERATED = {
    f"docs/reference/{name}.md"
    for name in ("causes", "causes.zh", "codes", "fields", "jitters", "metrics", "presets")
}
"""Their text comes from the code and is not searched yet."""
ALLOWED: dict[str, tuple[str, ...]] = {}
"""For each page the sentences that may use one of the words, such as a quotation."""

INSTEAD = {
    r"told|tells": "says, shows, reports",
    r"beside": "next to, along with, compared with",
    r"stands?": "is, appears",
    r"mend(s|ed|ing)?": "fix",
    r"of one mind": "agree",
    r"is no number": "is not a number",
    r"comes? to": "equals, gives",
    r"be heard": "be reached",
    r"asked for": "requested",
    r"made of": "computed from, consists of",
    r"blanks": "spaces",
    r"as a whole": "complete",
}
WORDS = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")

PAGES = [
    page
    for page in (
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "training/DATA_CARD.md",
        *sorted((ROOT / "examples").rglob("*.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if page.relative_to(ROOT).as_posix() not in GENERATED
]


def stumbles(text: str) -> Iterator[str]:
    """Each of the words in prose, in its paragraph; code and shown output are not prose."""
    prose = CODE.sub("", FENCED.sub("", text))
    for paragraph in prose.split("\n\n"):
        line = " ".join(paragraph.split())
        for found in WORDS.finditer(line):
            yield f'"{found[0]}" in: {line[max(0, found.start() - 60) : found.end() + 60]}'


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_avoid_words_that_make_readers_stop(page: Path):
    text = page.read_text("utf-8")
    for sentence in ALLOWED.get(page.relative_to(ROOT).as_posix(), ()):
        assert sentence in text, f"no longer there, remove it from ALLOWED: {sentence}"
        text = text.replace(sentence, "")
    assert list(stumbles(text)) == [], f"write instead: {INSTEAD}"


def test_only_prose_is_searched():
    text = "Nothing here.\n\n```python\ntold = 1\n```\n\nThe field `told`.\n\nIt stands\nthere.\n"
    assert [found.partition(" in: ")[0] for found in stumbles(text)] == ['"stands"']
