"""What every command can be asked: each option declared once, for all the ways it can be given.

A field with an `Opt` is an option of the command line, of a suite's task and, where it names one,
a setting of `ragauge.toml`; every field is a keyword of the Python function. An option that every
command of a kind should have belongs in the struct those commands share.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from ragauge.contracts.answers import AnswerKind
from ragauge.contracts.audit import Depth
from ragauge.contracts.comparison import Correction
from ragauge.contracts.diagnosis import Language
from ragauge.contracts.entities import Empty, Matching, TokenRule
from ragauge.contracts.evaluation import Task
from ragauge.contracts.gold import (
    DEFAULT_STRENGTH,
    DEFAULT_TOKENS,
    REFUSAL,
    REFUSAL_TOKENS,
    RefusalOptions,
    Strength,
)
from ragauge.contracts.opt import Opt
from ragauge.contracts.report import Rule
from ragauge.contracts.run import Grid
from ragauge.contracts.trace_eval import Recipe

File = str
"""A path. Whoever calls from Python may give a `pathlib.Path`."""
Canon = Literal["unicode", "reference"]
Profile = Literal["ours", "reference"]
Each = Literal["question", "trace"]
NoRelevant = Literal["exclude", "zero"]
TwiceRanked = Literal["collapse", "error"]
TwiceLinked = Literal["error", "best"]
Method = Literal["auto", "mcnemar", "randomisation", "t", "wilcoxon", "bootstrap"]
Gate = Literal["no-regression", "not-worse"]
Adaptive = Literal["exact", "anytime"]
FailOn = Literal["warning", "critical", "never"]
Allowance = Literal["gold", "versions", "no-baseline"]
SCORE_PRESETS = ("example08", "ship", "integrity")
FORMS = ("text", "json", "markdown", "junit", "github", "csv", "html")
"""What the reports of scores, stability and comparisons come in."""

MIN_COVERAGE = 0.9
LONGEST_WAIT_S = 60.0
CONCURRENT = 16
DEFAULT_RANKS = (1, 5, 10)
_GRID = Grid()
_RECIPE = Recipe()

# Options that several structs have.
COVERED = Opt(
    "The fraction of samples that must have a value for a gate to decide.", setting="min_coverage"
)
INLINE = Opt("Read markers such as [1] or [p1#2] in the text as citations.", setting="inline")
CANON = Opt("How claims and phrases are made comparable.", setting="canon")
WORKERS = Opt("Processes to score with; 0 for one a core.", setting="workers", default=0)
MAX_BAD = Opt("Bad lines to accept: a count, or a percentage such as 1%.", setting="max_bad")
ROWS_OUT = Opt("Write a row for every trace as Parquet.", metavar="FILE")
OWN_GATES = Opt(
    "In place of the command's own gates, or in addition to them.", metavar="RULES", joined=True
)
MANIFEST = Opt("The live index: its hash, analyzer, revisions.", metavar="FILE")
INDEX = Opt("With --docs: the index, for the revisions.", metavar="FILE")
DOCS = Opt("The frozen documents that citations point into.", metavar="DIR")
PAIRS = Opt("Sections one segment may cite together: a+b,c+d, a file, or all.", metavar="PAIRS")
OFFSETS = Opt("What character offsets count.")
TOKENIZER = Opt("For offsets in tokens: whitespace, words, FILE.", metavar="NAME")
DELTAS = Opt("Measure ΔS with it: ngram, minilm, minilm:/path.", metavar="NAME")
DELTAS_GATE = Opt("Gate ΔS by what `calibrate deltas` wrote.", metavar="FILE")
LOG = Opt("Write a log line for each answer and segment.", metavar="FILE")
TO_DB = Opt("Write the log lines to the table rag_traces there.", metavar="URL")
LOGGED_AS = Opt("What that table is to call this run.", metavar="NAME")
KNOBS = Opt("Knobs sent with every call: an object, or a file.", metavar="JSON", json=True)
CONCURRENCY = Opt("Calls in flight at a time.", setting="sweep.concurrency")
TIMEOUT = Opt("Seconds for a call.", flag="--timeout", setting="sweep.timeout")
RETRIES = Opt("Attempts after the first, where asking again may help.", setting="sweep.retries")
RATE = Opt("At most this many calls: 10/s, 300/min.", setting="sweep.rate")
MAX_WAIT = Opt(
    "Seconds a system may ask to wait (Retry-After); beyond it the call fails.",
    flag="--max-wait",
    setting="sweep.max_wait",
)
ERRORS = Opt(
    "Runs that may fail before the sweep stops: a fraction, or a count.",
    setting="sweep.error_budget",
)
RESTART = Opt("Set the runs of another sweep in --out aside.")
CROSSWALK = Opt("Ids across knowledge bases: id, id, relation.", metavar="FILE")
LABELS = Opt("The labels there are: heritage, a TOML file, or A,B,…", metavar="SET")
CORRECTION = Opt("For testing several metrics, runs and slices.")
METHOD = Opt("The paired test: McNemar for 0/1 scores, randomisation else.", default="auto")
SEEN = "seen from the content"
OffsetUnit = Literal["code-points", "utf-16", "bytes"]


class ScoreOptions(RefusalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to score; the defaults are the command's."""

    preset: Annotated[
        str | None, Opt("Gates that belong together.", setting="preset", choices=SCORE_PRESETS)
    ] = None
    gates: Annotated[
        str | tuple[Rule, ...] | None,
        Opt("Gate rules, such as precision_cited>=0.80.", setting="gates", joined=True),
    ] = None
    min_coverage: Annotated[float, Meta(ge=0, le=1), COVERED] = MIN_COVERAGE
    """Of the questions that should have a value, the fraction a gate needs to decide."""
    canon: Annotated[Canon, CANON] = "unicode"
    each: Annotated[
        Each,
        Opt("What is counted: the last trace of a question, or every trace.", setting="each"),
    ] = "question"
    inline: Annotated[bool, INLINE] = False
    workers: Annotated[int, Meta(ge=1), WORKERS] = 1
    max_bad: Annotated[str, MAX_BAD] = "0"
    baseline: Annotated[
        File | None, Opt("An earlier JSON report to compare with.", metavar="FILE")
    ] = None
    out: Annotated[File | None, ROWS_OUT] = None
    keep_answers: bool = False
    """Hand over what was answered to every question, as history wants it."""


class StabilityOptions(RefusalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to score a sweep; the defaults are the command's."""

    profile: Annotated[
        Profile, Opt("Whose gates and definitions.", setting="stability.profile")
    ] = "ours"
    gates: Annotated[
        str | None,
        Opt(
            "Gate rules for each question, such as acr>=0.95.",
            setting="stability.gates",
            joined=True,
        ),
    ] = None
    min_stable: Annotated[
        float,
        Meta(ge=0, le=1),
        Opt(
            "The fraction of questions that must be stable and correct.",
            setting="stability.min_stable",
        ),
    ] = 1.0
    canon: Annotated[Canon | None, CANON] = None
    """None is the profile's own."""
    inline: Annotated[bool, INLINE] = False
    max_bad: Annotated[str, MAX_BAD] = "0"
    out: Annotated[File | None, ROWS_OUT] = None
    """A Parquet file to write with a row for every run."""


class SweepOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to sweep; the defaults are the command's."""

    preset: Annotated[
        Literal["pr", "daily", "trace"] | None,
        Opt(
            "A grid by name: pr for every change, daily for all jitters, trace for lambda.",
            setting="sweep.preset",
        ),
    ] = None
    """A grid by name; what is given next to it replaces that part."""
    seeds: Annotated[
        tuple[int, ...] | None,
        Opt("Seeds.", setting="sweep.seeds", commas=True, default=_GRID.seeds),
    ] = None
    temperatures: Annotated[
        tuple[float, ...] | None,
        Opt("Temperatures.", setting="sweep.temperatures", commas=True, default=_GRID.temperatures),
    ] = None
    jitters: Annotated[
        tuple[str, ...] | None,
        Opt(
            "Harmless changes of the question; also case, quote, polite, typo.",
            setting="sweep.jitters",
            commas=True,
            default=_GRID.jitters,
        ),
    ] = None
    paraphrases: Annotated[
        bool, Opt("Ask the gold set's paraphrases too.", setting="sweep.paraphrases")
    ] = False
    """Ask every paraphrase the gold set has, in addition to the question itself."""
    repeats: Annotated[
        int | None,
        Opt("How often the very same is asked.", setting="sweep.repeats", default=_GRID.repeats),
    ] = None
    concurrency: Annotated[int, Meta(ge=1), CONCURRENCY] = CONCURRENT
    timeout_s: Annotated[float, Meta(gt=0), TIMEOUT] = 90.0
    retries: Annotated[int, Meta(ge=0), RETRIES] = 3
    rate: Annotated[str | None, RATE] = None
    """Calls at most: `5/s` or `300/min`."""
    rate_per_s: Annotated[float, Meta(gt=0)] | None = None
    max_wait_s: Annotated[float, Meta(ge=0), MAX_WAIT] = LONGEST_WAIT_S
    """A call whose system asks for a longer wait has failed."""
    error_budget: Annotated[str, ERRORS] = "5%"
    adaptive: Annotated[
        Adaptive | None,
        Opt(
            "Leave out runs that cannot change a verdict (exact), or hardly could (anytime).",
            setting="sweep.adaptive",
        ),
    ] = None
    jitter_profile: Annotated[
        Profile | None,
        Opt("Whose jitters.", setting="sweep.jitter_profile", default=_GRID.profile),
    ] = None
    grid: Grid = _GRID
    """The same in one struct; where no preset is named, it has what is not given by itself."""
    profile: Profile = "ours"
    gates: Annotated[str | None, Opt("Gates an adaptive sweep stops by.", metavar="RULES")] = None
    """Rules an adaptive sweep stops by, in place of the profile's or in addition to them."""
    knobs: Annotated[dict[str, Any], KNOBS] = {}
    restart: Annotated[bool, RESTART] = False
    limit: Annotated[
        Annotated[int, Meta(ge=1)] | None, Opt("Only the first N questions.", metavar="N")
    ] = None
    """Ask only the first so many questions."""
    prices: Annotated[
        str | None, Opt("Of a million tokens, for the estimate.", metavar="IN,OUT")
    ] = None
    """Of a million tokens in and out, for the estimate of the cost: `0.15,0.60`."""


class Auditing(RefusalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What citations are held against, and where log lines of them go."""

    manifest: Annotated[File | None, MANIFEST] = None
    docs: Annotated[File | None, DOCS] = None
    allow_cross_section: Annotated[File | None, PAIRS] = None
    offsets_in: Annotated[OffsetUnit, OFFSETS] = "code-points"
    tokenizer: Annotated[str | None, TOKENIZER] = None
    embedder: Annotated[str | None, DELTAS] = None
    calibration: Annotated[File | None, DELTAS_GATE] = None
    gates: Annotated[str | None, OWN_GATES] = None
    min_coverage: Annotated[float, Meta(ge=0, le=1), COVERED] = MIN_COVERAGE
    """Of the traces or questions that should have a value, the fraction a gate needs to decide."""
    log: Annotated[File | None, LOG] = None
    """A file to write a log line to for each segment."""
    to_db: Annotated[str | None, TO_DB] = None
    run: Annotated[str | None, LOGGED_AS] = None
    """What the rows of the database call this run."""


class AuditOptions(Auditing, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to audit; the defaults are the command's."""

    gold: Annotated[
        File | None, Opt("Match citations against a gold set, too.", metavar="GOLD")
    ] = None
    depth: Annotated[
        Depth | None, Opt("How deep to look", shown="text with --docs, else payload")
    ] = None
    """None is `text` with documents, else `payload`."""
    ranks: Annotated[
        File | None,
        Opt("Compare the order of retrieved ids with other traces.", metavar="TRACES"),
    ] = None
    """Other traces of the same questions, whose rankings are compared."""
    cite_first: Annotated[bool, Opt("Refuse citations only after.")] = True
    inline: Annotated[bool, INLINE] = False
    workers: Annotated[int, Meta(ge=1), WORKERS] = 1
    max_bad: Annotated[str, MAX_BAD] = "0"

    @property
    def deepest(self) -> Depth:
        return self.depth or ("text" if self.docs is not None else "payload")


class TraceEvalOptions(Auditing, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to evaluate; the defaults are the command's."""

    wordings: Annotated[
        int | None,
        Opt("Of each question", default=_RECIPE.wordings, limits={"ge": 2, "le": 20}),
    ] = None
    seeds: Annotated[
        tuple[int, ...] | None,
        Opt("Seeds to ask with", metavar="N,N", commas=True, default=_RECIPE.seeds),
    ] = None
    temperature: Annotated[
        Annotated[float, Meta(ge=0)] | None, Opt("To ask at", default=_RECIPE.temperature)
    ] = None
    recipe: Recipe = _RECIPE
    """The same three in one struct; it has what is not given by itself."""
    k: Annotated[
        tuple[Annotated[int, Meta(ge=1)], ...],
        Opt(
            "Also measure the first N retrieved chunks: 5,10,20.",
            flag="--k",
            metavar="N,N",
            commas=True,
        ),
    ] = ()
    """Cut-offs at which coverage, gold recall and ΔS are measured as well."""
    strict: Annotated[bool, Opt("Every question must be convergent.")] = False
    """Every question must be convergent."""
    concurrency: Annotated[int | None, CONCURRENCY] = None
    timeout: Annotated[float | None, TIMEOUT] = None
    retries: Annotated[int | None, RETRIES] = None
    rate: Annotated[str | None, RATE] = None
    """Calls at most: `5/s` or `300/min`."""
    max_wait: Annotated[float | None, MAX_WAIT] = None
    error_budget: Annotated[str | None, ERRORS] = None
    knobs: Annotated[dict[str, Any] | None, KNOBS] = None
    restart: Annotated[bool | None, RESTART] = None
    asking: dict[str, Any] = field(default_factory=dict)
    """How calls are made, as in SweepOptions: those of ASKING, for what is not given by itself."""

    def auditing(self) -> AuditOptions:
        """The options of the audit the runs go through."""
        shared = {*self.__struct_fields__} & {*AuditOptions.__struct_fields__} - {"gates"}
        return AuditOptions(**{name: getattr(self, name) for name in shared})


class DiagnoseOptions(RefusalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to diagnose; the defaults are the command's."""

    lang: Annotated[Language, Opt("The language of the report.")] = "en"
    rules: Annotated[
        File | None, Opt("Causes and thresholds of your own: TOML, JSON.", metavar="FILE")
    ] = None
    """A file with entries and thresholds of one's own."""
    knobs: Annotated[
        dict[str, str | bool | None] | str | None,
        Opt('Your names: {"recall_top_k": "k"}; or a file.', metavar="MAP"),
    ] = None
    """What the pipeline calls its knobs: a map, or a JSON file with one."""
    fail_on: Annotated[FailOn, Opt("How bad a metric must be to end with 1.")] = "critical"
    form: Annotated[
        str,
        Opt("rows, ragas, deepeval, promptfoo.", flag="--input-format", metavar="FORM"),
    ] = "auto"
    claims: Annotated[bool, Opt("Split answers into claims, judged by words.")] = True
    """Judge the claims of samples by words, where they bring none of their own."""
    inline: Annotated[bool, INLINE] = False
    min_coverage: Annotated[float, Meta(ge=0, le=1), COVERED] = MIN_COVERAGE
    """Of the samples, the fraction that must have a valid value for a metric to be fine."""
    max_bad: Annotated[str, MAX_BAD] = "0"


class CompareOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to compare; the defaults are the command's."""

    metrics: Annotated[
        tuple[str, ...],
        Opt(
            "Only these; `all` tests all. Else the headlines, and what the runs' gates are on.",
            flag="--metric",
            metavar="NAME",
        ),
    ] = ()
    """What the comparison is about; `all` is all of them."""
    margins: Annotated[
        tuple[str, ...],
        Opt(
            "A loss you accept: 0.02 of any metric, or precision_cited=0.02.",
            flag="--margin",
            metavar="[NAME=]LOSS",
        ),
    ] = ()
    """`precision_cited=0.02` for one metric, `0.02` for all others."""
    slices: Annotated[
        tuple[str, ...],
        Opt("Also by country, answerable, …", flag="--slice", metavar="STRATUM"),
    ] = ()
    correction: Annotated[Correction, CORRECTION] = "holm"
    method: Annotated[Method, METHOD] = "auto"
    alpha: Annotated[
        float,
        Meta(gt=0, lt=1),
        Opt(
            "Level of significance: verdicts, and intervals at 100·(1 − alpha) %.",
            limits={"le": 0.5},
        ),
    ] = 0.05
    gate: Annotated[Gate | None, Opt("Fail what got worse, or what was not shown not to.")] = None
    allow: Annotated[
        tuple[Allowance, ...],
        Opt(
            "gold: compare the questions that mean the same. versions: metrics made another way "
            "stay not comparable, the rest is compared. no-baseline: let a first run pass. "
            "With commas.",
            metavar="WHAT",
            commas=True,
            repeated=True,
        ),
    ] = ()
    seed: Annotated[int, Meta(ge=0)] = 0
    min_coverage: Annotated[float, Meta(ge=0, le=1), COVERED] = MIN_COVERAGE
    """Of the units that should have a value in a run, the fraction a gate needs to decide."""


class HistoryOptions(Struct, frozen=True, kw_only=True):
    """Which runs make the line; what is None does not matter."""

    name: Annotated[
        str | None,
        Opt("Only runs of this name; the newest run's by default.", metavar="NAME"),
    ] = None
    command: Annotated[
        str | None, Opt("Only runs of this command, such as score.", metavar="VERB")
    ] = None
    branch: Annotated[str | None, Opt("Only runs made on this branch.", metavar="BRANCH")] = None
    labels: Annotated[
        dict[str, str], Opt("Only runs with this label.", flag="--label", metavar="K=V", pairs=True)
    ] = {}
    last: Annotated[int, Meta(ge=1), Opt("At most this many runs.")] = 50
    gate: Annotated[
        str | None,
        Opt(
            "Fail unless these hold: cv<=0.05 (σ/μ), slope>=0 (a run), no-change-point.",
            metavar="RULES",
        ),
    ] = None
    """Rules on the line itself, such as "cv<=0.05,slope>=0,no-change-point"."""


class EvalOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every evaluation of a component can be asked; each task adds its own."""

    input_format: str | None = None
    preset: Annotated[str | None, Opt("Gates by name.", choices=("integrity", "heritage"))] = None
    gates: Annotated[
        str | None,
        Opt("In place of the preset's, or in addition to them.", metavar="RULES", joined=True),
    ] = None
    by: Annotated[
        tuple[str, ...], Opt("Slice by it", metavar="STRATUM", shown="all strata of the gold")
    ] = ()
    """The strata to show; all there are, where none is named."""
    strata: Annotated[
        File | None, Opt("A table of strata: id, country, language …", metavar="FILE")
    ] = None
    """A table of strata by unit id, for formats that hold none."""
    intervals: Annotated[bool, Opt("Resample for intervals.")] = True
    max_bad: Annotated[str, MAX_BAD] = "0"
    min_coverage: Annotated[float, Meta(ge=0, le=1), COVERED] = MIN_COVERAGE
    """Of the units that should have a value, the fraction a gate needs to decide."""

    @property
    def endpoint(self) -> str | None:
        """The URL of the judge that is called; only evaluations of answers can have one."""
        return None


class NerOptions(EvalOptions, frozen=True, kw_only=True):
    """What an evaluation of entities can be asked."""

    input_format: Annotated[
        str | None,
        Opt(
            "Force it",
            shown=SEEN,
            choices=(
                *("json", "jsonl", "brat", "iob1", "iob2", "iobes", "bioes", "bilou"),
                *("conll2003", "conllu", "hipe", "tsv", "neleval"),
            ),
        ),
    ] = None
    matching: Annotated[Matching, Opt("How predictions meet gold")] = "best"
    level: Annotated[
        Annotated[int, Meta(ge=1)] | None, Opt("Compare types by their first N parts.")
    ] = None
    """Cut types to so many parts: GRP.HER.MUS at 1 is GRP."""
    layer: Annotated[str | None, Opt("Only this layer, such as NE-COARSE-LIT.", metavar="NAME")] = (
        None
    )
    """Score this layer alone."""
    types: Annotated[
        tuple[str, ...],
        Opt("The types there are", metavar="A,B,…", commas=True, shown="those met"),
    ] = ()
    """The types there are: each is told, and a type outside the list is a finding."""
    min_overlap: Annotated[
        Annotated[float, Meta(ge=0, le=1)] | None, Opt("Fraction of a gold entity to overlap.")
    ] = None
    """The fraction of a gold entity that a prediction must cover; else one position suffices."""
    empty: Annotated[
        Empty, Opt("A document with nothing to find and nothing found", shown="null: absent")
    ] = "null"
    offsets: Annotated[
        Literal["characters", "tokens"] | None,
        Opt("What start and end count", shown="tokens where a record has them"),
    ] = None
    scheme: Annotated[
        Literal["repair", "strict"] | None,
        Opt("Tags out of order: as conlleval, or no entity", default="repair"),
    ] = None
    column: Annotated[int | None, Opt("The column of the tags, from 1", shown="the last")] = None
    token_rule: Annotated[
        TokenRule, Opt("A token is in an entity if they overlap, or its first character is")
    ] = "overlap"
    reanchor: Annotated[bool, Opt("Move misplaced spans to where their text is.")] = False


class TypesOptions(EvalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an evaluation of types can be asked."""

    input_format: Annotated[
        str | None, Opt("Force it", shown=SEEN, choices=("json", "jsonl", "tsv", "csv"))
    ] = None
    labels: Annotated[str | tuple[str, ...] | None, LABELS] = None
    """A preset, a TOML file, or the labels themselves; else all that gold and prediction have."""
    field: Annotated[str | None, Opt("Where records have their label.", metavar="NAME")] = None
    """Where the labels are in both files, with dots for a field inside another."""
    predicted_field: Annotated[
        str | None, Opt("Where PRED has it, if elsewhere.", metavar="NAME")
    ] = None
    """Where they are in the predictions, if elsewhere."""


class LinkingOptions(EvalOptions, frozen=True, kw_only=True):
    """What an evaluation of links can be asked."""

    input_format: Annotated[
        str | None,
        Opt("Force it", shown=SEEN, choices=("json", "jsonl", "tsv", "neleval", "hipe")),
    ] = None
    kb: Annotated[
        str | None,
        Opt("The knowledge base that decides", metavar="NAME", shown="any id in common"),
    ] = None
    """The knowledge base that decides; by default an id in common in any of them is correct."""
    k: Annotated[tuple[int, ...], Opt("Ranks of hits@k", flag="-k", limits={"ge": 1})] = (
        DEFAULT_RANKS
    )
    """The ranks of `linking.hits@k`."""
    equivalents: Annotated[
        str | None, Opt("Ids that are one: for the relaxed numbers.", metavar="FILE")
    ] = None
    crosswalk: Annotated[str | None, CROSSWALK] = None
    """The SHA-256 of what these tables say, filled in when they are read."""
    layer: Annotated[Literal["NEL-LIT", "NEL-METO"], Opt("The column of links of HIPE files")] = (
        "NEL-LIT"
    )
    """Of HIPE files: the column of links to score."""
    duplicates: Annotated[TwiceLinked, Opt("Several predictions for a mention")] = "error"
    """Several predictions for one mention: refused, or the one with the best score is kept."""


class RetrievalOptions(EvalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to evaluate retrieval; the defaults are the command's."""

    input_format: Annotated[
        str | None,
        Opt("Force it", shown=SEEN, choices=("trec", "beir", "ranx", "tsv", "json", "jsonl")),
    ] = None
    measures: Annotated[
        tuple[str, ...], Opt("Such as nDCG@10 or P(rel=2)@5; repeatable.", metavar="NAMES")
    ] = ()
    """Names such as nDCG@10 or P(rel=2)@5; the table's where none is given."""
    k: Annotated[
        tuple[Annotated[int, Meta(ge=1)], ...],
        Opt("Cut-offs", flag="-k", shown="5, 10 and 20"),
    ] = ()
    """Cut-offs in place of the table's 5, 10 and 20."""
    rel: Annotated[int, Meta(ge=1), Opt("The grade from which on it is relevant")] = 1
    """The grade from which on a document is relevant, where a name does not say."""
    no_rel: Annotated[
        NoRelevant | None,
        Opt(
            "Queries with nothing relevant",
            shown="TREC: zero, as trec_eval; else exclude from the means",
        ),
    ] = None
    """Queries with nothing relevant: 0 for TREC judgements, else left out of the means."""
    counted_as: Annotated[
        Literal["trec_eval"] | None,
        Opt(
            "Count queries as trec_eval -c does",
            flag="--as",
            shown="the default for TREC judgements",
        ),
    ] = None
    """Count queries as this tool does: with trec_eval, one with nothing relevant is 0."""
    collapse: Annotated[
        str | None, Opt("Chunks to documents: what comes before SEP.", metavar="SEP")
    ] = None
    """What separates a document and its chunk."""
    duplicates: Annotated[
        TwiceRanked,
        Opt("A document twice for a query", shown="collapse: the best rank stays"),
    ] = "collapse"
    drop_self: Annotated[bool, Opt("Leave out documents that have the query's id.")] = False
    test: Annotated[Method, METHOD] = "auto"
    correction: Annotated[Literal["holm", "bh"], CORRECTION] = "holm"
    source_depth: Annotated[
        Annotated[int, Meta(ge=1)] | None, Opt("Credit sources down to this rank.")
    ] = None
    """The rank down to which sources are credited; all, where none is given."""
    workers: Annotated[int, Meta(ge=1), WORKERS] = 1
    seed: Annotated[int, Meta(ge=0)] = 0

    @property
    def no_relevant(self) -> NoRelevant:
        return self.no_rel or "exclude"


class AllOptions(EvalOptions, frozen=True, kw_only=True):
    """What an evaluation of all tasks can be asked."""

    input_format: str | None = None
    tasks: Annotated[
        tuple[Task, ...],
        Opt(
            "Only these; repeatable",
            flag="--task",
            choices=("ner", "types", "linking", "retrieval"),
            shown="all the model can do",
        ),
    ] = ()
    """Only these; all that the model can do, where none is named."""
    labels: Annotated[str | tuple[str, ...] | None, LABELS] = None
    crosswalk: Annotated[Any, CROSSWALK] = None
    embedder: Annotated[
        str | None,
        Opt("Of answers: ngram, minilm or URL", metavar="NAME", default="ngram"),
    ] = None
    """What answers are compared with their questions by."""
    k: Annotated[int, Meta(ge=1), Opt("Results to retrieve", flag="-k")] = 20
    """How many documents are asked for."""


# How a judge is called, whoever calls it.
JUDGE_KEY = Opt("Where the environment has its key.", metavar="VARIABLE")
BUDGET = Opt("Stop there: calls=100,cost=2.5.", metavar="LIMITS")
PRICES = Opt("Of a million tokens, for the estimate.", metavar="IN,OUT")
JUDGE_RATE = Opt("At most: 5/s or 300/min.", metavar="CALLS")
JUDGE_CALLS = Opt("Calls under way at a time.", limits={"ge": 1})
JUDGE_TIMEOUT = Opt("Seconds for a call.", limits={"gt": 0})
KIND = Opt("What every answer is", shown="the row's, or seen from it")


class AnswerOptions(EvalOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an evaluation of answers can be asked."""

    input_format: Annotated[
        str | None,
        Opt("Force it", shown=SEEN, choices=("json", "jsonl", "csv", "tsv", "parquet")),
    ] = None
    metrics: Annotated[
        tuple[str, ...],
        Opt("Only these; comma or repeat.", metavar="NAMES", commas=True, repeated=True),
    ] = ()
    """By name; else all that need no judge, the judge's where there is one, and gated twins."""
    judge: Annotated[
        str | None, Opt("Judge claims: without a model, or with.", metavar="lexical|URL")
    ] = None
    """`lexical`, or the base URL of an OpenAI-compatible endpoint."""
    judge_model: Annotated[str | None, Opt("The model to ask at URL.", metavar="NAME")] = None
    judge_key_env: Annotated[str | None, JUDGE_KEY] = None
    """The environment variable that holds the key."""
    budget: Annotated[str | None, BUDGET] = None
    """How much may be spent: `calls=100,cost=2.5`."""
    prices: Annotated[str | None, PRICES] = None
    """Of a million tokens, going in and coming out: `0.15,0.60`."""
    rate: Annotated[str | None, JUDGE_RATE] = None
    """Calls at most: `5/s` or `300/min`."""
    concurrency: Annotated[int | None, JUDGE_CALLS] = None
    timeout: Annotated[float | None, JUDGE_TIMEOUT] = None
    seed: Annotated[int | None, Opt("What the judge draws with", shown="0", limits={"ge": 0})] = (
        None
    )
    """What the judge is asked to draw with; 0 where it is not given."""
    rubric: Annotated[
        str | None, Opt("Your own rubric, for the metric rubric.", metavar="FILE", content=True)
    ] = None
    """The text of a rubric of one's own, for the metric of that name."""
    embedder: Annotated[
        str | None, Opt("ngram, minilm, minilm:/path or URL", metavar="NAME", shown="ngram")
    ] = None
    tokenizer: Annotated[Literal["unicode", "rouge155"], Opt("Words of ROUGE")] = "unicode"
    kind: Annotated[AnswerKind | None, KIND] = None
    """What kind of text every answer is; else the row says it, or it is seen."""
    calibration: Annotated[
        tuple[str, ...], Opt("From `ragauge calibrate`; repeatable.", metavar="FILE")
    ] = ()
    """Files of `ragauge calibrate`: what was fitted to labels, and how far metrics agree."""
    refusal: Annotated[Strength, REFUSAL] = DEFAULT_STRENGTH
    refusal_tokens: Annotated[tuple[str, ...], REFUSAL_TOKENS] = DEFAULT_TOKENS
    workers: Annotated[int, WORKERS] = 1

    @property
    def endpoint(self) -> str | None:
        """The URL of the judge, where it is one that is called."""
        return None if self.judge in (None, "lexical") else self.judge


class Mapped(Struct, frozen=True, kw_only=True):
    """Where the files that a command reads have the fields of their records."""

    columns: Annotated[
        dict[str, str],
        Opt(
            "Where the files have a field; dots lead into objects, [*] through lists.",
            flag="--map",
            metavar="FIELD=COLUMN",
            setting="map",
            pairs=True,
        ),
    ] = {}


class MappedGold(Mapped, frozen=True, kw_only=True):
    """The same of a command whose records are a gold set.

    Its fields may be written `gold.FIELD`. Of the project's file only these are meant: without
    `gold.`, a field there is one of answers or traces.
    """


class Quiet(Struct, frozen=True, kw_only=True):
    """Whether a command remarks on what it does."""

    quiet: Annotated[bool, Opt("No remarks on standard error.", setting="quiet")] = False


class Printed(Struct, frozen=True, kw_only=True):
    """What stdout gets, of a command that says nothing else."""

    format: Annotated[str, Opt("What standard output gets.", choices=FORMS)] = "text"


class Shown(Quiet, frozen=True, kw_only=True):
    """What stdout gets."""

    format: Annotated[str, Opt("What standard output gets.", setting="format", choices=FORMS)] = (
        "text"
    )


class Output(Shown, frozen=True, kw_only=True):
    """Where the report goes."""

    reports: Annotated[tuple[str, ...], Opt("Also", flag="--report", metavar="FILE")] = ()


STORE = Opt("The history: a folder, a SQLite file or a postgresql:// URL.", setting="store")
REQUIRE_GATES = Opt("End with 1 if no gate is set on quality.", setting="require_gates")


class Stored(Struct, frozen=True, kw_only=True):
    """Where the history is."""

    store: Annotated[str | None, STORE] = None


class LabelOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How labels are read."""

    label: Annotated[
        str | None, Opt("What people said", metavar="FIELD", shown="label, grounded, …")
    ] = None
    good: Annotated[
        str | None, Opt("Which labels are good: '>=3.5', or words.", metavar="RULE")
    ] = None
    group: Annotated[
        str | None,
        Opt("What answers share", metavar="FIELD", shown="group, source, or the contexts"),
    ] = None
    input_format: Annotated[
        str | None,
        Opt("Force it", shown=SEEN, choices=("json", "jsonl", "csv", "tsv", "parquet")),
    ] = None
    max_bad: Annotated[str, MAX_BAD] = "0"


class GroundednessOptions(LabelOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is fitted."""

    kind: Annotated[AnswerKind | None, KIND] = None


class JudgeOptions(LabelOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which judge, and where its scores are."""

    scores: Annotated[str | None, Opt("The judge's scores, joined by id.", metavar="FILE")] = None
    score: Annotated[
        str | None, Opt("The judge's score in the rows", metavar="FIELD", shown="scores")
    ] = None
    metric: Annotated[
        str | None, Opt("Which score", metavar="NAME", shown="faithfulness, or the only one")
    ] = None
    lower_is_better: Annotated[bool, Opt("Low scores are the good ones.")] = False
    threshold: Annotated[float | None, Opt("Good from there on", shown="fitted out of fold")] = None
    judge: Annotated[
        str | None, Opt("Ask it now, without a model or with.", metavar="lexical|URL")
    ] = None
    judge_model: Annotated[
        str | None, Opt("The model to ask, or whose scores it are.", metavar="NAME")
    ] = None
    judge_key_env: Annotated[str | None, JUDGE_KEY] = None
    budget: Annotated[str | None, BUDGET] = None
    prices: Annotated[str | None, PRICES] = None
    rate: Annotated[str | None, JUDGE_RATE] = None
    concurrency: Annotated[Annotated[int, Meta(ge=1)] | None, JUDGE_CALLS] = None
    timeout: Annotated[Annotated[float, Meta(gt=0)] | None, JUDGE_TIMEOUT] = None


class Gating(Struct, frozen=True, kw_only=True):
    """What a command does without a gate."""

    require_gates: Annotated[bool, REQUIRE_GATES] = False


class Recording(Output, frozen=True, kw_only=True):
    """Where the report goes, and whether and how the run is recorded."""

    record: Annotated[bool, Opt("Keep the run in the history.", setting="record")] = False
    name: Annotated[
        str | None,
        Opt("What a recorded run is called; runs of one name are a line.", setting="name"),
    ] = None
    label: Annotated[
        tuple[str, ...],
        Opt("A label of a recorded run, such as model=small-3.", setting="label"),
    ] = ()
    keep_texts: Annotated[
        bool,
        Opt(
            "Keep complete answers, retrieved chunks and cited documents with a recorded run; "
            "without them its report, claims, cited ids and gold stay.",
            setting="keep_texts",
        ),
    ] = True
    store: Annotated[str | None, STORE] = None


class Gated(Recording, frozen=True, kw_only=True):
    """The same of a command that can end well without a gate."""

    require_gates: Annotated[bool, REQUIRE_GATES] = False


class SystemOptions(Struct, frozen=True, kw_only=True):
    """Which system is asked; a suite names it in [pipeline]."""

    http: Annotated[str | None, Opt("Ask an endpoint: POST {q, seed, …}.", metavar="URL")] = None
    call: Annotated[str | None, Opt("Ask a Python function.", metavar="MODULE:FUNCTION")] = None
    command: Annotated[
        str | None, Opt("Ask a command: JSON on stdin, JSON on stdout.", metavar="CMD")
    ] = None
    replay: Annotated[str | None, Opt("Answer from recorded traces.", metavar="TRACES")] = None
    demo: Annotated[bool, Opt("Ask the bundled reference pipeline.")] = False
    map: Annotated[
        str | None,
        Opt(
            "A JSON file with the shape of the system's requests and replies.",
            setting="sweep.map",
        ),
    ] = None


class Baselines(Struct, frozen=True, kw_only=True):
    """Other runs of the same queries."""

    baselines: Annotated[
        tuple[str, ...],
        Opt("Compare with it, query by query.", flag="--baseline", metavar="RUN"),
    ] = ()


class Model(Struct, frozen=True, kw_only=True):
    """What is evaluated, and what it is asked to find."""

    model: Annotated[
        str | None, Opt("What to evaluate: yours, or a baseline.", metavar="MODULE:OBJECT")
    ] = None
    demo: Annotated[bool, Opt("The bundled entries, and --model or baselines.")] = False
    qrels: Annotated[
        str | None, Opt("Judgements for retrieval, in any of its formats.", metavar="FILE")
    ] = None
    queries: Annotated[
        str | None, Opt("A gold set whose questions are the queries.", metavar="FILE")
    ] = None


class Subject(Struct, frozen=True, kw_only=True):
    """What is diagnosed, and how much of it is shown."""

    gold: Annotated[
        str | None, Opt("The gold set, where SCORES are traces or a sweep.", metavar="GOLD")
    ] = None
    manifest: Annotated[
        str | None, Opt("The live index, for the citations of traces.", metavar="FILE")
    ] = None
    docs: Annotated[
        str | None, Opt("The frozen documents, for the citations of traces.", metavar="DIR")
    ] = None
    metrics: Annotated[
        tuple[str, ...],
        Opt("Only these metrics, separated by commas.", metavar="NAMES"),
    ] = ()
    scenario: Annotated[
        str | None, Opt("The metrics of [scenario.NAME] in ragauge.toml.", metavar="NAME")
    ] = None
    top: Annotated[int, Opt("Worst samples of a metric.")] = 3


class Compared(Struct, frozen=True, kw_only=True):
    """The runs that a task of a suite compares, named as for `ragauge compare`."""

    before: Annotated[str, Opt("The earlier run.", metavar="RUN")]
    after: Annotated[str, Opt("The later run.", metavar="RUN")]
