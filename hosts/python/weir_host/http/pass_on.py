"""Forwards requests that a project's HTTP app does not answer to the server's own routes."""

import asyncio
from typing import Any

import h11

from .asgi_server import CALLER_HEADER, MAX_HEADER_BYTES, WEBHOOK_HEADER, Message, Receive, Scope, Send, next_event

# Hop-by-hop headers, and the header that only the server may set.
DROPPED = {b"connection", b"keep-alive", b"transfer-encoding", b"content-length", CALLER_HEADER}


class PassOn:
    """An ASGI app that forwards to the Unix socket at `path`."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        # A client chooses the path of its run's webhook, so a webhook must not reach the routes of Weir.
        if any(name == WEBHOOK_HEADER for name, _ in scope["headers"]):
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"Not Found"})
            return
        reader, writer = await asyncio.open_unix_connection(self._path)
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEADER_BYTES)
        writer.write(http.send(request_of(scope)) or b"")
        uploading = asyncio.get_running_loop().create_task(upload(http, writer, receive))
        try:
            await download(http, reader, send)
        finally:
            uploading.cancel()
            await asyncio.wait([uploading])
            writer.close()


def request_of(scope: Scope) -> h11.Request:
    """The request of a scope, without a content length, because a middleware may have changed the body. The connection
    is kept alive: otherwise the server would close it when it refuses a request before it has read the body, and writing
    the rest of the body would then discard the answer."""
    given = dict(scope["headers"])
    has_body = b"transfer-encoding" in given or given.get(b"content-length", b"0") != b"0"
    query = scope["query_string"]
    headers = [(name, value) for name, value in scope["headers"] if name not in DROPPED]
    return h11.Request(
        method=scope["method"],
        target=scope["raw_path"] + (b"?" + query if query else b""),
        headers=[*headers, *([(b"transfer-encoding", b"chunked")] if has_body else [])],
    )


async def upload(http: h11.Connection, writer: asyncio.StreamWriter, receive: Receive) -> None:
    """Sends the body; closes the connection when the client disconnects."""
    is_sent = False
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            writer.close()
            return
        if is_sent:
            continue
        body = message.get("body", b"")
        if body:
            writer.write(http.send(h11.Data(data=body)) or b"")
        if not message.get("more_body", False):
            writer.write(http.send(h11.EndOfMessage()) or b"")
            is_sent = True
        await writer.drain()


async def download(http: h11.Connection, reader: asyncio.StreamReader, send: Send) -> None:
    """Forwards the response as it arrives. Raises an error for a response that is cut off, so that the app's response
    is cut off too."""
    while True:
        event: Any = await next_event(http, reader)
        if isinstance(event, h11.Response):
            headers = [
                (name, value) for name, value in event.headers if name not in DROPPED or name == b"content-length"
            ]
            await send({"type": "http.response.start", "status": event.status_code, "headers": headers})
        elif isinstance(event, h11.Data):
            await send(body_of(bytes(event.data), True))
        elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
            await send(body_of(b"", False))
            return


def body_of(body: bytes, more: bool) -> Message:
    """A part of a response."""
    return {"type": "http.response.body", "body": body, "more_body": more}
