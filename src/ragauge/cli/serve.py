"""`ragauge serve`: the history in a web browser."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING, Annotated

import click
from msgspec import Meta, Struct

from ragauge.cli.command import command
from ragauge.cli.run_store import opened, place_of, told
from ragauge.contracts.opt import Opt
from ragauge.contracts.options import DOCS, INDEX, Stored

if TYPE_CHECKING:
    from ragauge.contracts.documents import Documents


class Options(Struct, frozen=True, kw_only=True):
    """Where it listens, and to whom."""

    port: Annotated[int, Meta(ge=0, le=65535), Opt("0 takes a free one.")] = 8137
    host: Annotated[str, Opt("Where to listen.")] = "127.0.0.1"
    token: Annotated[str | None, Opt("What readers need; auto makes one.", metavar="TOKEN")] = None
    allowed: Annotated[
        tuple[str, ...],
        Opt("Another name it is reached by.", flag="--allow-host", metavar="NAME[:PORT]"),
    ] = ()
    idle_s: Annotated[
        float,
        Meta(ge=0.1, le=3600),
        Opt(
            "Close connections that send no complete request for so long.",
            flag="--idle-timeout",
            metavar="SECONDS",
        ),
    ] = 15
    docs: Annotated[str | None, DOCS] = None
    manifest: Annotated[str | None, INDEX] = None
    open: Annotated[bool, Opt("Open it in the browser.")] = False
    verbose: Annotated[bool, Opt("Log every request, without its query.")] = False


@command()
def serve(options: Options, stored: Stored) -> None:
    """Show the recorded runs in a web browser, until interrupted.

    It only reads, and only this machine reaches it. With --host others do, and need the token:
    once as ?token=TOKEN in the address, or as `Authorization: Bearer TOKEN`. In RAGAUGE_TOKEN it
    is not seen among the processes of the machine.

    \b
    Example:
      ragauge serve --open
      ragauge serve --store postgresql://reader@db.example/ragauge --docs docs/
      ragauge serve --host 0.0.0.0 --allow-host dash.example --token auto
    """
    import logging
    import threading
    import webbrowser

    from ragauge.contracts.paging import RunQuery
    from ragauge.dashboard.guard import AUTO, random_token, read_token
    from ragauge.dashboard.material import Material
    from ragauge.dashboard.serving import listen
    from ragauge.dashboard.serving import serve as answer
    from ragauge.ingest.configuration import TOKEN
    from ragauge.text.visible import visible

    secret = options.token if options.token is not None else os.environ.get(TOKEN)
    made = random_token() if secret == AUTO else None
    token = None if secret is None else read_token(made or secret)
    documents = documents_in(options.docs, options.manifest)
    place = place_of(stored.store)
    with opened(place, create=False) as history:
        material = Material(history, told(place), documents)
        listening = listen(options.host, options.port, allowed=options.allowed, token=token)
        # Faults, and with --verbose every request, go to standard error.
        logging.basicConfig(format="%(asctime)s %(message)s")
        level = logging.INFO if options.verbose else logging.ERROR
        logging.getLogger("ragauge.dashboard").setLevel(level)

        def started() -> None:
            """Say where it is. A token that was made is shown this once, or nobody could enter."""
            runs = history.pages.runs(RunQuery(limit=1)).total
            entrance = f"{listening.address}?token={made}" if made else listening.address
            counted = f"{runs:,} run{'' if runs == 1 else 's'}"
            where = visible(told(place))
            click.echo(f"Dashboard of {where} ({counted}): {entrance}  Ctrl-C ends it", err=True)
            if options.open:
                # In a thread, as a browser in a terminal would not return before it is closed;
                # without the token, as other users see what programs are started with.
                address = (listening.address,)
                threading.Thread(target=webbrowser.open, args=address, daemon=True).start()

        with closing(material.jobs):
            answer(
                material,
                listening,
                token,
                verbose=options.verbose,
                idle_s=options.idle_s,
                started=started,
            )


def documents_in(docs: str | None, manifest: str | None) -> Documents | None:
    """Where documents are that a run did not keep; None where the user does not say."""
    from pathlib import Path

    from ragauge.ingest.manifest import read_manifest
    from ragauge.store.documents import FolderDocuments

    if docs is None:
        if manifest is not None:
            raise click.UsageError("--manifest belongs to --docs; give the documents' folder too")
        return None
    return FolderDocuments(Path(docs), read_manifest(manifest) if manifest else None)
