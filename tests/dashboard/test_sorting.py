"""Tables sorted by the values of their cells: against a plain twin, with links in their heads."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.dashboard.page import Links
from ragauge.dashboard.report_file import FileLinks
from ragauge.reports.document import Cell, Column, Row, Table, names, number
from ragauge.reports.formats.html import Sorting, ordered, write_blocks
from tests.dashboard.page_parts import Parts
from tests.reports.payloads import PAYLOADS

foreign = st.one_of(st.sampled_from(PAYLOADS), st.text(max_size=12))
values = st.one_of(st.none(), st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6))


def table(rows: list[tuple[str, float | None]], **changed: object) -> Table:
    columns = [Column("id"), Column("value", right=True)]
    return Table(
        columns=columns, rows=[Row((names(id), number(value))) for id, value in rows], **changed
    )


def ids(page: str, at: int = 0) -> list[str]:
    return Parts(page).column("id", at)


PAIR = table([("a", 1.0), ("b", 2.0)])


def plainly_sorted(
    rows: list[tuple[str, float | None]], descending: bool
) -> list[tuple[str, float | None]]:
    """The twin: each row is put before the first that must come after it."""
    made: list[tuple[str, float | None]] = []
    for id, value in rows:
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
        made.insert(place, (id, value))
    return made


@given(st.lists(st.tuples(foreign, values), min_size=2, max_size=12), st.booleans())
def test_rows_come_in_the_order_of_the_plain_twin(rows, descending):
    made = ordered(table(rows).rows, 1, descending)
    told = [(row.cells[0].text, row.cells[1].value) for row in made]
    assert told == plainly_sorted(rows, descending)


def test_words_sort_as_people_count():
    rows = table([(id, 1.0) for id in ("h10", "H2", "–", "h1", "b", "h" + "9" * 5000)]).rows
    rising = [row.cells[0].text for row in ordered(rows, 0, False)]
    assert rising[:4] == ["b", "h1", "H2", "h10"] and rising[-1] == "–"
    assert [row.cells[0].text for row in ordered(rows, 0, True)][-3:] == ["h1", "b", "–"]


def test_notes_and_inner_rows_go_where_their_row_goes():
    rows = [
        Row((names("a"), number(2.0)), "note of a"),
        Row((names("inside a"), number(9.0)), inner=True),
        Row((names("b"), number(1.0)), "note of b"),
    ]
    made = ordered(rows, 1, False)
    assert [row.cells[0].text for row in made] == ["b", "a", "inside a"]
    assert [row.note for row in made] == ["note of b", "note of a", ""]


def test_heads_lead_to_the_other_order_of_the_same_page():
    fields = [("words", 'a"<b> &'), ("order", "1.1"), ("tag", "x"), ("tag", "y")]
    made = str(write_blocks([PAIR], sorting=Links("/runs/1", fields).sorting))
    first, second = re.findall(r'<a class="sort" href="(.*?)"', made)
    kept = "/runs/1?words=a%22%3Cb%3E+%26&amp;tag=x&amp;tag=y&amp;order="
    assert (first, second) == (f"{kept}1.1-#table-1", f"{kept}1.2#table-1")
    assert made.count("aria-sort") == 1 and 'aria-sort="ascending"' in made
    assert 'aria-sort="descending"' in write_blocks([PAIR], sorting=Sorting(str, "1.2-"))


def test_tables_written_one_after_another_have_numbers_of_their_own():
    sorting = Sorting(lambda order: f"/?order={order}", "2.2-")
    pages = [str(write_blocks([PAIR], sorting=sorting)) for _ in range(3)]
    assert [ids(page) for page in pages] == [["a", "b"], ["b", "a"], ["a", "b"]]
    assert [re.findall(r'id="(table-\d+)"', page) for page in pages] == [
        ["table-1"],
        ["table-2"],
        ["table-3"],
    ]


@pytest.mark.parametrize("order", ["1.3", "9.1", "0.1", "1.0", "1", "1.1--", "x", "", "1.1 "])
def test_an_order_there_is_not_changes_nothing(order):
    assert write_blocks([PAIR], sorting=Sorting(str, order)) == write_blocks(
        [PAIR], sorting=Sorting(str)
    )


def test_heads_without_words_and_paged_tables_have_no_link_of_their_own():
    bare = Table(columns=[Column("id"), Column("", plot=True)], rows=PAIR.rows)
    assert str(write_blocks([bare], sorting=Sorting(str, "1.2-"))).count("<a ") == 1
    head = Column("id", href="/?sort=-id", order="ascending")
    paged = Table(paged=True, columns=[head, Column("value")], rows=PAIR.rows)
    made = str(write_blocks([paged, PAIR], sorting=Sorting(str, "1.1-")))
    assert made.count('<a class="sort" href="/?sort=-id">id</a>') == 1
    assert "data-paged" in made and made.count('aria-sort="ascending"') == 1
    assert (ids(made), ids(made, 1)) == (["a", "b"], ["b", "a"]), "only others are numbered"


def test_a_script_sorts_by_values_in_a_page_and_in_the_one_file():
    times = [Cell("0.9 s", 900), Cell("1.2 s", 1200), Cell("b", "a"), Cell("–"), Cell("2", True)]
    made = Table(columns=[Column("took")], rows=[Row((cell,)) for cell in times])
    file = FileLinks("run", [], lambda wanted: False)
    for sorting in (Links().sorting, file.sorting):
        page = str(write_blocks([made], sorting=sorting))
        assert re.findall(r'data-sort="(.*?)"', page) == ["900", "1200", "a", "1"]
    assert "<a " not in write_blocks([made], sorting=file.sorting)
    assert "data-sort" not in write_blocks([made]), "a report on its own has no script"


@given(st.lists(st.tuples(foreign, foreign), min_size=2, max_size=6), st.text(max_size=8))
def test_foreign_text_adds_no_tag_and_no_attribute(rows, chosen):
    def shape(texts: list[tuple[str, str]]) -> object:
        made = Table(
            columns=[Column("id"), Column("value", foreign=True)],
            rows=[Row((names(id), Cell(id, value, foreign=True))) for id, value in texts],
        )
        return Parts(str(write_blocks([made], sorting=Sorting(str, chosen)))).shape

    assert shape([(f"{id}x", f"{value}y") for id, value in rows]) == shape([("x", "y")] * len(rows))
