"""What `ragauge audit` does besides traces: one reply, a code explained, two indexes compared."""

from __future__ import annotations

from typing import Any

from ragauge.errors import InputRejected, UsageError


def explain(given: dict[str, Any]) -> int:
    """Print what a code means and what to do."""
    import difflib

    from ragauge.citations.codes import CODES, OF_TRACES, TRACES, explained
    from ragauge.cli.run_store import say

    code = given["explain"]
    entry = explained(code)
    if entry is None:
        known = [one.code for one in (*CODES, *OF_TRACES)]
        near = difflib.get_close_matches(code, known, n=1)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
        raise UsageError(f'there is no code "{code}"; {hint}')
    about = "about the traces" if entry.depth == TRACES else f"depth {entry.depth}"
    lines = [f"{code} ({about})", f"  {entry.means}", f"  Next step: {entry.tip}"]
    say(entry, lines, given["format"])
    return 0


def one(given: dict[str, Any]) -> int:
    """Audit a single reply, and print `ok` with what is known of it, or the worst finding."""
    from ragauge.cli.run_store import say
    from ragauge.cli.settings import settings
    from ragauge.ingest.lines import STDIN, read_whole
    from ragauge.runners.audit_one import audit_one

    retrieved = given["retrieved"]
    names = ("manifest", "docs", "allow_cross_section", "depth", "cite_first", "offsets_in")
    options = {name: given[name] for name in (*names, "tokenizer", "embedder")}
    files = (given["one"], retrieved, given["manifest"], given["allow_cross_section"])
    if files.count(STDIN) > 1:
        raise UsageError("only one of the files can be standard input (-)")
    read = ("refusal", "refusal_tokens", "inline")
    chosen = settings(**{name: None if given[name] == () else given[name] for name in read})
    options |= {name: chosen[name] for name in read}
    reply = _text(read_whole(given["one"]), given["one"])
    found = audit_one(reply, read_whole(retrieved) if retrieved else None, **options)
    say(found, (), "json")
    return 0 if found.get("ok") else 1


def drift(given: dict[str, Any]) -> int:
    """Compare the manifest of the live index with an older one."""
    from ragauge.citations.drift import drift as compared
    from ragauge.cli.score import forms_of, show, write_reports
    from ragauge.ingest.manifest import read_manifest

    old, new = given["drift"], given["manifest"]
    if new is None:
        raise UsageError("--drift OLD compares with the live index; give it with --manifest NEW")
    files = forms_of(given["reports"])
    report = compared(read_manifest(old), read_manifest(new), was_name=old, now_name=new)
    write_reports(report, files, bool(given["quiet"]))
    show(report, given["format"] or "text")
    return 0 if report.passed else 1


def _text(content: bytes, name: str) -> str:
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise InputRejected(f"{name}: not UTF-8 at byte {error.start + 1}; save it so") from None
