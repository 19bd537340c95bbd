"""The words around the catalogue in Chinese (Simplified), by the glossary of its entries."""

from __future__ import annotations

from ragauge.reports.catalogue.labels import Columns, Labels, OwnRules, Section
from ragauge.reports.words import wording

_EXAMPLE = """\
[[entry]]
id = "ours.dates_left_out"
metrics = ["context_recall", "factual_correctness"]
title = "荷兰馆藏的日期从未入库"
means = "其目录中有一列日期，被我们的导入程序跳过了。"
evidence = "询问荷兰馆藏日期而没有检索到的问题：{n}"
confirm = "到索引中查一个目录里有的年份。"

  [entry.when]
  symptom = ["missed", "partly_missed"]
  country = ["NL", "BE"]
  question_type = ["when"]

  [[entry.actions]]
  do = "重新导入目录，并带上日期。"
  knob = "index"
  costs = "需要一个晚上重建索引。"
  worsens = "片段 id 会改变：请与黄金集核对。"

[[threshold]]
metric = "tone"
better = "higher"
warning = 0.8
critical = 0.6
"""

_OWN = OwnRules(
    section=Section(
        "自定义规则",
        "把规则写进一个 TOML 文件，用 `--rules rules.toml` 指定。自定义规则写的是已经知道的原因："
        "只要有超出阈值的样本与之相符，就会列在目录中的原因之前。",
    ),
    entry=Section("`[[entry]]`：一个原因", ""),
    entry_fields={
        "id": (True, "与其他条目都不相同的名称，例如 `ours.dates_left_out`"),
        "metrics": (True, "它会影响的指标，写不写所属类别都可以"),
        "when": (True, "哪些样本支持它：各项事实都要相符，每项符合其中任意一个值即可"),
        "title": (True, "用一行写明原因"),
        "means": (False, "它意味着什么"),
        "evidence": (False, "统计的是什么；`{n}` 代表样本数"),
        "confirm": (True, "如何确认"),
        "actions": (
            True,
            "要更改什么，每项写成一个 `[[entry.actions]]` 表：`do` 必填，`knob`、`costs`、"
            "`worsens` 可选",
        ),
    },
    threshold=Section(
        "`[[threshold]]`：指标低到何处算低", "用于没有规则的指标，或代替内置的阈值。"
    ),
    threshold_fields={
        "metric": (True, "指标名称，与得分文件中的写法一致"),
        "better": (True, "`higher`（越高越好）或 `lower`（越低越好）"),
        "warning": (True, "均值严格超出此值即为警告"),
        "critical": (False, "均值严格超出此值即为严重"),
    },
    facts=Section(
        "`when` 可以问什么",
        '值都写成文本，例如 `answerable = ["false"]`。样本中无从得知的事实不与任何值相符。',
    ),
    symptom="上文所列症状之一",
    stratum=("其他任何名称", "样本的某个分层，例如 `country`"),
    example_title="完整示例",
    example=_EXAMPLE,
)

LABELS = Labels(
    common=wording("zh"),
    title="原因目录",
    about="得分偏低时可能出了什么问题、如何确认、应当更改什么。"
    "`ragauge diagnose --catalogue --lang zh` 会打印本目录，"
    "加上 `--metrics faithfulness` 则只列与该指标有关的内容。",
    count="共 {n} 个条目，其中 {causes} 个是按证据排序的原因",
    only="只列与 {metrics} 有关的内容。",
    no_entry="没有与 {metrics} 有关的条目。可以自定义规则："
    "不带 `--metrics` 运行 `ragauge diagnose --catalogue --lang zh` 即可看到写法。",
    columns=Columns(
        metric="指标",
        better="方向",
        warning="警告",
        critical="严重",
        limit="界限",
        entries="条目",
        symptom="症状",
        seen="所见",
        tolerated="容许比例",
        causes="原因",
        sign="迹象",
        bits="出现时",
        bits_if_not="未出现时",
        step="更改",
        knob="调节项",
        costs="代价",
        worsens="可能变差",
        field="字段",
        needed="必需",
        meaning="含义",
        fact="事实",
        values="值",
    ),
    judged=Section(
        "评审指标的阈值",
        "针对均值，严格超出才算：0.7 并不低于 0.7。无论哪个工具给这些指标起什么前缀都适用，"
        "本工具的词面指标也包括在内。",
    ),
    usual=Section(
        "自有指标的常用界限", "即各预设与配置方案中的门禁界限；均值严格超出界限即为警告。"
    ),
    contents=Section("按指标查找", "某个指标超出界限时应当阅读哪些条目。"),
    ranking=Section(
        "原因如何排序",
        "出错的样本会表现出症状。凡是能造成某个症状的原因共同分摊该样本，如何分摊由迹象决定。\n"
        "迹象以比特计重：出现时计一个值，查过而未出现时计另一个值。"
        "三个比特使一个原因的可能性达到与该迹象无关的原因的八倍；负值表示反对。"
        "无从判断的迹象不计，但若是某个原因所必需的，则对该原因略为不利。\n"
        "如果某个原因必需的迹象在任何样本中都没有出现，该原因即被排除；"
        "如果没有样本能说明有无此迹象，则无从判断。"
        "归于某个原因的样本多于容许比例，且超出偶然，才称为“很可能”。",
    ),
    symptoms=Section("症状", "容许比例是指正常的系统中也会有此症状的样本所占的比例。"),
    families={
        "cause": Section("原因", "由 `ragauge diagnose` 排序：每个原因的证据以比特计重。"),
        "answers": Section("答案", "`ragauge eval answers` 与 `ragauge eval qa` 给出的建议。"),
        "entities": Section("实体", "`ragauge eval ner` 给出的建议。"),
        "labels": Section("标签", "`ragauge eval types` 给出的建议。"),
        "linking": Section("链接", "`ragauge eval linking` 给出的建议。"),
        "quality": Section("质量", "`ragauge score` 给出的建议。"),
        "retrieval": Section("检索", "`ragauge eval retrieval` 给出的建议。"),
        "stability": Section("稳定性", "`ragauge stability` 给出的建议。"),
        "traceability": Section("可追溯性", "`ragauge trace-eval` 给出的建议。"),
    },
    other_family="{family} 的条目",
    shows_in="指标",
    shows_as="症状",
    seen_in="支持它的是",
    applies="适用条件",
    scores="并且 ",
    no_signs="没有迹象能把它与其他原因区分开：仅凭症状判断。",
    weighs="{bits} 比特",
    weighs_if_not="未出现时 {bits}",
    needed="必需",
    yes="是",
    no="否",
    higher="越高越好",
    lower="越低越好",
    comma="、",
    alternatives=" 或 ",
    is_one_of=" 为 ",
    count_frame=("出错的 {of} 个样本中，有 {n} 个", "的"),
    own=_OWN,
)
