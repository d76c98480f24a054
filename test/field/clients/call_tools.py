"""Calls graphs as tools with a release of `mcp`, in every era that it speaks, and prints what came back."""

import asyncio
import json
import os

from mcp import types
from mcp_client import ERAS, connected, field, is_refused

URL, HEADERS = os.environ["DEPLOYMENT_URL"] + "/mcp", {"x-api-key": os.environ["KEY"]}


def listed(tools):
    """What the list of tools says."""
    by_name = {tool.name: tool for tool in tools}
    schemas = {name: field(tool, "input_schema", "inputSchema") for name, tool in by_name.items()}
    annotations = by_name["kinds"].annotations
    return {
        "sorted": list(by_name) == sorted(by_name),
        "objects": all(schema["type"] == "object" for schema in schemas.values()),
        "outputs": [name for name, tool in by_name.items() if field(tool, "output_schema", "outputSchema")],
        "messages": schemas["talking"]["properties"]["messages"]["type"],
        "description": by_name["kinds"].description,
        "reads_only": field(annotations, "read_only_hint", "readOnlyHint"),
        "open_world": field(annotations, "open_world_hint", "openWorldHint"),
    }


async def with_answers(era):
    """What an era can do with a user who answers questions."""
    asked, answers, progress = [], ["accept", "decline"], []

    async def answer(_context, params):
        asked.append(params.message)
        action = answers.pop(0)
        return types.ElicitResult(action=action, content={"response": "yes"} if action == "accept" else None)

    async def told(now, _total, message):
        progress.append((now, message))

    async with connected(URL, HEADERS, era, answer) as server:
        tools = listed(await server.tools())
        echo = await server.call("echo", {"text": "hi"}, told)
        talk = await server.call("talking", {"messages": "Hello there"})
        failed = await server.call("kinds", {"kind": "fail"})
        resumed = await server.call("kinds", {"kind": "ask"})
        declined = await server.call("kinds", {"kind": "ask"})
        return {
            "version": server.version,
            "tools": tools,
            "output": [echo["structured"]["text"], json.loads(echo["text"])["text"]],
            "rises": [now for now, _ in progress] == sorted({now for now, _ in progress}),
            "told": len(progress) > 0,
            "talk": [len(talk["text"]) > 0, talk["structured"], talk["failed"]],
            "failed": [failed["failed"], failed["text"]],
            "asked": asked,
            "resumed": not resumed["failed"],
            "declined": declined["failed"],
            "unknown": await server.code_of("nope", {}),
        }


async def without_answers(era):
    """What a question becomes without a user."""
    async with connected(URL, HEADERS, era) as server:
        asked = await server.call("kinds", {"kind": "ask"})
    said = json.loads(asked["text"])
    return [asked["failed"], said["__interrupt__"][0]["value"], sorted(said)]


async def main():
    said = {}
    for era in ERAS:
        said[era] = {
            **await with_answers(era),
            "question": await without_answers(era),
            "bearer": not await is_refused(URL, {"authorization": f"Bearer {os.environ['KEY']}"}, era),
            "refused": await is_refused(URL, {}, era),
        }
    print(json.dumps(said))


asyncio.run(main())
