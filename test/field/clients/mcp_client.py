"""A client of MCP, with any release of `mcp` and in every era that it speaks."""

from contextlib import asynccontextmanager

import mcp
from mcp.client.streamable_http import streamable_http_client

# Releases before 2 have a session instead of a client, and speak one era.
HAS_CLIENT = hasattr(mcp, "Client")
ERAS = ["auto", "legacy"] if HAS_CLIENT else ["legacy"]
# Seconds for a call: the first one waits until the schemas of the graphs are read.
LONG = 300


class Connection:
    """A connected client, and what the server said about itself."""

    def __init__(self, client, version, instructions):
        self.client, self.version, self.instructions = client, version, instructions

    async def tools(self):
        """All tools, page after page."""
        tools, page = [], await self.client.list_tools()
        while True:
            tools += page.tools
            cursor = field(page, "next_cursor", "nextCursor")
            if cursor is None:
                return tools
            page = await self.client.list_tools(cursor=cursor)

    async def call(self, name, arguments, progress=None):
        """What a tool answers: whether it failed, its text and its structured content."""
        result = await self.client.call_tool(name, arguments, progress_callback=progress)
        texts = [part.text for part in result.content if part.type == "text"]
        return {
            "failed": bool(field(result, "is_error", "isError")),
            "text": "".join(texts),
            "structured": field(result, "structured_content", "structuredContent"),
        }

    async def code_of(self, name, arguments):
        """The code of the error of the protocol with which a call is refused."""
        try:
            await self.client.call_tool(name, arguments)
        except Exception as error:
            return error.error.code
        return None


@asynccontextmanager
async def connected(url, headers, era, answer=None):
    """A connection to a server."""
    if HAS_CLIENT:
        import httpx2

        async with (
            httpx2.AsyncClient(headers=headers, timeout=LONG) as http,
            mcp.Client(streamable_http_client(url, http_client=http), mode=era, elicitation_callback=answer) as client,
        ):
            yield Connection(client, client.protocol_version, client.instructions)
        return
    import httpx

    async with (
        httpx.AsyncClient(headers=headers, timeout=LONG) as http,
        streamable_http_client(url, http_client=http) as (read, write, _),
        mcp.ClientSession(read, write, elicitation_callback=answer) as session,
    ):
        hello = await session.initialize()
        yield Connection(session, hello.protocolVersion, hello.instructions)


async def is_refused(url, headers, era):
    """Whether a server refuses these headers."""
    try:
        async with connected(url, headers, era) as connection:
            await connection.tools()
    except Exception:
        return True
    return False


def field(result, *names):
    """A field of a result, whose name is in snake case from release 2 on."""
    return next((getattr(result, name) for name in names if hasattr(result, name)), None)
