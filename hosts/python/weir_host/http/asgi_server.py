"""Serves an ASGI app on a Unix socket: HTTP/1.1, one request on each connection, as the server's proxy sends them."""

import asyncio
import base64
import traceback
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

import h11

from ..json_text import read_json
from .users import User

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# The headers of src/base/app-headers.ts.
CALLER_HEADER = b"x-weir-caller"
WEBHOOK_HEADER = b"x-weir-webhook"
# Bytes of all headers of a request: the one with the user is up to 90 KB.
MAX_HEADER_BYTES = 1 << 20
READ_BYTES = 64 << 10


async def serve_asgi(app: App, path: str, state: dict[str, Any]) -> None:
    """Starts to listen; `state` is the state that the app's startup has set."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Exchange(app, state, reader, writer).run()

    await asyncio.start_unix_server(connected, path)


class Exchange:
    """A request and its response."""

    def __init__(
        self, app: App, state: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._app = app
        self._state = state
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEADER_BYTES)
        self._is_uploaded = False
        self._ended = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._start: Message | None = None
        self._has_begun = False
        self._method = b""

    async def run(self) -> None:
        """Serves one connection; never raises."""
        try:
            request = await next_event(self._http, self._reader)
            if isinstance(request, h11.Request):
                self._method = request.method
                await self._app(scope_of(request, self._state), self._receive, self._send)
        except (ConnectionError, h11.RemoteProtocolError):
            pass
        except Exception:
            traceback.print_exc()
            await self._fail()
        finally:
            if self._watching is not None:
                self._watching.cancel()
            elif self._ended.is_set():
                await self._drop_rest()
            self._writer.close()

    async def _receive(self) -> Message:
        if self._is_uploaded:
            await self._ended.wait()
            return {"type": "http.disconnect"}
        try:
            event = await next_event(self._http, self._reader)
        except (ConnectionError, h11.RemoteProtocolError):
            self._ended.set()
            return {"type": "http.disconnect"}
        if isinstance(event, h11.Data):
            return {"type": "http.request", "body": bytes(event.data), "more_body": True}
        self._is_uploaded = True
        self._watching = asyncio.get_running_loop().create_task(self._watch())
        return {"type": "http.request", "body": b"", "more_body": False}

    async def _watch(self) -> None:
        """Waits until the client, which sends nothing after its request, disconnects."""
        await self._drop_rest()
        self._ended.set()

    async def _drop_rest(self) -> None:
        """Reads until the client disconnects, as it does when it has the whole response. A connection that is closed
        while it has unread bytes would discard the response."""
        try:
            while await self._reader.read(READ_BYTES):
                continue
        except ConnectionError:
            pass

    async def _send(self, message: Message) -> None:
        """Sends a part of the response; does nothing after the client has disconnected."""
        if message["type"] == "http.response.start":
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None and not self._ended.is_set():
            if not self._has_begun:
                headers = [*self._start.get("headers", ()), (b"connection", b"close")]
                self._write(h11.Response(status_code=self._start["status"], headers=headers))
                self._has_begun = True
            body = message.get("body", b"")
            if body and self._method != b"HEAD":
                self._write(h11.Data(data=body))
            if not message.get("more_body", False):
                self._write(h11.EndOfMessage())
            try:
                await self._writer.drain()
            except ConnectionError:
                self._ended.set()
            if not message.get("more_body", False):
                self._ended.set()

    def _write(self, event: h11.Event) -> None:
        self._writer.write(self._http.send(event) or b"")

    async def _fail(self) -> None:
        """Responds with 500 if nothing has been sent; otherwise cuts the connection, so that the client can detect that
        the response is incomplete."""
        if self._has_begun or self._ended.is_set():
            return
        self._start = {"status": 500, "headers": [(b"content-type", b"text/plain; charset=utf-8")]}
        await self._send({"type": "http.response.body", "body": b"Internal Server Error"})


async def next_event(http: h11.Connection, reader: asyncio.StreamReader) -> Any:
    """The next event of a connection."""
    while True:
        event = http.next_event()
        if event is not h11.NEED_DATA:
            return event
        http.receive_data(await reader.read(READ_BYTES))


def scope_of(request: h11.Request, state: dict[str, Any]) -> Scope:
    """The scope of a request. The authenticated user, whom the server names in a header, is `user`, and the user's
    permissions are `auth`."""
    path, _, query = request.target.partition(b"?")
    headers = [(bytes(name), bytes(value)) for name, value in request.headers]
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "method": request.method.decode(),
        "path": unquote(path.decode("latin-1")),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": [(name, value) for name, value in headers if name != CALLER_HEADER],
        "server": None,
        "client": None,
        "state": state.copy(),
    }
    caller = dict(headers).get(CALLER_HEADER)
    if caller is not None:
        found = read_json(base64.b64decode(caller))
        scope |= {"user": User(found["user"]), "auth": Credentials(found["scopes"])}
    return scope


class Credentials:
    """The user's permissions in the form that Starlette's `requires` reads."""

    def __init__(self, scopes: list[str]) -> None:
        self.scopes = scopes
