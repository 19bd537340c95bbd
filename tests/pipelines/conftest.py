"""Fixtures of the tests of systems."""

from __future__ import annotations

import pytest

from tests.pipelines.misbehaving import serving


@pytest.fixture
def misbehaving():
    """A server that misbehaves as the path says: `misbehaving.at("html")`."""
    with serving() as server:
        yield server
