"""What makes two trace evaluations comparable: how they asked, and how they audited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ragauge import __version__
from ragauge.citations.validator import Policy
from ragauge.contracts.manifest import Manifest
from ragauge.contracts.run import SweepPlan

if TYPE_CHECKING:
    from ragauge.contracts.options import TraceEvalOptions


def signature_of(options: TraceEvalOptions, embedder: str | None) -> str:
    """How every number was made, as it stands behind the metric's name and version."""
    recipe = options.recipe
    seeds = "/".join(map(str, recipe.seeds))
    made = (
        f"depth:{options.auditing().deepest}|refusal:{options.strength}"
        f"|wordings:{recipe.wordings}|seeds:{seeds}|t:{recipe.temperature:g}"
    )
    return f"{made}|embedder:{embedder}" if embedder else made


def identity_of(
    options: TraceEvalOptions,
    policy: Policy,
    embedder: str | None,
    manifest: Manifest | None,
    plan: SweepPlan,
) -> dict[str, Any]:
    """The options that change numbers, the index and the system; gates change none."""
    pairs = policy.allow_cross_section
    return {
        "command": "trace-eval",
        "options": {
            "recipe": msgspec.to_builtins(options.recipe),
            "depth": policy.depth,
            "allow_cross_section": "all" if pairs is None else sorted(map(sorted, pairs)),
            "offsets_in": options.offsets_in,
            "tokenizer": options.tokenizer,
            "embedder": embedder,
            "refusal": options.strength,
            "refusal_tokens": list(options.tokens),
        },
        "ragauge": __version__,
        "manifest": manifest.hash if manifest else None,
        "sweeps": [{"fingerprint": plan.fingerprint, "system": plan.system, "knobs": plan.knobs}],
    }
