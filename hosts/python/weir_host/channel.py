"""The channel to the server, at descriptor 3."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from .frames import Head, Part, encode_frame, read_frames

CHANNEL = 3
_exit = os._exit


class Channel:
    """Frames in both directions."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    def send(self, head: Head, parts: Iterable[Part] = ()) -> None:
        """Sends a frame; frames arrive in the order of the calls."""
        self._writer.write(encode_frame(head, list(parts)))

    async def frames(self) -> AsyncIterator[tuple[Head, list[bytes]]]:
        """The server's frames. The process ends when the channel closes."""
        async for frame in read_frames(self._reader):
            yield frame
        leave(0)


def send_last(head: Head) -> None:
    """Sends a frame without the event loop, just before the process ends."""
    os.write(CHANNEL, encode_frame(head))


def leave(code: int) -> None:
    """Ends the process at once: a thread of user code must not keep it alive."""
    sys.stdout.flush()
    sys.stderr.flush()
    _exit(code)


def run_with_channel(serve: Callable[[Channel], Awaitable[None]]) -> None:
    """Runs `serve` in an event loop. SIGINT and SIGTERM, which a terminal or systemd sends to the whole process group, are
    ignored: the server lets running work finish and ends its children last."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

    async def run() -> None:
        reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=CHANNEL), limit=1 << 20)
        await serve(Channel(reader, writer))

    asyncio.run(run())
