"""Rows of checkpoints that wait to be stored."""

import asyncio
from dataclasses import dataclass, field

from ..frames import Head
from .broker import Broker

# Characters of values, and rows, that are sent in one frame, unless a single step has more. The broker ends the
# connection of a host that sends a head of more than 2 MiB.
BATCH_CHARS = 8 << 20
BATCH_ROWS = 1_000
# How long rows wait for more, in seconds. A step of a graph without a model takes less than a millisecond.
HOLD_SECONDS = 0.003


@dataclass
class Rows:
    """Rows to store, each with its texts."""

    checkpoints: list[tuple[Head, list[bytes]]] = field(default_factory=list)
    blobs: list[tuple[Head, bytes]] = field(default_factory=list)
    writes: list[tuple[Head, bytes]] = field(default_factory=list)

    def add(self, other: "Rows") -> None:
        """Appends the rows of `other`."""
        self.checkpoints += other.checkpoints
        self.blobs += other.blobs
        self.writes += other.writes

    def is_full(self) -> bool:
        """True if the rows fill a frame."""
        rows = len(self.checkpoints) + len(self.blobs) + len(self.writes)
        return rows >= BATCH_ROWS or sum(len(text) for _, text in [*self.blobs, *self.writes]) >= BATCH_CHARS


class RowQueue:
    """Sends the rows of one lease in their order, those of a few milliseconds together. With `ahead`, adding returns
    before the rows are durable."""

    def __init__(self, broker: Broker, lease: Head | None, ahead: bool) -> None:
        self._broker = broker
        self._lease = lease
        self._ahead = ahead
        self._waiting: list[tuple[str, Rows]] = []
        self._hold: asyncio.TimerHandle | None = None
        self._sending: asyncio.Task[None] | None = None
        self._failure: BaseException | None = None

    async def add(self, thread_id: str, rows: Rows) -> None:
        """Raises the error of an earlier row that was refused."""
        if self._failure is not None:
            raise self._failure
        self._waiting.append((thread_id, rows))
        if not self._ahead:
            await self.stored()
        elif self._hold is None and not self._is_sending():
            self._hold = self._broker.loop.call_later(HOLD_SECONDS, self._begin)

    async def stored(self) -> None:
        """Waits until all rows are durable. Raises the error of one that was refused."""
        await self.sent()
        if self._failure is not None:
            raise self._failure

    async def sent(self) -> None:
        """Waits until all rows so far are durable or have failed."""
        self._begin()
        while self._sending is not None and self._is_sending():
            await asyncio.wait({self._sending})
            self._begin()

    def _is_sending(self) -> bool:
        return self._sending is not None and not self._sending.done()

    def _begin(self) -> None:
        if self._hold is not None:
            self._hold.cancel()
            self._hold = None
        if self._waiting and not self._is_sending():
            self._sending = self._broker.loop.create_task(self._send())

    async def _send(self) -> None:
        """Sends what waits; nothing is sent after a failure."""
        while self._waiting and self._failure is None:
            thread_id, rows = self._waiting.pop(0)
            while self._waiting and self._waiting[0][0] == thread_id and not rows.is_full():
                rows.add(self._waiting.pop(0)[1])
            try:
                await self._send_rows(thread_id, rows)
            except Exception as error:
                self._failure = error
                self._waiting.clear()

    async def _send_rows(self, thread_id: str, rows: Rows) -> None:
        body: Head = {
            "thread_id": thread_id,
            "lease": self._lease,
            "checkpoints": [head for head, _ in rows.checkpoints],
            "blobs": [head for head, _ in rows.blobs],
            "writes": [head for head, _ in rows.writes],
        }
        parts = [text for _, texts in rows.checkpoints for text in texts]
        parts += [text for _, text in [*rows.blobs, *rows.writes]]
        op = "put" if rows.checkpoints or rows.blobs else "put_writes"
        await self._broker.request(op, body, parts)
