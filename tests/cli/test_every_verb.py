"""Every verb starts in a process of its own; the other tests call it in theirs."""

import pytest

from ragauge.cli.main import VERBS
from tests.cli.command import in_a_process, ragauge


@pytest.mark.parametrize("verb", VERBS)
def test_a_process_prints_what_a_call_prints(verb):
    done = in_a_process(verb, "--help")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == ragauge(verb, "--help").stdout != b""
