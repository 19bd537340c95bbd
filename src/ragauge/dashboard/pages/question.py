"""The page `question`."""

from __future__ import annotations

from ragauge.dashboard.asked import Asked
from ragauge.dashboard.links import Links
from ragauge.dashboard.material import Material
from ragauge.dashboard.page import Page
from ragauge.dashboard.rendering import render


def page(material: Material, links: Links, asked: Asked) -> Page:
    """To be made."""
    return Page(
        title="question", here="runs", body=render("refusal.html", status=404, words="question")
    )
