"""An endpoint that answers every question after the same time, however many ask at once."""

import asyncio
import json
import sys

REPLY = json.dumps(
    {
        "answer_json": {"claim": "X is a constrained mapping.", "citations": ["p1#1"]},
        "retrieved_ids": ["p1#1", "p1#2", "p2#1"],
    }
).encode()
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
    + str(len(REPLY)).encode()
    + b"\r\n\r\n"
    + REPLY
)


class Endpoint(asyncio.Protocol):
    """The least HTTP that keeps a connection open: what is measured is who asks."""

    def __init__(self, answer_s: float) -> None:
        self._answer_s, self._waiting = answer_s, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, received: bytes) -> None:
        self._waiting += received
        while (length := request_length(self._waiting)) is not None:
            self._waiting = self._waiting[length:]
            asyncio.get_running_loop().call_later(self._answer_s, self._answer)

    def _answer(self) -> None:
        if not self._transport.is_closing():
            self._transport.write(ANSWER)


def request_length(received: bytes) -> int | None:
    """How long the first whole request is, None while it is not there."""
    head, blank, _ = received.partition(b"\r\n\r\n")
    if not blank:
        return None
    lengths = [
        int(line.partition(b":")[2])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    whole = len(head) + len(blank) + sum(lengths)
    return whole if len(received) >= whole else None


async def main(answer_s: float) -> None:
    server = await asyncio.get_running_loop().create_server(
        lambda: Endpoint(answer_s), "127.0.0.1", 0
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
