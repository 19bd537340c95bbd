"""Retrieved objects of other frameworks as citation payloads, without importing any of them."""

from __future__ import annotations

from ragauge.citations.adapters.projection import Projection, project, project_all

__all__ = ["Projection", "project", "project_all"]
