"""The host: executes jobs that the server grants, and answers its calls, until the server ends the process."""

import asyncio
import contextvars
import faulthandler
import gc
import os
import signal
import sys
import traceback
from collections.abc import Iterable
from types import FrameType
from typing import Any

from .channel import Channel, leave, run_with_channel, send_last
from .errors import Refused, text_of
from .frames import MAX_LOADED_FILES, MAX_MESSAGE_CHARS, Head
from .http.own_api import call_own_deployment
from .json_text import read_json
from .modules import is_own_file, loaded_files
from .runs.calls import answer_call
from .runs.execute import Deps, Execution, failed_unexpectedly
from .runs.graphs import Broken, Graphs
from .runs.stream_items import Item
from .runs.thread_pools import carry_context
from .storage.broker import connect_broker
from .storage.store import BrokeredStore

# Seconds between heartbeats: a quarter of the time after which a silent host gets no new jobs.
BEAT_SECONDS = 0.25
# A batch with this many items is sent before the event loop's turn ends.
BATCH_ITEMS = 64
# Likewise a batch with this many bytes: the server ends a host that sends a frame of more than 256 MiB.
BATCH_BYTES = 8 << 20

# The job of the running code.
JOB: contextvars.ContextVar[int | None] = contextvars.ContextVar("weir_job", default=None)


class Host:
    """Receives the server's frames and sends those of the host."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._send = channel.send
        # JSON texts of jobs.
        self._offered: dict[int, bytes] = {}
        self._running: dict[int, Execution] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._beating: asyncio.Task[None] | None = None
        self._deps: Deps | None = None
        # Files that have been reported to the server; None until the server requests them.
        self._reported: set[str] | None = None

    @property
    def jobs(self) -> Iterable[int]:
        """The ids of running jobs."""
        return self._running

    async def listen(self) -> None:
        """Handles the server's frames in their order."""
        async for head, parts in self._channel.frames():
            await self._handle(head, parts)

    async def _handle(self, head: Head, parts: list[bytes]) -> None:
        match head["type"]:
            case "open":
                await self._open(head)
            case "offer":
                self._offered[head["id"]] = parts[0]
                self._send({"type": "ready", "id": head["id"]})
            case "go":
                job = self._offered.pop(head["id"], None)
                if job is not None:
                    self._grant(head["id"], job)
            case "drop":
                self._offered.pop(head["id"], None)
            case "cancel":
                execution = self._running.get(head["id"])
                if execution is not None:
                    execution.cancel(head.get("state", True))
            case "call":
                self._begin(self._answer(head["id"], parts[0]))
            case "stop":
                leave(0)

    def _grant(self, id: int, text: bytes) -> None:
        """Begins a job. A job that cannot be read fails: another host could not read it either."""
        try:
            registered = self._registered(id, read_json(text))
        except Exception as error:
            self._send({**failed_unexpectedly(error).head, "id": id})
        else:
            self._begin(self._execute(id, registered))

    def _begin(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _open(self, message: Head) -> None:
        try:
            if message["report_files"]:
                self._reported = set()
            place = message["storage"]["broker"]
            if message["own_api"] is not None:
                call_own_deployment(message["own_api"])
            graphs = Graphs(message["graphs"])
            broker = await connect_broker(place["socket"], place["token"])
            self._deps = Deps(graphs, broker, BrokeredStore(broker), message["tracing_project"], message["store_index"])
            gc.collect()
            gc.freeze()
            # A run allocates thousands of objects that end with it, so looking for cycles at every 700 finds few.
            gc.set_threshold(10_000, 20, 20)
            failures = graphs.failures
            named = [graph["file"] for graph in message["graphs"] if graph.get("module") is None]
            self._report([*named, *(failure["file"] for failure in failures)])
            if len(failures) < len(message["graphs"]):
                self._send({"type": "opened", "failures": failures})
            else:
                told = "\n".join(failure["message"] for failure in failures)
                self._send({"type": "failed", "message": cut(told), "failures": failures})
        except Exception as error:
            traceback.print_exc()
            self._report()
            self._send({"type": "failed", "message": cut(f"{type(error).__name__}: {text_of(error)}"), "failures": []})

    def _report(self, tried: Iterable[str] = ()) -> None:
        """Sends the files to watch for changes, imported ones and `tried`, except files that it has sent before."""
        if self._reported is None:
            return
        files = {*tried, *loaded_files()} - self._reported
        self._reported |= files
        listed = sorted(files)
        for at in range(0, len(listed), MAX_LOADED_FILES):
            self._send({"type": "loaded", "files": listed[at : at + MAX_LOADED_FILES]})

    def _registered(self, id: int, job: Head) -> "tuple[Execution, Outbox]":
        """Creates the execution of a job and registers it at once, because the next frame may cancel it."""
        outbox = Outbox(id, self._send)
        assert self._deps is not None
        execution = Execution(self._deps, job, outbox.add, lambda body: self._send({"type": "trace", "id": id}, [body]))
        self._running[id] = execution
        return execution, outbox

    async def _execute(self, id: int, registered: "tuple[Execution, Outbox]") -> None:
        JOB.set(id)
        execution, outbox = registered
        if self._beating is None:
            self._beating = asyncio.get_running_loop().create_task(self._beat())
        try:
            end = await execution.execute()
        except Exception as error:
            traceback.print_exc()
            end = failed_unexpectedly(error)
        finally:
            del self._running[id]
        outbox.flush()
        self._report()
        self._send({**end.head, "id": id}, end.parts)

    async def _beat(self) -> None:
        while self._running:
            self._send({"type": "beat"})
            await asyncio.sleep(BEAT_SECONDS)
        self._beating = None

    async def _answer(self, id: int, text: bytes) -> None:
        try:
            assert self._deps is not None
            answer, parts = await answer_call(self._deps, read_json(text))
            self._send({"type": "answer", "id": id, **answer}, parts)
        except Broken as error:
            self._send({"type": "refused", "id": id, "code": error.code, "message": cut(str(error)), "broken": True})
        except Refused as error:
            self._send({"type": "refused", "id": id, "code": error.code, "message": cut(str(error))})
        except (Exception, SystemExit) as error:
            # Errors that LangGraph raises during a call are about the call's arguments.
            message = cut(text_of(error)) or type(error).__name__
            self._send({"type": "refused", "id": id, "code": "invalid_request", "message": message})


def cut(message: str) -> str:
    """A message of user code, at most as long as heads may have it."""
    return message[:MAX_MESSAGE_CHARS]


class Outbox:
    """Collects the items of one turn of the event loop into one frame, or into several if there are many."""

    def __init__(self, id: int, send: Any) -> None:
        self._id = id
        self._send = send
        self._items: list[Item] = []
        self._bytes = 0
        self._is_scheduled = False

    def add(self, items: Iterable[Item]) -> None:
        """Adds an item; items are sent in order."""
        for item in items:
            self._items.append(item)
            self._bytes += len(item[1])
            if len(self._items) >= BATCH_ITEMS or self._bytes >= BATCH_BYTES:
                self.flush()
        if self._items and not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._turn_ends)

    def _turn_ends(self) -> None:
        self._is_scheduled = False
        self.flush()

    def flush(self) -> None:
        """Sends the collected items."""
        items, self._items, self._bytes = self._items, [], 0
        if items:
            events = [event for event, _ in items]
            self._send({"type": "items", "id": self._id, "events": events}, [data for _, data in items])


def blame(code: int) -> None:
    """Reports to the server which job's code ends the process, before it ends."""
    id = JOB.get()
    if id is not None:
        message = f"The graph ended its process with code {code}."
        send_last({"type": "culprit", "id": id, "message": message})


def exit_of_code(code: int = 0) -> None:
    """Replaces `os._exit` for the code of graphs."""
    blame(code)
    leave(code)


def exit_by_sys(code: Any = None) -> None:
    """Replaces `sys.exit`: a call in a run ends the process, a call while a module is loaded is the module's error."""
    if JOB.get() is None:
        raise SystemExit(code)
    exit_of_code(code if isinstance(code, int) else 0 if code is None else 1)


def tell_ending(error: BaseException, jobs: list[int]) -> None:
    """Reports to the server that the code of a job has ended the event loop. Among several jobs the one is unknown."""
    about: Head = {"type": "culprit", "id": jobs[0]} if len(jobs) == 1 else {"type": "retire"}
    send_last({**about, "message": f"The graph raised {type(error).__name__}."})


def show_place(_signal: int, frame: FrameType | None) -> None:
    """On SIGUSR1: prints the job and the file and line of the code that blocks the event loop."""
    place = "-"
    while frame is not None:
        if is_own_file(frame.f_code.co_filename):
            place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            break
        frame = frame.f_back
    job = JOB.get()
    os.write(2, f"weir-host: held up by {'-' if job is None else job} at {place}\n".encode())


def serve() -> None:
    """Serves graphs until the channel closes."""
    signal.signal(signal.SIGUSR1, show_place)
    # Code outside of Python, in which no handler runs, is found by the stacks of all threads.
    faulthandler.register(signal.SIGUSR1, all_threads=True, chain=True)
    os._exit = exit_of_code  # type: ignore[assignment]
    sys.exit = exit_by_sys  # type: ignore[assignment]
    carry_context()
    hosts: list[Host] = []

    async def listen(channel: Channel) -> None:
        hosts.append(Host(channel))
        await hosts[0].listen()

    run_with_channel(listen, lambda error: tell_ending(error, [job for host in hosts for job in host.jobs]))
