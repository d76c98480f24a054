"""Calls graphs as tools with a release of `mcp`, in every era that it speaks, and prints what came back."""

import asyncio
import json
import os
from contextlib import asynccontextmanager

import mcp
from mcp import types
from mcp.client.streamable_http import streamable_http_client

URL, HEADERS = os.environ["DEPLOYMENT_URL"] + "/mcp", {"x-api-key": os.environ["KEY"]}
# Seconds for a call: the first one waits until the schemas of the graphs are read.
LONG = 300


@asynccontextmanager
async def connected(era, answer):
    """A client of an era. Releases before 2 have a session instead, and speak one era."""
    if hasattr(mcp, "Client"):
        import httpx2

        async with (
            httpx2.AsyncClient(headers=HEADERS, timeout=LONG) as http,
            mcp.Client(streamable_http_client(URL, http_client=http), mode=era, elicitation_callback=answer) as client,
        ):
            yield client
        return
    import httpx

    async with (
        httpx.AsyncClient(headers=HEADERS, timeout=LONG) as http,
        streamable_http_client(URL, http_client=http) as (read, write, _),
        mcp.ClientSession(read, write, elicitation_callback=answer) as session,
    ):
        await session.initialize()
        yield session


def field(result, *names):
    """A field of a result, whose name is in snake case from release 2 on."""
    return next((getattr(result, name) for name in names if hasattr(result, name)), None)


async def call(era):
    """What an era can do."""
    asked = []

    async def answer(_context, params):
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"response": "yes"})

    progress = []

    async def told(now, _total, message):
        progress.append((now, message))

    async with connected(era, answer) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        echo = await client.call_tool("echo", {"text": "hi"}, progress_callback=told)
        failed = await client.call_tool("kinds", {"kind": "fail"})
        resumed = await client.call_tool("kinds", {"kind": "ask"})
    return {
        "lists": "echo" in tools,
        "text": field(echo, "structured_content", "structuredContent")["text"],
        "told": len(progress) > 0,
        "failed": [field(failed, "is_error", "isError"), failed.content[0].text],
        "asked": asked,
        "resumed": not field(resumed, "is_error", "isError"),
    }


async def main():
    eras = ["auto", "legacy"] if hasattr(mcp, "Client") else ["legacy"]
    print(json.dumps({era: await call(era) for era in eras}))


asyncio.run(main())
