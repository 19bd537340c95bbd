"""GitHub's runner reads the annotations: one command a line, and text cannot make another."""

import re

from ragauge.reports import rendering
from ragauge.reports.formats.github import command


def render(report, **how):
    return rendering.render(report, "github", **how)


COMMAND = re.compile(r"::(\w+)(?: ([^:]*))?::(.*)")


def parsed(written):
    """The commands as the runner takes them apart: properties split at commas, then unescaped."""
    found = []
    for line in written.splitlines():
        kind, listed, message = COMMAND.fullmatch(line).groups()
        pairs = (pair.split("=", 1) for pair in (listed or "").split(",") if pair)
        found.append((kind, {name: unescaped(text) for name, text in pairs}, unescaped(message)))
    return found


def unescaped(text):
    for code, mark in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, mark)
    return text


def test_data_and_properties_are_escaped_by_the_rules():
    assert command("error", "50%,\r\na:b", title="x%:,\r\ny") == (
        "::error title=x%25%3A%2C%0D%0Ay::50%25,%0D%0Aa:b"
    )
    assert command("notice", "done") == "::notice::done"
    assert parsed(command("error", "100%25", file="a,b:c")) == [
        ("error", {"file": "a,b:c"}, "100%25")
    ]


def test_hostile_text_stays_in_its_command(hostile):
    found = parsed(render(hostile))
    assert len(found) == 8
    assert {name for _, properties, _ in found for name in properties} == {"file", "line", "title"}


def test_at_most_ten_of_a_kind_then_the_count(make):
    rows = tuple(make["row"](f"q{n}", "ANS_NO_HIT") for n in range(14))
    gates = tuple(make["gate"](f"acme.m{n}", "=", 1, 0.5, "fail") for n in range(11))
    found = parsed(render(make["report"](passed=False, questions=rows, gates=gates)))
    kinds = [kind for kind, _, _ in found]
    assert (kinds.count("error"), kinds.count("warning"), kinds.count("notice")) == (10, 10, 3)
    assert found[-1][2] == "questions: and 4 more"
