"""The startup and the shutdown of ASGI apps."""

import asyncio
from contextlib import suppress
from typing import Any

from .asgi_server import App, Message


class Lifespan:
    """The startup and the shutdown of an app. An app without them is ready at once."""

    def __init__(self, app: App, state: dict[str, Any]) -> None:
        self._app = app
        self._state = state
        self._asked: asyncio.Queue[Message] = asyncio.Queue()
        self._said: asyncio.Queue[Message | None] = asyncio.Queue()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def start(self) -> None:
        """Runs the startup. Raises RuntimeError when the startup fails."""
        message = await self._ask("lifespan.startup")
        if message is not None and message["type"].endswith("failed"):
            told = message.get("message", "").strip()
            raise RuntimeError(told.splitlines()[-1] if told else "The startup of the app failed.")

    async def stop(self) -> None:
        """Returns when the shutdown has ended or failed; the app itself reports a failure."""
        await self._ask("lifespan.shutdown")

    async def _ask(self, type_: str) -> Message | None:
        if self._task.done():
            return None
        await self._asked.put({"type": type_})
        return await self._said.get()

    async def _run(self) -> None:
        scope = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": self._state}
        # An app that raises has no lifespan, or has reported what failed.
        with suppress(Exception):
            await self._app(scope, self._asked.get, self._said.put)
        await self._said.put(None)
