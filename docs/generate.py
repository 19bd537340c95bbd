"""Writes the pages, pictures and stub made from the code; a test fails when one is stale."""

import io
import re
from collections.abc import Mapping, Sequence
from contextlib import chdir
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import structs
from rich.console import Console
from rich.text import Text

from docs.stub import STUB, stub
from ragauge.citations.codes import CODES as AUDIT_CODES
from ragauge.citations.codes import FIELD_TIPS, FIRST_MISSING
from ragauge.contracts.diagnosis import Language
from ragauge.contracts.report import Rule
from ragauge.demo import GOLD
from ragauge.demo.knobs import Knobs
from ragauge.demo.pipeline import Pipeline
from ragauge.demo.tour import a_flake, swept_as, write_traces
from ragauge.gates.presets import COMPONENT_PRESETS, INTEGRITY, PRESETS, component_rules, preset
from ragauge.gates.stability import PROFILES, profile_rules
from ragauge.ingest.kinds import SHAPES
from ragauge.jitters import JITTERS, jittered
from ragauge.metrics.table import table
from ragauge.reports.document import Document
from ragauge.reports.formats.markdown import table as markdown_table
from ragauge.reports.formats.text import render as in_terminal
from ragauge.reports.kinds import stability
from ragauge.reports.kinds.catalogue import catalogue_text
from ragauge.reports.metric_table import page
from ragauge.reports.phrasing import phrases
from ragauge.reports.rendering import render
from ragauge.runners.compare import compare
from ragauge.runners.recording import record
from ragauge.runners.score import score
from ragauge.store.history import open_history

DOCS = Path(__file__).parent
WIDTH = 100
GENERATED = "Generated from the code by `make docs`."
CAUSES: dict[Language, tuple[str, str]] = {
    "en": ("causes.md", f"{GENERATED} [中文](causes.zh.md)"),
    "zh": ("causes.zh.md", "由 `make docs` 从代码生成。[English](causes.md)"),
}
"""The catalogue's page in each language, and what is said of it."""
COMPARISON_ENDS = "Broken"
PICTURE_ENDS = "Questions that went wrong"
"""The picture stops before the list of questions: it is a glance, not the report."""

# Only fonts that are installed: a picture in the repository fetches nothing.
SVG = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: DejaVu Sans Mono, Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def generated() -> dict[Path, str]:
    """Every generated file and what it should hold."""
    return {
        DOCS / "reference" / "metrics.md": page(list(table().values())),
        DOCS / "reference" / "codes.md": codes_page(),
        DOCS / "reference" / "fields.md": fields_page(),
        DOCS / "reference" / "jitters.md": jitters_page(),
        DOCS / "reference" / "presets.md": presets_page(),
        **{DOCS / "reference" / name: causes_page(lang) for lang, (name, _) in CAUSES.items()},
        DOCS / "images" / "report.svg": score_picture(),
        DOCS / "images" / "stability.svg": stability_picture(),
        DOCS / "images" / "comparison.svg": comparison_picture(),
        STUB: stub(),
    }


CODES = f"""# Codes of an audit

{GENERATED}

Below `ok` they are in order, the worst first: the first that is found is the answer's code, and all
that are found are listed. `depth` is the first depth that finds it. `ragauge audit --explain CODE`
says the same on the command line, and [how to audit](../how-to/audit.md) shows them at work.
"""


def codes_page() -> str:
    """Each code of an audit, then what is said of missing fields."""
    codes = [(f"`{one.code}`", one.depth, one.means, one.tip) for one in AUDIT_CODES]
    fields = [(f"`{field}`", tip) for field, tip in FIELD_TIPS.items()]
    ranked = ", ".join(f"`{field}`" for field in FIRST_MISSING)
    return "\n".join(
        [
            CODES,
            markdown_table(("code", "depth", "what it means", "next step"), codes),
            "\n## Missing fields\n",
            f"Of these, {ranked} come first, in this order, then the others by name.\n",
            markdown_table(("field", "next step"), fields),
            "",
        ]
    )


FIELDS = f"""# Fields of records

{GENERATED}

Every command reads these records from JSON Lines, JSON (an array, an object of columns, one
object), CSV, TSV, Parquet, Arrow or Feather, plain, `.gz` or `.zst`, from the folder of a saved
Hugging Face data set, and from `-`, standard input. In Python every function takes a path, a data
frame of polars, pandas or pyarrow, a Hugging Face `Dataset`, or any mappings.

Case, spaces and dashes in names do not matter: `Gold Label` is `gold_label`. Columns that no
field reads are reported. Where a file has other names, say so: `--map answer=output.text`, `map`
in `ragauge.toml`, `columns={{"answer": "output.text"}}` in Python and in a task of a suite. Dots
lead into objects, `[*]` through lists. Of two files that have a field, the answers, traces or
predictions are meant; `gold.qid=id` means the gold set, `qrels.query=topic` the judgements.
In `ragauge.toml` a table
`map.gold` is for gold sets, wherever one is read. `ragauge inspect FILE` shows which column feeds
which field.
"""


def fields_page() -> str:
    """The fields of each kind of record."""
    parts = [FIELDS]
    for shape in SHAPES:
        rows = [
            (
                f"`{field.name}`",
                ", ".join(f"`{name}`" for name in field.aliases),
                field.type,
                "yes" if field.missing else "",
                field.doc,
            )
            for field in shape.fields
        ]
        heads = ("field", "also called", "type", "required", "what it holds")
        parts += [
            f"\n## {shape.name.capitalize()}\n",
            f"{shape.doc}\n",
            markdown_table(heads, rows),
        ]
    return "\n".join([*parts, ""])


def presets_page() -> str:
    """Each preset and its gates."""
    head = ["# Presets", "", GENERATED, "", "For `ragauge score --preset NAME`:", ""]
    profiles = ["", "For `ragauge stability --profile NAME`, question by question:", ""]
    gates = {name: preset(name) for name in PRESETS}
    stable = {name: profile_rules(name) for name in PROFILES}
    tables = [*head, *_gate_table("preset", gates), *profiles, *_gate_table("profile", stable)]
    return "\n".join([*tables, *_component_presets(), ""])


def causes_page(language: Language) -> str:
    """The catalogue of causes, with a way to its other language below the title."""
    text = catalogue_text(language=language, form="markdown")
    # A page begins with a heading of the first level, a comment with one of the second.
    _, rest = re.sub("^#(?=#)", "", text, flags=re.MULTILINE).split("\n", 1)
    return f"# {phrases('catalogue', language)('title')}\n\n{CAUSES[language][1]}\n{rest}"


def _component_presets() -> list[str]:
    """The presets of `eval`, task by task."""
    found = []
    for name in COMPONENT_PRESETS:
        found += ["", f"For `ragauge eval TASK --preset {name}`:", ""]
        gates = {task: component_rules(task, name, None, str) for task in INTEGRITY}
        found += _gate_table("task", gates)
    return found


def _gate_table(title: str, gates: Mapping[str, Sequence[Rule]]) -> list[str]:
    listed = {name: "<br>".join(f"`{rule}`" for rule in rules) for name, rules in gates.items()}
    rows = [f"| `{name}` | {rules} |" for name, rules in listed.items()]
    return [f"| {title} | gates |", "|---|---|", *rows]


def jitters_page() -> str:
    """Each jitter, how likely it is to change what a question means, and what it does."""
    question = "In which year was the King's collection moved to Amsterdam?"
    head = ["# Jitters", "", GENERATED, "", f"On the question “{question}”:", ""]
    rows = [
        f"| `{name}` | {jitter.risk} | {jitter.about} | {shown(question, name)} |"
        for name, jitter in JITTERS.items()
    ]
    table = ["| jitter | risk | what it does | an example |", "|---|---|---|---|", *rows]
    return "\n".join([*head, *table, ""])


def shown(question: str, name: str) -> str:
    text = jittered(question, name)
    return f"`{text}`" if text != question or name == "none" else "changes nothing here"


def score_picture() -> str:
    """The beginning of the report on the reference pipeline's answers, with a fault on."""
    with TemporaryDirectory() as folder:
        traces = Path(folder) / "traces.jsonl"
        write_traces(Pipeline.of(knobs=Knobs(faults=("over_refusal=0.3",))), GOLD, traces)
        report = score(GOLD, [traces], preset="ship").report
    text = render(report, "text", color=True, width=WIDTH)
    shown = text[: text.index(PICTURE_ENDS)].rstrip()
    return picture(shown, "ragauge score gold.jsonl traces.jsonl --preset ship", "report")


def stability_picture() -> str:
    """Of the demo's sweep with a fault, a question that is stable and one that is not."""
    with TemporaryDirectory() as folder:
        report = swept_as("faulty", Pipeline.of(), GOLD, Path(folder)).report
    stable = [qid for qid, one in report.details.items() if one.verdict == "stable_pass"]
    qids = [*stable[:1], *filter(None, [a_flake(report)])]
    report = structs.replace(report, details={qid: report.details[qid] for qid in qids})
    parts = stability.document(report).part("verdict", "labels", "heatmap", "questions")
    shown = in_terminal(Document("stability", parts), color=True, width=WIDTH)
    return picture(shown, "ragauge stability gold.jsonl runs.jsonl", "stability")


def comparison_picture() -> str:
    """Two runs of the reference pipeline: as it is, and with a fault switched on."""
    systems = [Knobs(), Knobs(faults=("wrong_citations=0.2",))]
    # Names of files are part of a run, and so of its id: they must not change from time to time.
    with TemporaryDirectory() as folder, chdir(folder):
        history = open_history(folder)
        for night, knobs in enumerate(systems):
            traces = Path(f"{night}.jsonl")
            write_traces(Pipeline.of(knobs=knobs), GOLD, traces)
            outcome = score(GOLD, [traces], keep_answers=True, gates="precision_cited>=0.9")
            time = datetime(2026, 11, 14 + night, 3, tzinfo=UTC)
            about = {"name": "nightly", "folder": Path(folder), "recorded_at": time}
            # The answers tell how long they took, which is another time every time.
            record(outcome, history, keep=False, **about)
        report = compare(history, "green", "latest")
        history.close()
    text = render(report, "text", color=True, width=WIDTH)
    shown = text[: text.index(COMPARISON_ENDS)].rstrip()
    return picture(shown, "ragauge compare green latest", "comparison")


def picture(shown: str, title: str, name: str) -> str:
    """Text with colours as a terminal shows it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(shown))
    svg = console.export_svg(title=title, code_format=SVG, unique_id=name)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def main() -> None:
    for path, text in generated().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
