"""Plays recorded sessions of LangGraph's Python SDK: each is the text of an asynchronous function in `SESSIONS`.

`SESSIONS` is a JSON object of sessions by name, `{"url", "script"}`. Prints the notes of each session as one JSON object.
"""

import asyncio
import json
import os

from langgraph_sdk import get_client

LIMIT = 120


def human(text, id="u1"):
    return {"messages": [{"role": "user", "content": text, "id": id}]}


async def play(session):
    seen = []
    names = {
        "H": human,
        "asyncio": asyncio,
        "get_client": get_client,
        "note": lambda key, value: seen.append({key: value}),
        "url": session["url"],
    }
    made = {}
    exec(session["script"], names, made)
    (script,) = made.values()
    await asyncio.wait_for(script(), LIMIT)
    return seen


async def main():
    sessions = json.loads(os.environ["SESSIONS"])
    seen = await asyncio.gather(*map(play, sessions.values()))
    return dict(zip(sessions, seen))


print(json.dumps(asyncio.run(main()), default=vars))
