"""A packed file gives every key its lines, by a few small reads, and says where it is damaged."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.store import packed
from ragauge.store.packed import INDEX, TRAILER, Packed, pack


def lines_of(read, key):
    found = read.group(key)
    return None if found is None else found.lines


class Looked:
    """A file in memory that counts how it is read."""

    def __init__(self, content: bytes) -> None:
        self.content, self.reads = content, []

    def __call__(self, start: int, stop: int) -> bytes:
        self.reads.append(stop - start)
        return self.content[start:stop]


def packed_file(tmp_path, records, **options) -> bytes:
    path = tmp_path / "packed.jsonl.zst"
    pack(path, records, **options)
    return path.read_bytes()


def opened(content: bytes, **options) -> Packed:
    return Packed(Looked(content), len(content), **options)


def by_key(records) -> dict[str, list[bytes]]:
    """The plain twin: a dictionary of lists."""
    found: dict[str, list[bytes]] = {}
    for key, line in records:
        found.setdefault(key, []).append(line)
    return found


lines = st.integers(0, 9).map(lambda n: json.dumps({"n": n}).encode())
keyed = st.lists(st.tuples(st.text(max_size=3), lines), min_size=1, max_size=30)


@given(keyed, st.sampled_from([packed.key_hash, len, lambda key: 7, lambda key: (1 << 64) - 1]))
def test_every_key_has_its_lines_in_their_order_whatever_the_hashes(records, hashed):
    with tempfile.TemporaryDirectory() as folder:
        content = packed_file(Path(folder), records, hashed=hashed)
    twin = by_key(records)
    few = len(twin) <= Packed.ALIKE
    read = opened(content, hashed=hashed)
    assert sorted((one.key, one.lines) for one in read.groups()) == sorted(twin.items())
    if few:
        assert {key: lines_of(read, key) for key in twin} == twin
        assert lines_of(read, "another key") is None


def test_keys_stand_in_the_order_they_were_first_given(tmp_path):
    records = [("b", b"1"), ("a", b"2"), ("b", b"3"), ("c", b"4")]
    read = opened(packed_file(tmp_path, records))
    assert [(one.key, one.lines) for one in read.groups()] == [
        ("b", [b"1", b"3"]),
        ("a", [b"2"]),
        ("c", [b"4"]),
    ]


def test_zstd_reads_the_whole_as_json_lines(tmp_path):
    content = packed_file(tmp_path, [("ü\n", b'{"n":1}'), ("b", b'{"n":2}'), ("ü\n", b'{"n":3}')])
    reader = zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True)
    told = [json.loads(line) for line in reader.read().splitlines()]
    assert told == [{"key": "ü\n"}, {"n": 1}, {"n": 3}, {"key": "b"}, {"n": 2}]


def test_one_key_of_very_many_takes_few_small_reads(tmp_path):
    count = 50_000
    content = packed_file(tmp_path, ((f"q{n}", b'{"n":%d}' % n) for n in range(count)))
    for asked, found in [("q0", [b'{"n":0}']), ("q49999", [b'{"n":49999}']), ("none", None)]:
        part = Looked(content)
        assert lines_of(Packed(part, len(content)), asked) == found
        assert len(part.reads) <= 5
        assert sum(part.reads) < len(content) // 20


def test_the_same_records_give_the_same_bytes(tmp_path):
    records = [(f"q{n % 7}", b'{"n":%d}' % n) for n in range(100)]
    (tmp_path / "again").mkdir()
    assert packed_file(tmp_path, records) == packed_file(tmp_path / "again", iter(records))


def test_without_records_there_is_no_file_and_no_spool(tmp_path):
    assert pack(tmp_path / "none.zst", []) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_source_that_fails_leaves_neither_file_nor_spool(tmp_path):
    def failing():
        yield "q1", b"{}"
        raise UsageError("traces.jsonl: gone")

    with pytest.raises(UsageError, match="gone"):
        pack(tmp_path / "none.zst", failing())
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from ragauge.store.packed import pack

def records():
    for n in range(1000):
        yield f"q{n}", b"{}" * 1000
    os.kill(os.getpid(), signal.SIGKILL)

pack(Path(sys.argv[1]) / "packed.zst", records())
"""


def test_a_kill_leaves_no_spool(tmp_path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert ended.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_of_a_key_with_too_much_the_last_lines_are_kept_and_the_rest_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "LONGEST", 100)
    records = [("q", b'"%030d"' % n) for n in range(5)] + [("long", b"9" * 200)]
    read = opened(packed_file(tmp_path, records))
    group = read.group("q")
    assert group is not None
    assert (group.lines, group.left_out) == ([b'"%030d"' % 3, b'"%030d"' % 4], 3)
    assert read.group("long") == packed.Group("long", [], 1)


def test_a_frame_that_would_grow_beyond_the_limit_is_refused_in_words(tmp_path, monkeypatch):
    content = packed_file(tmp_path, [("q", b"1" * 5_000)])
    monkeypatch.setattr(packed, "LONGEST", 1_000)
    with pytest.raises(UsageError, match=r"a key has 5,\d+ bytes"):
        lines_of(opened(content), "q")


def test_a_file_cut_anywhere_or_with_any_byte_changed_is_an_error_in_words_or_reads_the_same(
    tmp_path,
):
    records = [(f"q{n}", b'{"n":%d}' % n) for n in range(5)]
    content, twin = packed_file(tmp_path, records), by_key(records)
    cut = (content[:size] for size in range(len(content)))
    changed = (
        content[:at] + bytes([content[at] ^ bits]) + content[at + 1 :]
        for at in range(len(content))
        for bits in (1, 0x80, 0xFF)
    )
    faults = [
        fault for broken in itertools.chain(cut, changed) for fault in faults_of(broken, twin)
    ]
    assert len(faults) > len(content)
    assert all(fault.startswith("answers: ") for fault in faults)


def faults_of(content: bytes, keys) -> list[str]:
    """What reading each key, and the whole, says of a file."""
    read, found = opened(content, name="answers"), []
    for look in [
        lambda: list(read.groups()),
        *(lambda key=key: lines_of(read, key) for key in keys),
    ]:
        try:
            look()
        except UsageError as error:
            found.append(str(error))
    return found


def test_a_file_of_a_later_version_says_so(tmp_path):
    content = packed_file(tmp_path, [("q", b"{}")])
    later = content[: -TRAILER.size] + TRAILER.pack(1, 2, packed.MAGIC)
    with pytest.raises(UsageError, match="version 2, and this Ragauge reads version 1"):
        lines_of(opened(later), "q")


def test_an_index_of_one_hash_only_is_not_believed(tmp_path):
    records = [(f"q{n}", b"{}") for n in range(Packed.ALIKE + 1)]
    content = packed_file(tmp_path, records, hashed=lambda key: 7)
    with pytest.raises(UsageError, match="too many keys of one hash"):
        lines_of(opened(content, hashed=lambda key: 7), "q0")


def test_an_index_that_claims_more_than_the_file_is_damaged(tmp_path):
    content = packed_file(tmp_path, [("q", b"{}")])
    claimed = content[: -TRAILER.size] + TRAILER.pack(1 << 60, 1, packed.MAGIC)
    with pytest.raises(UsageError, match="index is larger than the file"):
        lines_of(opened(claimed), "q")


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="cannot be written"):
        pack(tmp_path / "none" / "packed.zst", [("q", b"{}")])


def test_the_index_is_ordered_and_small(tmp_path):
    content = packed_file(tmp_path, [(f"q{n}", msgspec.json.encode(n)) for n in range(100)])
    count, _, _ = TRAILER.unpack(content[-TRAILER.size :])
    index = content[-TRAILER.size - count * INDEX.itemsize : -TRAILER.size]
    hashes = [index[at : at + 8][::-1] for at in range(0, len(index), INDEX.itemsize)]
    assert (count, hashes) == (100, sorted(hashes))
