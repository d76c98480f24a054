"""The channel to the server, at descriptor 3."""

import asyncio
import os
import signal
import socket
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from .frames import Head, Part, encode_frame, read_frames

CHANNEL = 3
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Sync nodes that may run at the same time in one process. A node that ignores a cancel keeps its thread until it returns.
MOST_THREADS = 256
_exit = os._exit
_exit_by_sys = sys.exit


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
    """Sends a frame without the event loop, just before the process ends. If the channel is full, the server detects the
    end of the process without the frame."""
    with suppress(OSError):
        os.write(CHANNEL, encode_frame(head))


def leave(code: int) -> None:
    """Ends the process at once: a thread of user code must not keep it alive, nor output that it has closed."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    _exit(code)


def ignore(_signal: int, _frame: Any) -> None:
    """Handles a signal by doing nothing. Programs that user code starts do not inherit it, as they would SIG_IGN."""


def become_own_process() -> None:
    """Makes a copy of this process, which user code has forked, independent of it: the copy has no channel, ends by
    signals, and its exit is not that of the host."""
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), CHANNEL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    os._exit = _exit  # type: ignore[assignment]
    sys.exit = _exit_by_sys


def run_with_channel(
    serve: Callable[[Channel], Awaitable[None]], ending: Callable[[BaseException], None] = lambda _: None
) -> None:
    """Runs `serve` in an event loop. SIGINT and SIGTERM, which a terminal or systemd sends to the whole process group, are
    ignored: the server lets running work finish and ends its children last. When user code raises SystemExit or
    KeyboardInterrupt, which end the loop, `ending` is called and the process ends."""
    for one in SIGNALS:
        signal.signal(one, ignore)
    os.set_inheritable(CHANNEL, False)
    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS),
        after_in_parent=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS),
        after_in_child=become_own_process,
    )

    async def run() -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(MOST_THREADS, "asyncio"))
        reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=CHANNEL), limit=1 << 20)
        await serve(Channel(reader, writer))

    # `asyncio.run` would wait for the threads of other nodes.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(run())
    except BaseException as error:
        traceback.print_exc()
        ending(error)
        code = error.code if isinstance(error, SystemExit) else 1
        leave(code if isinstance(code, int) else 1)
