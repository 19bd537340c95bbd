"""Tables sorted in the source of a page: against a plain twin, and never touching the rest."""

from __future__ import annotations

import re
from html import escape, unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ragauge.dashboard.sorting import LONGEST_PAGE, sort_links

from tests.reports.payloads import PAYLOADS

OURS = re.compile(
    r'<a class="sort" href="[^"<>]*">(?P<head>.*?)</a>'
    r'| id="table-[0-9]+"| aria-sort="(?:a|de)scending"',
    re.DOTALL,
)
"""All that sorting may put into a page."""


def stripped(page: str) -> str:
    return OURS.sub(lambda found: found["head"] or "", page)


def table(rows: list[str], heads: str = "", marks: str = "") -> str:
    heads = heads or '<th scope="col">id</th><th scope="col" class="n">value</th>'
    body = "\n".join(rows)
    return f"<table{marks}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"


def row(id: str, value: str, note: str = "") -> str:
    below = f'\n<tr class="note"><td colspan="2"><bdi>{note}</bdi></td></tr>' if note else ""
    return f'<tr><th scope="row"><bdi>{id}</bdi></th><td class="n">{value}</td></tr>{below}'


def page(*parts: str) -> str:
    return "<header>a < b &amp; c</header>\n" + "\n<p>between\n".join(parts) + "\n<footer>"


def ids(made: str) -> list[str]:
    return [unescape(id) for id in re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', made)]


PAIR = [row("a", "1"), row("b", "2")]

foreign = st.one_of(st.sampled_from(PAYLOADS), st.text(max_size=12)).map(escape)
numbers = st.one_of(
    st.just(("–", None)),
    st.just(("", None)),
    st.integers(-(10**9), 10**9).map(lambda n: (f"{n:,}", float(n))),
    st.integers(0, 100).map(lambda n: (f"{n} %", float(n))),
    st.integers(0, 99).map(lambda n: (f"{n} of 100", float(n))),
    st.integers(0, 1000).map(lambda n: (f"−{n / 8}", -n / 8)),
    st.integers(0, 1000).map(lambda n: (f"+{n / 8} [0.0, 9.5]", n / 8)),
    st.integers(0, 1000).map(lambda n: (f"[{n / 8}, {n}]", n / 8)),
)


def plainly_sorted(rows: list[tuple[str, float | None]], descending: bool) -> list[str]:
    """The twin: each row is put before the first that must come after it."""
    made: list[tuple[str, float | None]] = []
    for text, value in rows:
        place = len(made)
        for other, (_, theirs) in enumerate(made):
            is_last = value is not None and theirs is None
            is_beyond = (
                value is not None
                and theirs is not None
                and (theirs < value if descending else theirs > value)
            )
            if is_last or is_beyond:
                place = other
                break
        made.insert(place, (text, value))
    return [text for text, _ in made]


@given(st.lists(st.tuples(foreign, numbers, foreign), min_size=2, max_size=12), st.booleans())
def test_rows_come_in_the_order_of_the_plain_twin(rows, descending):
    made = [(row(id, text, note), value) for id, (text, value), note in rows]
    given = page(table(PAIR), table([text for text, _ in made]))
    expected = page(table(PAIR), table(plainly_sorted(made, descending)))
    order = "2.2-" if descending else "2.2"
    assert stripped(sort_links(given, "/x", [], order)) == expected


@given(
    st.lists(st.tuples(foreign, foreign, foreign), min_size=2, max_size=6),
    st.one_of(st.none(), st.text(max_size=8)),
    st.lists(st.tuples(st.text(max_size=8), st.text(max_size=8)), max_size=3),
)
def test_without_a_table_to_sort_a_page_only_gains_links(rows, chosen, query):
    given = page(table([row(*cells) for cells in rows]), table(PAIR))
    made = sort_links(given, "/x", query, chosen)
    assert stripped(made) == given
    assert made.count('<a class="sort"') == 4


@given(st.lists(foreign, min_size=2, max_size=8))
def test_foreign_text_comes_through_as_it_stood(texts):
    given = page(table([row(text, str(place)) for place, text in enumerate(texts)]))
    made = stripped(sort_links(given, "/x", [], "1.1"))
    assert sorted(made) == sorted(given)
    assert sorted(re.findall(r"<bdi>.*?</bdi>", made, re.DOTALL)) == sorted(
        f"<bdi>{text}</bdi>" for text in texts
    )


def test_words_sort_as_people_count():
    given = table([row(id, "1") for id in ("h10", "H2", "–", "h1", "b", "h" + "9" * 5000)])
    assert ids(sort_links(given, "/", [], "1.1"))[:4] == ["b", "h1", "H2", "h10"]
    assert ids(sort_links(given, "/", [], "1.1-"))[-3:] == ["h1", "b", "–"]


def test_times_are_words_and_not_years():
    days = [row(f"{n}", f"2026-{month}-01 12:00") for n, month in enumerate(("11", "02", "07"))]
    assert ids(sort_links(table(days), "/", [], "1.2")) == ["1", "2", "0"]


def test_a_cell_may_say_what_it_is_sorted_by():
    rows = [
        f'<tr><th scope="row"><bdi>{id}</bdi></th><td data-sort="{key}">{text}</td></tr>'
        for id, key, text in (("a", "900", "0.9 s"), ("b", "1200", "1.2 s"), ("c", "50", "50 ms"))
    ]
    assert ids(sort_links(table(rows), "/", [], "1.2")) == ["c", "a", "b"]


def test_heads_lead_to_the_other_order_of_the_same_page():
    query = [("words", 'a"<b> &'), ("order", "1.1"), ("tag", "x"), ("tag", "y")]
    made = sort_links(table(PAIR), "/runs/1", query, "1.1")
    first, second = re.findall(r'href="(.*?)"', made)
    kept = "/runs/1?words=a%22%3Cb%3E+%26&amp;tag=x&amp;tag=y&amp;order="
    assert (first, second) == (f"{kept}1.1-#table-1", f"{kept}1.2#table-1")
    assert re.findall(r'<th scope="col"[^>]*>', made) == [
        '<th scope="col" aria-sort="ascending">',
        '<th scope="col" class="n">',
    ]
    assert 'aria-sort="descending"' in sort_links(table(PAIR), "/", [], "1.2-")


def test_a_table_with_a_name_keeps_it():
    made = sort_links(table(PAIR, marks=' id="gates"'), "/", [], None)
    assert "#gates" in made and "table-1" not in made


def test_heads_without_words_have_no_link():
    heads = '<th scope="col">id</th><th scope="col" class="plot"></th>'
    made = sort_links(table(PAIR, heads), "/", [], "1.2-")
    assert made.count("<a ") == 1 and stripped(made) == table(PAIR, heads)


@pytest.mark.parametrize("order", ["1.3", "9.1", "0.1", "1.0", "1", "1.1--", "x", "", "1.1 "])
def test_an_order_there_is_not_changes_nothing(order):
    assert sort_links(table(PAIR), "/", [], order) == sort_links(table(PAIR), "/", [], None)


WHOLE = '<tr><td colspan="2">both</td></tr>'
LINKED = '<th scope="col"><a href="/">id</a></th><th scope="col">value</th>'
TOLD = '<th scope="col" aria-sort="ascending">id</th><th scope="col">value</th>'


@pytest.mark.parametrize(
    "left",
    [
        table(PAIR, marks=" data-paged"),
        table(PAIR, marks=' class="matrix" data-plain'),
        table([*PAIR, WHOLE]),
        table(['<tr><td rowspan="2">1</td><td>2</td></tr>', *PAIR]),
        table(PAIR, LINKED),
        table(PAIR, TOLD),
        table(PAIR[:1]),
        table(['<tr class="note"><td colspan="2">first</td></tr>', *PAIR]),
        table([*PAIR, "<tr><td>one cell</td></tr>"]),
        table([*PAIR, f"<tr><td>x</td><td>{table(PAIR, marks=' data-plain')}</td></tr>"]),
        table([*PAIR, "<tr><td>open<td>cells"]),
        table(PAIR).replace("</tbody>", "</tbody><tbody></tbody>"),
        table(PAIR).replace("</tr></thead>", "</tr><tr><th>more</th></tr></thead>"),
        "<table><tbody>" + "".join(PAIR) + "</tbody></table>",
        f"<!-- {table(PAIR)} -->",
        f"<script type='application/json'>{table(PAIR)}</script>",
        f"<textarea>{table(PAIR)}</textarea>",
        "<table",
        "</table>",
    ],
)
def test_what_is_no_plain_table_is_left_alone(left):
    given = page(left, table(PAIR))
    assert left in sort_links(given, "/", [], "1.1-")
    assert stripped(sort_links(given, "/", [], None)) == stripped(given)


def test_a_page_too_long_is_left_alone():
    given = table(PAIR) + " " * LONGEST_PAGE
    assert sort_links(given, "/", [], "1.1-") == given


@given(st.text(alphabet="<>/ab=\"' -!tr", max_size=60))
def test_a_page_out_of_order_is_never_an_error(text):
    given = f"<table><thead><tr><th scope='col'>{text}"
    assert stripped(sort_links(given, "/", [], "1.1")) == given
