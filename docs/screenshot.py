"""Takes the README's picture of the dashboard: the demo's history, served, in the real browser.

python docs/screenshot.py

Pictures are not compared: fonts differ from machine to machine. Look at it before it is kept.
"""

import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ragauge.cli.demo import demo  # noqa: E402 (after the path is set)
from ragauge.store.history import open_history  # noqa: E402
from tests.chromium import started  # noqa: E402
from tests.dashboard.served import serving  # noqa: E402

PICTURE = ROOT / "docs" / "images" / "dashboard.png"
SIZE = {"width": 1180, "height": 1060}


def main() -> None:
    with TemporaryDirectory() as folder:
        CliRunner().invoke(demo, ["--into", folder], catch_exceptions=False)
        place = str(Path(folder) / "history")
        with closing(open_history(place, create=False)) as history:
            swept = history.find("faulty")
        with serving(place, shown="demo/history") as served, started() as browser:
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(served.at(f"/runs/{swept.id}/heat-map?label=flaky"))
            page.wait_for_load_state("networkidle")
            page.screenshot(path=PICTURE)
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
