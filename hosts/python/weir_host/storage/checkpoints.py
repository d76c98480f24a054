"""LangGraph's checkpointer over the storage broker. Values are stored in the format of LangGraph's serializer."""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph.checkpoint.base import (
    EXCLUDED_METADATA_KEYS,
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    Checkpoint,
    CheckpointTuple,
)

from ..errors import Refused, other_language
from ..frames import Head
from ..json_text import json_text, read_json
from .broker import Broker
from .row_queue import RowQueue, Rows

# The tag of a stored value is this and the serializer's own type; TypeScript's tags have no prefix.
TAG = "python:"
# Fields of a config's metadata that are not copied to its checkpoints. LangGraph's server shows `thread_id`.
UNSTAMPED = EXCLUDED_METADATA_KEYS - {"thread_id"}
# Number of checkpoints of a history whose values are read at a time: the first page is small, each is twice as large as
# the one before.
FIRST_PAGE, PAGE = 8, 64
# Number of values that are read at a time, unless a single checkpoint has more.
PAGE_VALUES = 2_000

_last_time = 0


def next_time() -> int:
    """The time in microseconds, strictly increasing in this process."""
    global _last_time
    _last_time = max(_last_time + 1, time.time_ns() // 1000)
    return _last_time


def decoded(text: bytes) -> bytes:
    """The bytes of base64 that may consist of several parts, each with its padding."""
    if text.find(b"=", 0, -2) < 0:
        return base64.b64decode(text)
    return b"".join(base64.b64decode(part + b"=" * (-len(part) % 4)) for part in text.split(b"=") if part)


@dataclass(frozen=True)
class Lineage:
    """The checkpoint that wrote each channel's value, and the versions of the channels."""

    refs: dict[str, str]
    versions: dict[str, Any]


class BrokeredSaver(BaseCheckpointSaver[int]):
    """Checkpoints of one deployment. With a lease, rows carry the run's id and are refused once the lease is lost
    (D-44). With `ahead`, writes return before they are durable. The thread `fresh` has no checkpoints, so nothing of it
    is read before the first write. When sealed, it stores nothing more, and reads the newest checkpoint from memory
    if it has stored that checkpoint."""

    def __init__(
        self, broker: Broker, lease: Head | None = None, ahead: bool = False, fresh: str | None = None
    ) -> None:
        super().__init__()
        self._broker = broker
        self._lease = lease and {"run_id": lease["run_id"], "token": lease["token"]}
        self._rows = RowQueue(broker, self._lease, ahead)
        self._lineages: dict[tuple[str, str, str], Lineage] = {}
        # The newest checkpoint of the graph itself, not of a subgraph; and the one that a task has written to last.
        self._newest: tuple[Head, list[bytes], Head] | None = None
        self._written_to: str | None = None
        self._fresh = fresh
        self.sealed = False

    # Reading

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """The checkpoint that the config names, or the newest one."""
        if thread_of(config) is None:
            return None
        if thread_of(config) == self._fresh:
            return None
        known = self._from_memory(config) if self.sealed else None
        if known is not None:
            return known
        await self._rows.sent()
        body: Head = {**place_of(config), "checkpoint_id": checkpoint_id_of(config)}
        answer, parts = await self._broker.request("get", body)
        if not answer["rows"]:
            return None
        row, rest = checkpoints_of(answer, parts)[0], parts[3:]
        values, writes = self._contents(answer, rest)
        return self._tuple(row, values, writes.get(row["checkpoint_id"], ()))

    def _from_memory(self, config: Any) -> CheckpointTuple | None:
        """The newest checkpoint if it is the requested one and has no writes of tasks, which are in the storage
        only."""
        if self._newest is None or checkpoint_id_of(config) is not None:
            return None
        key, texts, values = self._newest
        is_other = any(key[name] != value for name, value in place_of(config).items())
        if is_other or key["checkpoint_id"] == self._written_to:
            return None
        row = row_of(key, texts)
        return self._tuple(row, {(ref, channel): values[channel] for channel, ref in row["refs"].items()}, ())

    async def alist(
        self, config: Any, *, filter: dict[str, Any] | None = None, before: Any = None, limit: int | None = None
    ) -> AsyncIterator[CheckpointTuple]:
        """Lists checkpoints whose metadata contains `filter`, newest first."""
        if limit is not None and limit <= 0:
            return
        await self._rows.sent()
        scan = {
            "thread_id": thread_of(config),
            "checkpoint_ns": configurable_of(config).get("checkpoint_ns"),
            "checkpoint_id": checkpoint_id_of(config),
            "before": checkpoint_id_of(before),
            "limit": None if filter else limit,
        }
        answer, parts = await self._broker.request("list", scan)
        rows = [row for row in checkpoints_of(answer, parts) if contains(row["metadata"], filter or {})][:limit]
        for page in pages_of(rows):
            for found in await self._read_page(page):
                yield found

    async def _read_page(self, rows: Sequence[Head]) -> list[CheckpointTuple]:
        found: dict[int, CheckpointTuple] = {}
        for place in {(row["thread_id"], row["checkpoint_ns"]) for row in rows}:
            own = [row for row in rows if (row["thread_id"], row["checkpoint_ns"]) == place]
            keys = {(id, channel) for row in own for channel, id in row["refs"].items()}
            body = {
                "thread_id": place[0],
                "checkpoint_ns": place[1],
                "values": [{"checkpoint_id": id, "channel": channel} for id, channel in keys],
                "writes_of": [row["checkpoint_id"] for row in own],
            }
            answer, parts = await self._broker.request("get", body)
            values, writes = self._contents(answer, parts)
            for row in own:
                if all((id, channel) in values for channel, id in row["refs"].items()):
                    found[id_of(row)] = self._tuple(row, values, writes.get(row["checkpoint_id"], ()))
        return [found[id_of(row)] for row in rows if id_of(row) in found]

    def _contents(
        self, answer: Head, parts: Sequence[bytes]
    ) -> tuple[dict[tuple[str, str], Any], dict[str, list[Any]]]:
        texts = iter(parts)
        values = {
            (one["checkpoint_id"], one["channel"]): self._load(one["type"], next(texts)) for one in answer["values"]
        }
        writes: dict[str, list[Any]] = {}
        for one in answer["writes"]:
            write = (one["task_id"], one["channel"], self._load(one["type"], next(texts)))
            writes.setdefault(one["checkpoint_id"], []).append(write)
        return values, writes

    def _load(self, tag: str, text: bytes) -> Any:
        if not tag.startswith(TAG):
            raise other_language()
        return self.serde.loads_typed((tag[len(TAG) :], decoded(text)))

    def _dump(self, channel: str, value: Any) -> tuple[str, bytes]:
        """Raises TypeError with the name of the channel for a value that has no stored form, such as a lock."""
        try:
            type_, data = self.serde.dumps_typed(value)
        except Exception as error:
            raise TypeError(f'The value of "{channel}" cannot be stored: {error}') from error
        return TAG + type_, base64.b64encode(data)

    def _tuple(self, row: Head, values: dict[tuple[str, str], Any], writes: Iterable[Any]) -> CheckpointTuple:
        place = (row["thread_id"], row["checkpoint_ns"])
        refs, id = row["refs"], row["checkpoint_id"]
        self._lineages[(*place, id)] = Lineage(refs, row["checkpoint"]["channel_versions"])
        channels = {channel: values[(ref, channel)] for channel, ref in refs.items()}
        parent = row["parent_id"]
        return CheckpointTuple(
            config=config_of(place, id),
            checkpoint=cast(Checkpoint, {**row["checkpoint"], "id": id, "channel_values": channels}),
            metadata=row["metadata"],
            parent_config=None if parent is None else config_of(place, parent),
            pending_writes=list(writes),
        )

    # Writing

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: dict[str, Any]) -> Any:
        """Stores a checkpoint and the values that it changed."""
        place, parent, id = place_of(config), checkpoint_id_of(config), checkpoint["id"]
        values, versions = checkpoint["channel_values"], checkpoint["channel_versions"]
        refs = {channel: id for channel in values if channel in new_versions}
        stored = list(refs)
        kept = [channel for channel in values if channel not in new_versions and channel in versions]
        if kept:
            inherited = await self._inherited(place, parent, versions, kept)
            refs.update(inherited)
            again = await self._known(
                place, {channel: versions[channel] for channel in kept if channel not in inherited}
            )
            refs.update({channel: id for channel in again})
            stored += again
        key = {"checkpoint_ns": place["checkpoint_ns"], "checkpoint_id": id}
        head = {name: part for name, part in checkpoint.items() if name not in ("id", "channel_values")}
        texts = [json_text(head), json_text(refs), json_text(self._stamped(config, metadata))]
        rows = Rows(checkpoints=[({**key, "parent_id": parent}, texts)])
        for channel in stored:
            tag, text = self._dump(channel, values[channel])
            blob = {**key, "channel": channel, "version": str(versions.get(channel, "")), "type": tag}
            rows.blobs.append((blob, text))
        self._lineages[(place["thread_id"], place["checkpoint_ns"], id)] = Lineage(refs, dict(versions))
        await self._write(place["thread_id"], rows)
        if place["checkpoint_ns"] == "":
            self._newest = {**place, **key, "parent_id": parent}, texts, values
        return config_of((place["thread_id"], place["checkpoint_ns"]), id)

    async def aput_writes(
        self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Stores what a task has written after a checkpoint."""
        place, id = place_of(config), checkpoint_id_of(config)
        written_at, rows = next_time(), Rows()
        for place_in_task, (channel, value) in enumerate(writes):
            tag, text = self._dump(channel, value)
            index = WRITES_IDX_MAP.get(channel, place_in_task)
            write = {"checkpoint_ns": place["checkpoint_ns"], "checkpoint_id": id, "task_id": task_id, "idx": index}
            rows.writes.append(({**write, "written_at": written_at, "channel": channel, "type": tag}, text))
        if place["checkpoint_ns"] == "":
            self._written_to = id
        if rows.writes:
            await self._write(place["thread_id"], rows)

    def _stamped(self, config: Any, metadata: Any) -> Head:
        """The config's fields about the run, without LangGraph's own bookkeeping, and the checkpoint's metadata."""
        of = (config.get("metadata") or {}).items()
        own = {key: value for key, value in of if not key.startswith("__") and key not in UNSTAMPED}
        return {**own, **({"run_id": self._lease["run_id"]} if self._lease else {}), **metadata}

    async def _inherited(
        self, place: Head, parent: str | None, versions: Head, channels: Sequence[str]
    ) -> dict[str, str]:
        """Channels that have not changed since the parent, with the checkpoint that wrote each."""
        if parent is None:
            return {}
        lineage = self._lineages.get((place["thread_id"], place["checkpoint_ns"], parent))
        if lineage is None:
            await self._rows.sent()
            answer, parts = await self._broker.request("list", {**place, "checkpoint_id": parent})
            rows = checkpoints_of(answer, parts)
            lineage = Lineage(rows[0]["refs"], rows[0]["checkpoint"]["channel_versions"]) if rows else Lineage({}, {})
        same = [one for one in channels if lineage.versions.get(one) == versions[one] and one in lineage.refs]
        return {channel: lineage.refs[channel] for channel in same}

    async def _known(self, place: Head, versions: Head) -> list[str]:
        """Returns the channels whose version another checkpoint of the thread has stored already, as for a copied
        state."""
        if not versions:
            return []
        await self._rows.sent()
        keys = [{"channel": channel, "version": str(version)} for channel, version in versions.items()]
        answer, _ = await self._broker.request("get", {**place, "channels": keys})
        return list(answer["channels"])

    async def _write(self, thread_id: str, rows: Rows) -> None:
        self._fresh = None
        if not self.sealed:
            await self._rows.add(thread_id, rows)

    async def stored(self) -> None:
        """Waits until all writes are durable. Raises the error of a write that was refused."""
        await self._rows.stored()

    # The synchronous methods, for graphs that nodes call in threads

    def get_tuple(self, config: Any) -> CheckpointTuple | None:
        """`aget_tuple` for threads other than that of the event loop."""
        return self._wait(self.aget_tuple(config))

    def list(self, config: Any, **options: Any) -> Iterator[CheckpointTuple]:
        """`alist` for other threads."""

        async def read() -> Sequence[CheckpointTuple]:
            return [one async for one in self.alist(config, **options)]

        yield from self._wait(read())

    def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """`aput` for other threads."""
        return self._wait(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
        """`aput_writes` for other threads."""
        self._wait(self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Raises Refused: only the server deletes threads."""
        raise no_deletion()

    async def adelete_thread(self, thread_id: str) -> None:
        """Raises Refused: only the server deletes threads."""
        raise no_deletion()

    def _wait(self, work: Any) -> Any:
        return wait_in_thread(self._broker.loop, work)


def wait_in_thread(loop: asyncio.AbstractEventLoop, work: Any) -> Any:
    """The result of a coroutine that runs in the event loop of the host, for another thread."""
    try:
        running = asyncio.get_running_loop()
    except RuntimeError:
        running = None
    if running is loop:
        work.close()
        raise RuntimeError(
            "A synchronous call in an async node would stop the host: use the async method, such as ainvoke or aget."
        )
    return asyncio.run_coroutine_threadsafe(work, loop).result()


def no_deletion() -> Refused:
    """The error for a graph that deletes a thread."""
    return Refused("forbidden", "Threads of a deployment are deleted through its API.")


def configurable_of(config: Any) -> Head:
    """`configurable` of a config, or an empty mapping."""
    return (config or {}).get("configurable") or {}


def thread_of(config: Any) -> str | None:
    """The thread that a config names."""
    return configurable_of(config).get("thread_id")


def checkpoint_id_of(config: Any) -> str | None:
    """The checkpoint that a config names; None for the newest."""
    return configurable_of(config).get("checkpoint_id") or None


def place_of(config: Any) -> Head:
    """The namespace of checkpoints that a config names."""
    configurable = configurable_of(config)
    return {"thread_id": str(configurable["thread_id"]), "checkpoint_ns": configurable.get("checkpoint_ns") or ""}


def config_of(place: tuple[str, str], checkpoint_id: str) -> Any:
    """The config that names a checkpoint."""
    return {"configurable": {"thread_id": place[0], "checkpoint_ns": place[1], "checkpoint_id": checkpoint_id}}


def row_of(key: Head, texts: Sequence[bytes]) -> Head:
    """A checkpoint's row with its three texts parsed."""
    checkpoint, refs, metadata = map(read_json, texts)
    return {**key, "checkpoint": checkpoint, "refs": refs, "metadata": metadata}


def checkpoints_of(answer: Head, parts: Sequence[bytes]) -> list[Head]:
    """The rows of an answer with their texts parsed."""
    return [row_of(key, parts[3 * at : 3 * at + 3]) for at, key in enumerate(answer["rows"])]


def pages_of(rows: Sequence[Head]) -> Iterator[Sequence[Head]]:
    """The rows, in groups whose values are read together."""
    at, size = 0, FIRST_PAGE
    while at < len(rows):
        end, values = at + 1, len(rows[at]["refs"])
        while end < min(at + size, len(rows)) and values + len(rows[end]["refs"]) <= PAGE_VALUES:
            values += len(rows[end]["refs"])
            end += 1
        yield rows[at:end]
        at, size = end, min(2 * size, PAGE)


def contains(value: Any, part: Any) -> bool:
    """True if the first JSON value contains the second."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(key in value and contains(value[key], one) for key, one in part.items())
    return bool(value == part)


def id_of(row: Head) -> int:
    """Identity of a row within one answer."""
    return id(row)
