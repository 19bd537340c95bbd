"""The reasons of a replay: in the language that is asked for, with the words of the system."""

import re

import pytest
from msgspec import structs

from ragauge.contracts.run import Variation
from ragauge.contracts.system import CallFailed
from tests.runners.diagnosis.replaying import Shelf, question, questions, replayed


def reasons_of(result):
    return {one.name: one.reason for one in result.interventions}


UNSAID = question(
    1,
    gold=structs.replace(question(1).gold, gold_citations=()),
    variation=Variation(),
    retrieved_ids=None,
)


class Down(Shelf):
    def reply(self, ask):
        raise CallFailed("unreachable", "no route, {to} it", again=False)


class Shut(Shelf):
    def reply(self, ask):
        raise CallFailed("bad_request", "no")


class Sullen(Shelf):
    """It ignores knobs, and refuses to be cold."""

    def reply(self, ask):
        if ask.temperature:
            return super().reply(structs.replace(ask, knobs={}))
        raise CallFailed("http_400", "too cold")


TOLD = {
    "nothing went wrong": ([], Shelf(), {}, {"again": "没有已知出错的问题"}),
    "a short budget": (
        questions(1),
        Shelf(),
        {"budget": 3},
        {"again": "3 次调用的预算不够：第一个问题就需要 5 次"},
    ),
    "a hidden knob": (
        questions(1),
        Shelf(),
        {"knob_names": {"put_in": None}},
        {"gold_in": "参数对照表注明流水线没有 put_in"},
    ),
    "nothing to change": (
        [UNSAID],
        Shelf(),
        {},
        {
            "again": "仅仅再问一次说明不了什么，而所有问题都没有其他可改之处",
            "gold_in": "没有一个问题带有可以放入的黄金 id",
            "noise_out": "检索到的片段里，没有已知不是黄金片段的",
            "temperature_0": "没有已知在温度高于 0 时运行过的问题",
            "top_k_doubled": "追踪记录和参数都没有说明展示多少个片段",
        },
    ),
    "no reply": (
        questions(1),
        Down(),
        {},
        {"again": "没有一次调用返回答案：unreachable: no route, {to} it"},
    ),
    "a refused question": (
        questions(1),
        Shut(),
        {},
        {"gold_in": "系统拒绝问题本身，不作改动也一样：bad_request: no"},
    ),
    "a refused knob, and one that is ignored": (
        questions(1),
        Sullen(),
        {},
        {
            "temperature_0": "系统拒绝温度 0：http_400: too cold",
            "gold_in": "系统似乎忽略了参数 put_in：没有一个回复体现这一改动",
        },
    ),
}


@pytest.mark.parametrize("what", TOLD)
def test_reasons_are_told_in_the_language_that_is_asked_for(tmp_path, what):
    failing, system, options, told = TOLD[what]
    chinese = replayed(failing, system, tmp_path / "zh", language="zh", **options)
    assert reasons_of(chinese) | told == reasons_of(chinese)
    english = replayed(failing, system, tmp_path / "en", **options)
    assert not re.search("[\u4e00-\u9fff]", str(reasons_of(english)))
    assert {name for name, reason in reasons_of(english).items() if reason} == {
        name for name, reason in reasons_of(chinese).items() if reason
    }
    untold = [structs.replace(one, reason=None) for one in english.interventions]
    assert untold == [structs.replace(one, reason=None) for one in chinese.interventions]
