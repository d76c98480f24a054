"""The connection to the storage broker of the server: the only way to checkpoints and long-term memory (P-25)."""

import asyncio
import os
from collections.abc import Sequence

from ..errors import Refused
from ..frames import Head, Part, encode_frame, read_frames
from ..json_text import json_text

# Bytes of the values of a request or an answer, and of the fields of a request: half of what a frame of the broker, and
# its head, may have.
MOST_BYTES = 128 << 20
MOST_HEAD_BYTES = 1 << 20
FEW_ROWS = 1_000


class Broker:
    """Sends requests to the broker, which may answer in any order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[tuple[Head, list[bytes]]]] = {}
        self._next = 1
        self.loop = asyncio.get_running_loop()
        self._reading = self.loop.create_task(self._read(reader))

    async def request(self, op: str, body: Head, parts: Sequence[Part] = ()) -> tuple[Head, list[bytes]]:
        """The body and the parts of the answer. Raises Refused with the broker's code."""
        if sum(map(len, parts)) > MOST_BYTES:
            raise too_large("values", MOST_BYTES)
        # Most requests are small, and known to be so without printing them twice.
        is_long = any(isinstance(one, list) and len(one) > FEW_ROWS for one in body.values())
        if is_long and len(json_text(body)) > MOST_HEAD_BYTES:
            raise too_large("rows", MOST_HEAD_BYTES)
        number = self._next
        self._next += 1
        answer = self._waiting[number] = self.loop.create_future()
        self._writer.write(encode_frame({**body, "op": op, "id": number}, parts))
        return await answer

    async def _read(self, reader: asyncio.StreamReader) -> None:
        async for head, parts in read_frames(reader):
            waiting = self._waiting.pop(head["id"], None)
            if waiting is None or waiting.done():
                continue
            refused = head.get("refused")
            if refused is None:
                waiting.set_result((head["body"], parts))
            else:
                waiting.set_exception(Refused(refused["code"], refused["message"]))
        os._exit(1)


def too_large(what: str, most: int) -> Refused:
    """The error for a step that the broker would not read."""
    return Refused(
        "body_too_large", f"A step's {what} have more than {most >> 20} MiB, the limit of the storage of deployments."
    )


async def connect_broker(path: str, token: str) -> Broker:
    """Connects with the token of this host."""
    reader, writer = await asyncio.open_unix_connection(path, limit=1 << 20)
    writer.write(encode_frame({"op": "open", "token": token}))
    return Broker(reader, writer)
