"""Label sets: presets, files, lists, and all that can be wrong with them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragauge.errors import UsageError
from ragauge.ingest.label_sets import labels_met, read_label_set


def written(tmp_path, text, name="mine.toml"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return str(file)


def problems_of(given):
    with pytest.raises(UsageError) as raised:
        read_label_set(given)
    return list(raised.value.problems)


def test_the_heritage_preset_has_19_letters_in_seven_groups():
    heritage = read_label_set("heritage")
    assert heritage.labels == tuple("GLAMORCUBESFIXPHDNT")
    groups = {}
    for label in heritage.labels:
        groups.setdefault(heritage.category(label), set()).add(label)
    assert groups == {
        "CULTURAL": set("GLAM"),
        "INSTITUTIONAL": set("ORE"),
        "COMMUNITY": set("SIN"),
        "SPECIALIZED": set("BHTF"),
        "DIGITAL": set("D"),
        "PRIVATE": set("CP"),
        "UNKNOWN": set("UX"),
    }


def test_a_file_may_group_groups(tmp_path):
    file = written(
        tmp_path,
        """
        labels = ["museum", "library", "archive"]
        [groups]
        public = ["cultural", "archive"]
        cultural = ["museum", "library"]
        """,
    )
    found = read_label_set(file)
    assert found.name == "mine"
    assert found.path("museum") == ("public", "cultural", "museum")
    assert found.path("archive") == ("public", "archive")


def test_a_file_may_name_parents_instead(tmp_path):
    file = written(
        tmp_path,
        """
        name = "kinds"
        labels = ["museum", "archive"]
        groups = ["public"]
        [parents]
        museum = "cultural"
        cultural = "public"
        """,
    )
    found = read_label_set(file)
    assert found.name == "kinds"
    assert found.path("museum") == ("public", "cultural", "museum")
    assert found.category("archive") == "archive"


def test_all_that_is_wrong_with_a_file_is_told_at_once(tmp_path):
    file = written(
        tmp_path,
        """
        labels = ["M", "L", "M", " A", ""]
        colour = "red"
        [groups]
        CULTURAL = ["M", "Z"]
        OTHER = ["M"]
        [parents]
        L = "CULTURE"
        """,
    )
    found = problems_of(file)
    assert all(problem.startswith(f"{file}: ") for problem in found)
    facts = [problem.removeprefix(f"{file}: ") for problem in found]
    assert facts == [
        'colour: there is no key "colour"; there are: name, labels, groups, parents',
        "labels: one is empty; leave it out",
        'labels: "A" begins or ends with a blank; take it away',
        'labels: "M" stands there 2 times; keep one',
        'groups.CULTURAL: there is no label or group "Z"; there are:  A, CULTURAL, L, M, OTHER',
        'groups.OTHER: "M" stands in "CULTURAL" already; keep one',
        'parents.L: there is no group "CULTURE"; did you mean "CULTURAL"?',
    ]


def test_rings_are_told_once(tmp_path):
    file = written(
        tmp_path,
        'labels = ["M"]\n[groups]\na = ["M", "b"]\nb = ["c"]\nc = ["a"]\nd = ["d"]\n',
    )
    assert problems_of(file) == [
        f"{file}: groups: a in c in b in a: a group cannot stand in itself",
        f"{file}: groups: d in d: a group cannot stand in itself",
    ]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("labels = 3", "labels: expected a list of texts, got a number"),
        ("labels = ['M', 3]", "labels: expected text, got a number"),
        ("labels = []", "labels: there are none; a set has one label at least"),
        ("name = 'x'", 'labels: missing; write labels = ["M", "L"]'),
        ("name = 3\nlabels = ['M']", "name: expected text"),
        ("labels = ['M']\ngroups = 3", "groups: expected a table"),
        ("labels = ['M']\nparents = {M = 3}", "parents: expected a table of texts"),
        ("labels = [", "is not TOML"),
    ],
)
def test_a_file_of_another_shape_is_refused_in_words(tmp_path, text, fact):
    assert fact in problems_of(written(tmp_path, text))[0]


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    assert "no such file" in problems_of(str(tmp_path / "none.toml"))[0]
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"labels = ['\xff']")
    assert "is not UTF-8 text" in problems_of(str(broken))[0]


def test_a_list_of_labels():
    assert read_label_set("M, L ,A").labels == ("M", "L", "A")
    assert read_label_set("M,").labels == ("M",)
    assert read_label_set(["M", "L"]).labels == ("M", "L")
    assert problems_of("M,L,M") == ['labels: "M" stands there 2 times; keep one']
    assert "is no preset (heritage)" in problems_of("heritge")[0]


def test_letters_may_be_written_in_either_unicode_form(tmp_path):
    file = written(
        tmp_path, 'labels = ["muse\u0301e"]\n[groups]\n"cre\u0301ation" = ["mus\u00e9e"]\n'
    )
    assert read_label_set(file).path("mus\u00e9e") == ("cr\u00e9ation", "mus\u00e9e")


def test_labels_met_are_all_there_are_and_dots_are_paths():
    found = labels_met(["GRP.HER", "TOP"], ["GRP.EDU", "TOP"])
    assert found.labels == ("GRP.EDU", "GRP.HER", "TOP")
    assert found.category("GRP.HER") == "GRP"
    assert found.grouped and not labels_met(["M"]).grouped


@given(st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("abcdef"), max_size=6))
def test_a_file_of_parents_gives_paths_that_end_or_is_refused(tmp_path_factory, parents):
    rows = "".join(f'{child} = "{parent}"\n' for child, parent in parents.items())
    file = tmp_path_factory.mktemp("sets") / "set.toml"
    file.write_text(f'labels = ["a", "b", "c", "d", "e", "f"]\n[parents]\n{rows}')
    plain = {start: ring(parents, start) for start in parents}
    if any(plain.values()):
        assert all("cannot stand in itself" in one for one in problems_of(str(file)))
    else:
        found = read_label_set(str(file))
        for label in found.labels:
            path = found.path(label)
            assert path[-1] == label and path[0] not in parents


def ring(parents, start):
    """Whether a name comes back to itself."""
    at = parents.get(start)
    for _ in range(len(parents)):
        if at == start:
            return True
        at = parents.get(at)
    return False
