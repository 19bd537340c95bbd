"""Files a command writes never take the place of those it reads."""

from __future__ import annotations

import pytest

from ragauge.cli.command import refuse_overwriting
from ragauge.errors import UsageError
from tests.cli.command import ragauge
from tests.runners.audited import written


def test_every_wrong_output_is_told_and_no_other(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    refuse_overwriting([str(tmp_path / "in"), "-", None], [tmp_path / "out"], str(docs))
    given = [tmp_path / "in", docs / "new.md", docs, tmp_path / "twice", tmp_path / "twice"]
    with pytest.raises(UsageError) as refused:
        refuse_overwriting([str(tmp_path / "in")], given, str(docs))
    facts = [problem.partition(": ")[2].partition(";")[0] for problem in refused.value.problems]
    assert facts == [
        "is read and would be overwritten",
        "lies among the documents of --docs",
        "is a folder",
        "is named for two outputs",
    ]


@pytest.mark.parametrize("output", ["--report", "--log"])
def test_an_audit_does_not_overwrite_what_it_reads(tmp_path, output):
    files = written(tmp_path)
    before = files.manifest.read_bytes()
    done = ragauge("audit", files.traces, "--manifest", files.manifest, output, files.manifest)
    assert done.returncode == 2
    assert b"is read and would be overwritten" in done.stderr
    assert files.manifest.read_bytes() == before
