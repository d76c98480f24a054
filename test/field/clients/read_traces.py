"""Reads a trace over the MCP server of the platform with a release of `mcp`, in every era that it speaks."""

import asyncio
import json
import os

from mcp_client import ERAS, connected, field, is_refused

URL, KEY, TRACE, PROJECT = (os.environ[name] for name in ["WEIR_URL", "KEY", "TRACE", "PROJECT"])


async def read(era, path, headers):
    """What an era reads at one of the two addresses."""
    async with connected(URL + path, headers, era) as server:
        tools = await server.tools()
        projects = await server.call("list_projects", {})
        runs = await server.call("fetch_runs", {"project_name": PROJECT, "limit": 10, "is_root": "true"})
        outline = await server.call("read_trace", {"trace_id": TRACE})
        small = await server.call("read_trace", {"trace_id": TRACE, "max_tokens": 200})
        lost = await server.call("read_run", {"run_id": "00000000-0000-4000-8000-000000000000"})
        wrong = await server.call("read_trace", {"trace": TRACE})
        return {
            "names": [tool.name for tool in tools],
            "read_only": all(field(tool.annotations, "read_only_hint", "readOnlyHint") for tool in tools),
            "instructions": "outline" in (server.instructions or ""),
            "has_project": PROJECT in [project["name"] for project in json.loads(projects["text"])["projects"]],
            "roots": [run["name"] for run in json.loads(runs["text"])["runs"]],
            "outline": ["agent" in outline["text"], "no more quota" in outline["text"], outline["structured"]],
            "small": len(small["text"]) < 1000,
            "lost": lost["failed"],
            "wrong": [wrong["failed"], "trace_id" in wrong["text"]],
            "unknown": await server.code_of("nope", {}),
        }


async def main():
    said = {}
    for era in ERAS:
        said[era] = {
            "key": await read(era, "/mcp", {"x-api-key": KEY}),
            "bearer": await read(era, "/api/mcp", {"authorization": f"Bearer {KEY}"}),
            "refused": await is_refused(URL + "/mcp", {}, era),
        }
    print(json.dumps(said))


asyncio.run(main())
