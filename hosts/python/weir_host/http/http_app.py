"""Runs a deployment's custom HTTP app: an ASGI app such as FastAPI or Starlette (langgraph.json, `http.app`)."""

import os
import re
import sys
from collections.abc import Iterable
from typing import Any

from ..channel import Channel, leave, run_with_channel
from ..frames import Head
from ..modules import add_project_paths, load_export, load_failure_text, loaded_files
from .asgi_server import App, serve_asgi
from .lifespan import Lifespan
from .own_api import call_own_deployment
from .pass_on import PassOn

Routes = list[dict[str, str]]

# A route that matches all requests.
EVERYTHING = {"method": "ALL", "path": "/*"}


async def open_app(message: Head) -> tuple[Routes | None, Lifespan]:
    """Loads the app and listens. The result is its routes; None for an app whose routes are not known, which gets the
    requests that match no route of Weir."""
    add_project_paths(os.getcwd())
    call_own_deployment(message["inner"])
    app: App = load_export(message)
    if not callable(app):
        raise TypeError(f'The export "{message["export"]}" of {message["file"]} is no ASGI app.')
    routes = around_starlette(app, PassOn(message["core"])) if is_starlette(app) else None
    state: dict[str, Any] = {}
    lifespan = Lifespan(app, state)
    await lifespan.start()
    await serve_asgi(app, message["listen"], state)
    return routes, lifespan


def is_starlette(app: Any) -> bool:
    """True for an app of Starlette, and so for one of FastAPI."""
    module = sys.modules.get("starlette.applications")
    return module is not None and isinstance(app, module.Starlette)


def around_starlette(app: Any, target: App) -> Routes:
    """Makes the app forward requests that match none of its routes, after its middleware, as on LangGraph's server.
    FastAPI's own documentation pages are removed."""
    from starlette.routing import BaseRoute, Match

    own = app.router.routes
    own[:] = [
        route for route in own if getattr(getattr(route, "endpoint", None), "__module__", "") != "fastapi.applications"
    ]

    def is_known(scope: Any) -> bool:
        """True if the app has a route for the path, for any method."""
        return any(route.matches(scope)[0] is not Match.NONE for route in own[:-1])

    class Otherwise(BaseRoute):
        """The route of all other requests, except those that the app redirects to one of its paths."""

        def matches(self, scope: Any) -> Any:
            path = scope["path"]
            other = {**scope, "path": path[:-1] if path.endswith("/") else f"{path}/"}
            redirects = app.router.redirect_slashes and path != "/" and is_known(other) and not is_known(scope)
            return Match.NONE if scope["type"] != "http" or redirects else Match.FULL, {}

        async def handle(self, scope: Any, receive: Any, send: Any) -> None:
            await target(scope, receive, send)

    routes = [EVERYTHING] if app.user_middleware else [one for route in with_included(own) for one in told(route)]
    own.append(Otherwise())
    return routes


def with_included(routes: Iterable[Any]) -> Iterable[Any]:
    """The routes; each router that FastAPI includes is replaced by its own routes."""
    flat = getattr(sys.modules.get("fastapi.routing"), "iter_route_contexts", None)
    return routes if flat is None else flat(routes)


def told(route: Any) -> Routes:
    """A route in the server's form, which may match more paths than the app's route."""
    given = getattr(route, "path", None)
    path = re.sub(r"[^/]*\{(\w+)(:\w+)?\}[^/]*", parameter, ("/*" if given is None else given).rstrip("/"))
    if getattr(route, "endpoint", None) is None:
        return [{"method": "ALL", "path": f"{path.removesuffix('/*')}/*"}]
    return [{"method": method, "path": path or "/"} for method in sorted(getattr(route, "methods", None) or {"ALL"})]


def parameter(found: re.Match[str]) -> str:
    """The path with `:name` for `{name}`, and `*` for a parameter that spans segments or is only part of a segment."""
    name, kind = found[1], found[2]
    return f":{name}" if found[0] == f"{{{name}}}" and kind is None else "*"


async def open_and_report(channel: Channel, head: Head) -> Lifespan | None:
    """Opens the app and reports the result to the server."""
    lifespan: Lifespan | None = None
    try:
        routes, lifespan = await open_app(head)
        opened: Head = {"type": "opened", "routes": routes}
    except (Exception, SystemExit) as error:
        opened = {"type": "failed", "message": load_failure_text(head, error)}
    if head["report_files"]:
        channel.send({"type": "loaded", "files": sorted({head["file"], *loaded_files()})})
    channel.send(opened)
    return lifespan


async def listen(channel: Channel) -> None:
    """Serves the app that the first message names, until the server stops it or the channel closes."""
    lifespan: Lifespan | None = None
    async for head, _ in channel.frames():
        if head["type"] == "open":
            lifespan = await open_and_report(channel, head)
        elif head["type"] == "stop":
            if lifespan is not None:
                await lifespan.stop()
            leave(0)


def serve() -> None:
    """Serves until the channel closes."""
    run_with_channel(listen)
