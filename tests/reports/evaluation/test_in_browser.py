"""The pages of evaluations in a real browser: silent, fitting, and opened without a script."""

import base64

import pytest
from msgspec import structs

from tests.reports.evaluation.reports import LETTERS, MAKERS, everything, ner, types
from tests.reports.test_html_in_browser import NARROW, WIDE, browser, opened

__all__ = ["browser", "opened"]

EDGES = """async url => {
  const picture = new Image();
  picture.src = url;
  await picture.decode();
  const drawn = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
  drawn.drawImage(picture, 0, 0);
  return [1, picture.width - 2].map(x => drawn.getImageData(x, picture.height - 8, 1, 1).data[0]);
}"""

sizes = pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])


@sizes
def test_every_page_opens_from_disk_in_silence_and_fits(size, opened):
    long = types(labels=tuple(f"museum of {letter}" for letter in LETTERS))
    for report in (*(make() for make in MAKERS.values()), long, everything()):
        page, file = opened(report, size)
        page.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.quiet(file)
        assert page.overflow() <= 0


def many_errors():
    """Of 300 errors, the first type stands at the end."""
    made = ner()
    missed, spurious = made.detail.errors[4], made.detail.errors[3]
    errors = (
        *(structs.replace(missed, document=f"doc-{n:03d}") for n in range(240)),
        *(structs.replace(spurious, document=f"doc-{n:03d}") for n in range(59)),
        structs.replace(missed, gold=structs.replace(missed.gold, type="LAST")),
    )
    counts = {"missed": 241, "spurious": 59}
    return ner(detail=structs.replace(made.detail, errors=errors, error_counts=counts))


def test_many_errors_are_opened_by_a_click(opened):
    page, _ = opened(many_errors())
    rows = page.page.locator(".errors tbody tr:not(.note, .below)")

    def seen():
        return sum(one.is_visible() for one in rows.all())

    kinds = 2
    assert seen() == kinds + 50
    page.page.get_by_text("Show 250 more rows").click()
    assert seen() == kinds + 300


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_table_that_scrolls_has_a_shadow_where_it_goes_on(scheme, opened):
    page, _ = opened(ner(), NARROW, scheme)
    frame = page.page.locator(".tables .scroll").first
    assert frame.evaluate("one => one.scrollWidth - one.clientWidth") > 20

    def edges():
        """How bright the left and the right edge are, near the bottom."""
        picture = base64.b64encode(frame.screenshot()).decode()
        return page.context.new_page().evaluate(EDGES, f"data:image/png;base64,{picture}")

    left, right = edges()
    assert abs(left - right) > 15
    frame.evaluate("one => one.scrollLeft = one.scrollWidth")
    now_left, now_right = edges()
    assert (abs(now_left - right) <= 3, abs(now_right - left) <= 3) == (True, True)
