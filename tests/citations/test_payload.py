"""Citation payloads: what is whole is read, and what is not is told field by field."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.citations.payload import (
    SHOWN,
    complete_payload,
    display_value,
    read_offsets,
    read_payload,
)
from ragauge.contracts.citation import Citation, Offsets, Window
from tests.citations.answers import FIXTURE, MODEL_SIDE, NOT_OF_THEIR_KIND, OPTIONAL, REQUIRED


def codes(raw: Any) -> list[str]:
    return [finding.code for finding in read_payload(raw).findings]


def test_the_payload_of_the_specification_is_whole():
    read = read_payload(FIXTURE)
    assert read.findings == []
    assert msgspec.to_builtins(read.citation) == FIXTURE
    assert read.citation == complete_payload(FIXTURE)
    assert read.fields["offsets"] == Offsets(2310, 2688)
    assert read.fields["window"] == Window(120, 120)


def test_optional_fields_may_be_left_out_or_null():
    bare = {name: FIXTURE[name] for name in REQUIRED}
    assert codes(bare) == []
    assert codes({**bare, **dict.fromkeys(OPTIONAL)}) == []


def test_keys_nobody_knows_are_no_fault():
    assert codes({**FIXTURE, "colour": "red", "text": "Keys are turned.", 7: None}) == []


@pytest.mark.parametrize("lost", [..., None, "", " \t\n"], ids=repr)
@pytest.mark.parametrize("field", REQUIRED)
def test_a_required_field_that_is_absent_or_blank_is_missing(field, lost):
    payload = {**FIXTURE, field: lost}
    if lost is ...:
        del payload[field]
    if field in ("offsets", "tokens") and isinstance(lost, str):
        assert codes(payload) == [f"bad_type_{field}"]
        return
    read = read_payload(payload)
    assert [(one.code, one.field) for one in read.findings] == [(f"missing_{field}", field)]
    assert read.citation is None
    assert set(FIXTURE) - set(read.fields) == {field}


def test_a_store_without_a_hash_is_no_hash():
    assert codes({**FIXTURE, "index_hash": "faiss:"}) == ["missing_index_hash"]
    assert codes({**FIXTURE, "index_hash": "2f7d9a"}) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [(field, value) for field, values in NOT_OF_THEIR_KIND.items() for value in values],
    ids=lambda value: str(value)[:24],
)
def test_a_field_that_is_not_of_its_kind_is_told_with_what_it_should_be(field, value):
    read = read_payload({**FIXTURE, field: value})
    assert [finding.code for finding in read.findings] == [f"bad_type_{field}"]
    assert read.findings[0].field.partition(".")[0] == field
    assert read.findings[0].got is not None
    assert read.findings[0].expected
    assert field not in read.fields
    assert (read.citation is None) == (field in REQUIRED)


@pytest.mark.parametrize("values", [0, 1], ids=["first", "second"])
def test_every_fault_of_a_payload_is_told_at_once(values):
    broken = {name: NOT_OF_THEIR_KIND[name][values] for name in FIXTURE}
    assert sorted(codes(broken)) == sorted(f"bad_type_{name}" for name in FIXTURE)
    assert sorted(codes({})) == sorted(f"missing_{name}" for name in REQUIRED)
    assert codes({**broken, "rev": None, "tokens": None})[-2:] == ["missing_tokens", "missing_rev"]


def test_what_the_model_writes_alone_lacks_what_the_retriever_knows():
    lost = set(REQUIRED) - set(MODEL_SIDE)
    assert set(codes({name: FIXTURE[name] for name in MODEL_SIDE})) == {
        f"missing_{name}" for name in lost
    }


@pytest.mark.parametrize("raw", [None, 7, True, [FIXTURE], (), b"c1", object(), {1, 2}, 1e400])
def test_what_has_no_fields_is_one_fault(raw):
    found = read_payload(raw).findings
    assert [(one.code, one.field) for one in found] == [("bad_type_citation", None)]


@pytest.mark.parametrize("name", ["id", "chunk_id"])
def test_the_id_may_have_another_name(name):
    payload = {**FIXTURE, name: "hb24-sec-keys-0007"}
    del payload["snippet_id"]
    assert read_payload(payload).citation == read_payload(FIXTURE).citation


def test_the_field_of_the_payload_goes_before_other_names_of_the_id():
    assert read_payload({**FIXTURE, "id": "6f1c"}).citation.snippet_id == FIXTURE["snippet_id"]
    assert codes({**FIXTURE, "snippet_id": 7, "id": "6f1c"}) == ["bad_type_snippet_id"]


def test_a_typed_payload_is_checked_as_one_of_plain_values():
    whole = read_payload(FIXTURE).citation
    assert read_payload(whole) == read_payload(FIXTURE)
    backwards = msgspec.structs.replace(whole, offsets=Offsets(9, 3), rev=" ", score_norm=7.0)
    assert codes(backwards) == ["bad_offsets", "bad_type_score_norm", "missing_rev"]
    assert codes({**FIXTURE, "offsets": Offsets(-4, 3)}) == ["bad_offsets"]


def test_any_mapping_will_do():
    assert read_payload(MappingProxyType(FIXTURE)).citation == read_payload(FIXTURE).citation


@pytest.mark.parametrize(
    ("written", "start", "end", "unit"),
    [
        ({"start": 4, "end": 9}, 4, 9, "char"),
        ({"start": 4, "end": 9, "unit": None}, 4, 9, "char"),
        ({"start": 4, "end": 9, "unit": "token"}, 4, 9, "token"),
        ([4, 9], 4, 9, "char"),
        ((4, 9), 4, 9, "char"),
        ({"char_start": 4, "char_end": 9}, 4, 9, "char"),
        ({"char_start": 4, "char_end": 9, "unit": "char"}, 4, 9, "char"),
        ({"token_start": 4, "token_end": 9}, 4, 9, "token"),
        ({"token_start": 4, "token_end": 9, "start": None, "end": None}, 4, 9, "token"),
        ({"start": 0, "end": 1, "page": 3}, 0, 1, "char"),
        (Offsets(4, 9, "token"), 4, 9, "token"),
    ],
    ids=str,
)
def test_offsets_come_in_several_forms(written, start, end, unit):
    assert read_offsets(written) == (Offsets(start, end, unit), None)
    assert read_payload({**FIXTURE, "offsets": written}).citation.offsets.unit == unit


@pytest.mark.parametrize(
    ("written", "code", "field"),
    [
        ({"start": 9, "end": 9}, "bad_offsets", "offsets"),
        ({"start": 9, "end": 4}, "bad_offsets", "offsets"),
        ([9, 4], "bad_offsets", "offsets"),
        ({"start": -1, "end": 4}, "bad_offsets", "offsets.start"),
        ([4], "bad_offsets", "offsets"),
        ([4, 9, 14], "bad_offsets", "offsets"),
        ([], "bad_offsets", "offsets"),
        ({"start": 4, "end": 9, "token_start": 1, "token_end": 2}, "bad_offsets", "offsets"),
        ({"start": 4, "end": 9, "char_start": 4, "char_end": 9}, "bad_offsets", "offsets"),
        ({"start": 4, "end": 9, "char_start": 5}, "bad_offsets", "offsets"),
        ({"start": 4, "token_start": 1, "token_end": 2}, "bad_offsets", "offsets"),
        ({"char_start": 4, "char_end": 9, "unit": "token"}, "bad_offsets", "offsets"),
        ({"start": 4}, "missing_offsets", "offsets.end"),
        ({"end": 9}, "missing_offsets", "offsets.start"),
        ({"token_start": 4, "token_end": None}, "missing_offsets", "offsets.end"),
        ({}, "missing_offsets", "offsets.start"),
        ({"start": 4, "end": 9, "unit": "byte"}, "bad_type_offsets", "offsets.unit"),
        ({"start": 4, "end": 9, "unit": ""}, "bad_type_offsets", "offsets.unit"),
        ({"start": 4, "end": 9, "unit": ["char"]}, "bad_type_offsets", "offsets.unit"),
        ({"start": True, "end": 9}, "bad_type_offsets", "offsets.start"),
        ({"start": 4, "end": 9.0}, "bad_type_offsets", "offsets.end"),
        (["4", "9"], "bad_type_offsets", "offsets.start"),
        ("4-9", "bad_type_offsets", "offsets"),
    ],
    ids=str,
)
def test_offsets_that_lead_nowhere_or_two_ways_are_refused(written, code, field):
    found = read_payload({**FIXTURE, "offsets": written})
    assert [(one.code, one.field) for one in found.findings] == [(code, field)]
    assert found.citation is None


def test_a_range_of_tokens_is_their_number_and_a_place():
    ranged = {**FIXTURE, "tokens": {"start": 40, "end": 52}}
    assert read_payload(ranged).citation.tokens == 12
    assert read_payload(ranged).citation.offsets == Offsets(2310, 2688)
    del ranged["offsets"]
    assert read_payload(ranged).citation.offsets == Offsets(40, 52, "token")
    assert codes({**ranged, "tokens": {"start": 52, "end": 40}}) == [
        "bad_type_tokens",
        "missing_offsets",
    ]


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.binary(max_size=4)
    | st.sampled_from([10**400, object(), {1}, "\ud800", "char", "token"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["start", "end", "unit", "char_start", "token_end", "pre", "post", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
mutated = st.fixed_dictionaries({}, optional=dict.fromkeys((*FIXTURE, "id"), anything))


@given(changes=mutated, dropped=st.sets(st.sampled_from(sorted(FIXTURE))))
def test_no_value_makes_the_reading_fail_and_the_quick_way_agrees(changes, dropped):
    raw = {name: value for name, value in FIXTURE.items() if name not in dropped} | changes
    read = read_payload(raw)
    assert (complete_payload(raw) is not None) <= (read.findings == [])
    assert (read.citation is not None) == (set(REQUIRED) <= set(read.fields))
    if read.citation is not None:
        assert complete_payload(read.citation) == read.citation
    if not read.findings:
        assert read.citation is not None
    for finding in read.findings:
        json.dumps([finding.got, finding.expected])
        assert finding.field


def test_a_number_too_long_to_be_written_is_only_named():
    huge = 10**5000
    assert display_value(huge) == "type int"
    backwards = read_payload({**FIXTURE, "offsets": [huge, 4], "page": [huge]})
    assert [one.code for one in backwards.findings] == ["bad_offsets", "bad_type_page"]


@given(value=anything)
def test_a_foreign_value_is_shown_on_one_short_line(value):
    shown = display_value(value)
    json.dumps(shown, allow_nan=False).encode()
    if isinstance(shown, str):
        shown.encode()
        assert len(shown) <= SHOWN and "\n" not in shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (0.5, 0.5),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        ({"b": 1, "a": [2]}, '{"a":[2],"b":1}'),
        ("two\nlines \x1b[31m", "two lines \\x1b[31m"),
        (object(), "type object"),
        ("x" * 200, "x" * 79 + "…"),
        (Offsets(1, 2), '{"end":2,"start":1,"unit":"char"}'),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_findings_show_of_foreign_values(value, shown):
    assert display_value(value) == shown


def test_every_field_of_the_record_is_known_here():
    assert tuple(FIXTURE) == Citation.__struct_fields__
