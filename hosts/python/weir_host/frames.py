"""Frames of the channels to the server: 4 bytes length of the rest, 4 bytes length of the head, the head as JSON with
`sizes` of the parts, the parts. Numbers are little-endian."""

import asyncio
import re
import struct
from collections.abc import AsyncIterator, Sequence
from typing import Any

from .json_text import json_text, read_json

LENGTHS = struct.Struct("<II")
CHUNK_BYTES = 1 << 20
# Characters of a message in a head, files in one report, and bytes of interrupts in a head. The server ends a host that
# sends a head of more than 1 MiB.
MAX_MESSAGE_CHARS = 64 << 10
MAX_LOADED_FILES = 500
MAX_INTERRUPTS = 512 << 10
# Unfinished nodes in a head, and characters of each name.
MAX_NAMES = 50
MAX_NAME_CHARS = 500
# The id of a head is at its end, before the sizes of the parts.
LAST_ID = re.compile(rb'"id":(\d+)(,"sizes":\[[\d,]*\])?\}$')
Part = str | bytes
Head = dict[str, Any]


def encode_frame(head: Head, parts: Sequence[Part] = ()) -> bytes:
    """A frame as bytes."""
    raw = [part.encode() if isinstance(part, str) else part for part in parts]
    sizes = [len(part) for part in raw]
    text = json_text({**head, "sizes": sizes} if raw else head)
    return LENGTHS.pack(4 + len(text) + sum(sizes), len(text)) + text + b"".join(raw)


async def read_frames(reader: asyncio.StreamReader) -> AsyncIterator[tuple[Head, list[bytes]]]:
    """Frames as heads and parts, until the stream ends or breaks."""
    held = bytearray()
    while True:
        try:
            chunk = await reader.read(CHUNK_BYTES)
        except ConnectionError:
            return
        if not chunk:
            return
        held += chunk
        at = 0
        while len(held) - at >= LENGTHS.size:
            total, head_size = LENGTHS.unpack_from(held, at)
            end = at + 4 + total
            if len(held) < end:
                break
            frame = bytes(memoryview(held)[at + LENGTHS.size : end])
            at = end
            yield split(frame, head_size)
        del held[:at]


def split(frame: bytes, head_size: int) -> tuple[Head, list[bytes]]:
    """Head and parts of a frame without its lengths."""
    head = read_head(frame[:head_size])
    parts, at = [], head_size
    for size in head.get("sizes", ()):
        parts.append(frame[at : at + size])
        at += size
    return head, parts


def read_head(text: bytes) -> Head:
    """A head. One that is nested too deeply for Python's reader has the type `unreadable`, and its id."""
    try:
        return read_json(text)
    except RecursionError:
        found = LAST_ID.search(text)
        return {"type": "unreadable", "id": None if found is None else int(found[1])}
