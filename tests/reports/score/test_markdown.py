"""A pull request comment: hostile text stays text, and tables keep their columns."""

import re
from itertools import chain

from markdown_it import MarkdownIt

from ragauge.reports import rendering
from ragauge.reports.formats.markdown import LONGEST, code, prose


def render(report, **how):
    return rendering.render(report, "markdown", **how)


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens(written):
    for token in PARSER.parse(written):
        yield token
        yield from token.children or ()


def tables(written):
    """The cells of each row of each table."""
    found = []
    for token in PARSER.parse(written):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append(0)
        elif token.type in ("td_open", "th_open"):
            found[-1][-1] += 1
    return found


def html(written):
    return [t.content.strip() for t in tokens(written) if t.type in ("html_block", "html_inline")]


def test_hostile_text_changes_no_table(hostile, plain):
    assert tables(render(hostile)) == tables(render(plain))
    # A row too long is cut by the parser, so every pipe must also be counted in the source.
    rows = [line for line in render(hostile).splitlines() if line.startswith("| ")]
    counts = chain.from_iterable(tables(render(hostile)))
    for cells, line in zip(counts, unruled(rows), strict=True):
        assert line.replace("\\|", "").count("|") == cells + 1


def unruled(rows):
    return [row for row in rows if not set(row) <= set("|-: ")]


def test_no_html_survives_but_our_own(hostile, plain):
    ours = ["<details>\n<summary>What the metrics mean</summary>", "</details>"]
    assert html(render(hostile)) == html(render(plain)) == ours
    assert "<script>" not in PARSER.render(render(hostile))


def test_mentions_stand_in_code_or_are_parted(hostile):
    for token in tokens(render(hostile)):
        if token.type == "text":
            assert "@team" not in token.content


def test_no_link_is_made(make, plain):
    text = "[x](http://a.example) <http://b.example> ![i](c) www.d.example"
    row = make["row"](text, "ANS_NO_HIT", claim=text, cited=(text,))
    written = render(make["report"](questions=(row,), advice=plain.advice))
    assert not [t for t in tokens(written) if t.type in ("link_open", "image")]
    spelled = prose(text)
    assert "http://" not in spelled
    assert "www." not in spelled
    assert [t.type for t in tokens(spelled) if t.type in ("link_open", "image")] == []


def test_a_code_span_cannot_be_closed_from_inside():
    for text in ("`", "``", "a`b``c", "` x `", "\\", "\\`", "a\\|b"):
        [inline] = [t for t in PARSER.parse(code(text)) if t.type == "inline"]
        assert [(t.type, t.content) for t in inline.children] == [("code_inline", text)]
    assert code(None) == code(" ") == "–"


def test_a_pipe_comes_back_whole(make):
    row = make["row"]("a|b", "ANS_NO_HIT", claim="c\\|d || e")
    spans = [
        t.content
        for t in tokens(render(make["report"](questions=(row,))))
        if t.type == "code_inline"
    ]
    assert "a|b" in spans
    assert "c\\|d || e" in spans


def test_prose_makes_no_list_heading_or_emphasis():
    for text in ("- a", "1. a", "# a", "> a", "+ a", "*a* _b_ ~~c~~", "1) a"):
        kinds = {t.type for t in PARSER.parse(prose(text))}
        assert kinds == {"paragraph_open", "inline", "paragraph_close"}
        inline = next(t for t in PARSER.parse(prose(text)) if t.type == "inline")
        assert {t.type for t in inline.children} <= {"text", "text_special"}
    [whole] = [t for t in PARSER.parse(prose("``<b>*a*``")) if t.type == "inline"]
    assert {t.type for t in whole.children} <= {"text", "text_special", "code_inline"}


def test_the_longest_report_is_a_comment_github_takes(make):
    long = "|" * 3000
    rows = [make["row"](long, "ERROR", claim=long, cited=(long,) * 10) for _ in range(100)]
    written = render(make["report"](questions=tuple(rows)))
    assert re.search(r"And \d+ more; the JSON report has them", written)
    assert len(written) < 65_536
    assert max(len(t.content) for t in tokens(written) if t.type == "code_inline") <= LONGEST
