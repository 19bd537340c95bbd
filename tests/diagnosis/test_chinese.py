"""The Chinese catalogue: all of it there, and written as Chinese is written."""

import re
import tomllib
from importlib.resources import files

import pytest

HAN = "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
A_HAN = re.compile(HAN)
MARKS = "，。；：？！（）、“”‘’「」《》…"
ASCII_MARK_BESIDE_HAN = re.compile(
    rf"""{HAN}\ ?[,;:?!()"'] | [,;:?!()"']\ ?{HAN} | {HAN}\. | \.\ ?{HAN}""", re.VERBOSE
)
LATIN = r"[A-Za-z0-9ΔΛδλ_@`{}]"
LATIN_WORD = re.compile(r"[A-Za-z]+")
RUN_TOGETHER = re.compile(f"{HAN}{LATIN}|{LATIN}{HAN}")
BLANK_BESIDE_MARK = re.compile(rf"\s[{MARKS}]|[{MARKS}]\s")
CODE = re.compile(
    r"`[^`]*`"
    r"|\{\w*\}"
    r"|--[\w-]+"
    r"|\b[A-Za-z]\w*(?:[_.@]\w+)+"  # retrieved_ids, stability.acr, recall@10
    r"|\b[A-Za-z]+[0-9]\w*",  # ned50
    re.ASCII,
)
IN_BOTH = "後於徵"
"""Traditional forms that GB 2312 holds for other uses; the rest of them it does not hold."""


def read(language):
    """The entries of each family, as they stand in its file."""
    folder = files("ragauge.diagnosis") / "entries" / language
    return {
        file.name.removesuffix(".toml"): tomllib.loads(file.read_text("utf-8"))["entry"]
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }


ENGLISH, CHINESE = read("en"), read("zh")
every_family = pytest.mark.parametrize("family", sorted(ENGLISH))


def sentences_of(entry):
    """What is said in whole sentences, by the place where it is said."""
    told = {"means": entry["means"], "confirm": entry["confirm"]}
    for number, action in enumerate(entry["actions"], 1):
        told |= {f"{part} {number}": action[part] for part in ("do", "costs", "worsens")}
    return told


def texts_of(entry):
    return sentences_of(entry) | {
        part: entry[part] for part in ("title", "evidence") if part in entry
    }


TEXTS = {
    f"{entry['id']} {part}": text
    for family in sorted(CHINESE)
    for entry in CHINESE[family]
    for part, text in texts_of(entry).items()
}


def breaking(fault):
    """Texts in which the fault is found, with what was found."""
    return {place: found for place, text in TEXTS.items() if (found := fault(text))}


def foreign(text):
    """The text, unless most of it is Chinese once commands, ids and names are taken out.

    A Latin word, such as token, counts as one character does.
    """
    rest = CODE.sub(" ", text)
    return text if len(A_HAN.findall(rest)) <= len(LATIN_WORD.findall(rest)) else None


def traditional(text):
    """The characters that simplified script writes otherwise."""
    return [sign for sign in A_HAN.findall(text) if sign in IN_BOTH or not _in_gb2312(sign)]


def _in_gb2312(sign):
    try:
        return bool(sign.encode("gb2312"))
    except UnicodeEncodeError:
        return False


# Nothing is left out.


def test_every_family_is_there_in_both_languages():
    assert sorted(CHINESE) == sorted(ENGLISH)


@every_family
def test_entries_and_their_actions_are_those_of_the_english(family):
    told = [(entry["id"], len(entry["actions"])) for entry in CHINESE.get(family, ())]
    assert told == [(entry["id"], len(entry["actions"])) for entry in ENGLISH[family]]


@every_family
def test_evidence_is_there_where_the_english_has_it(family):
    told = [entry.get("evidence", "").count("{n}") for entry in CHINESE.get(family, ())]
    assert told == [entry.get("evidence", "").count("{n}") for entry in ENGLISH[family]]


def test_nothing_is_left_in_english():
    assert breaking(foreign) == {}


# It is written as Chinese is.


def test_marks_beside_chinese_are_full_width():
    assert breaking(ASCII_MARK_BESIDE_HAN.search) == {}


def test_every_sentence_ends_with_a_full_width_mark():
    ends = {
        f"{entry['id']} {part}": text[-1:]
        for entries in CHINESE.values()
        for entry in entries
        for part, text in sentences_of(entry).items()
    }
    assert {place: end for place, end in ends.items() if end not in ("。", "？")} == {}


def test_titles_and_evidence_end_without_a_stop():
    """They are headings, and a count with nothing behind it."""
    fields = ("title", "evidence")
    entries = [entry for entries in CHINESE.values() for entry in entries]
    texts = [entry[field] for entry in entries for field in fields if field in entry]
    assert [text for text in texts if text.endswith(("。", ".", "！", "!"))] == []


def test_chinese_and_latin_are_apart_by_a_blank():
    assert breaking(RUN_TOGETHER.search) == {}


def test_no_blank_stands_beside_a_full_width_mark():
    assert breaking(BLANK_BESIDE_MARK.search) == {}


def test_no_character_is_of_the_traditional_script():
    assert breaking(traditional) == {}


# The rules themselves.


@pytest.mark.parametrize("text", ["Lower the 温度.", "retrieved_ids", "", "`检索`"])
def test_a_text_that_is_not_chinese_is_seen(text):
    assert foreign(text) is not None


@pytest.mark.parametrize("text", ["這", "後面", "於", "检索與重排", "錯誤"])
def test_traditional_script_is_seen(text):
    assert traditional(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("检索, 重排", ASCII_MARK_BESIDE_HAN),
        ("retrieved_ids: 检索", ASCII_MARK_BESIDE_HAN),
        ("检索(召回)", ASCII_MARK_BESIDE_HAN),
        ("检索 (recall)", ASCII_MARK_BESIDE_HAN),
        ("检索.", ASCII_MARK_BESIDE_HAN),
        ("用 acr. 再看", ASCII_MARK_BESIDE_HAN),
        ('他说"检索"', ASCII_MARK_BESIDE_HAN),
        ("看acr", RUN_TOGETHER),
        ("温度0", RUN_TOGETHER),
        ("`ragauge score`打分", RUN_TOGETHER),
        ("检索， 重排", BLANK_BESIDE_MARK),
    ],
)
def test_the_rules_see_what_they_are_for(text, fault):
    assert fault.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "留意 quality.over_refusal。",
        "写成 .toml 文件：{n}",
        "比较 λ 与 ΔS（见 `a: b, c`），省 token",
    ],
)
def test_the_rules_let_pass_what_is_right(text):
    assert foreign(text) is None
    assert not traditional(text)
    for fault in (ASCII_MARK_BESIDE_HAN, RUN_TOGETHER, BLANK_BESIDE_MARK):
        assert not fault.search(text)
