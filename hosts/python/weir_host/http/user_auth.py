"""Runs a deployment's auth file: an `Auth` of langgraph_sdk (langgraph.json, `auth`)."""

import asyncio
import inspect
import os
import traceback
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, is_dataclass
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from ..channel import Channel, run_with_channel
from ..errors import Refused, text_of
from ..frames import Head
from ..json_text import json_text, read_json
from ..memory import limit_memory
from ..modules import add_project_paths, load_export, load_failure_text
from .users import User

Handler = Callable[..., Awaitable[Any]]

# Bytes of memory above which allocations fail. The server restarts a process that ends because of this.
MAX_BYTES = 2 << 30
# A user is stored with every run and read by the server.
MAX_USER_BYTES = 65_536
# When a run is created, a handler can change only its metadata, because the input may be large.
CHANGEABLE = {"threads:create_run": ("metadata",)}
# The field that is sent as a part of the frame, because the server does not parse the value of an item.
IN_PART = "value"
# Names of parameters that `authenticate` can have.
PARAMETERS = (
    "request",
    "path",
    "method",
    "path_params",
    "query_params",
    "headers",
    "authorization",
    "body",
    "scopes",
    "user",
)
# Codes of docs/api/errors.md for the status of an `HTTPException`; other errors are faults of the handler.
CODES = {
    400: "invalid_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    422: "invalid_request",
    429: "rate_limited",
    503: "auth_unavailable",
}


class Handlers:
    """The handlers of an auth file."""

    def __init__(self, auth: Any) -> None:
        self.authenticate: Callable[..., Any] | None = auth._authenticate_handler
        self.of_event: dict[str, Handler] = {}
        for (resource, action), handlers in auth._handlers.items():
            self.of_event[resource if action == "*" else f"{resource}:{action}"] = handlers[-1]
        for handler in auth._global_handlers:
            self.of_event["*"] = handler
        if self.authenticate is not None:
            self.wanted = parameters_of(self.authenticate)

    async def user_of(self, request: Head) -> Head | None:
        """The user that `authenticate` returns; None if it rejects the request."""
        if self.authenticate is None:
            return None
        given = arguments_of(request, self.wanted)
        if inspect.iscoroutinefunction(self.authenticate):
            return to_user(await self.authenticate(**given))
        result = await asyncio.to_thread(self.authenticate, **given)
        return to_user(await result if inspect.isawaitable(result) else result)

    async def ask(self, user: Head, event: str, value: Head) -> tuple[Head | None, dict[str, bytes]]:
        """The handler's filter, and the fields of `value` that it has changed, as JSON. Raises the handler's errors."""
        handler = next((self.of_event[name] for name in names_of(event) if name in self.of_event), None)
        if handler is None:
            return None, {}
        if isinstance(value.get("namespace"), list):
            value["namespace"] = tuple(value["namespace"])
        before = field_texts(event, value)
        result = await handler(ctx=context_of(user, event), value=value)
        if result is False:
            raise Refused("forbidden", "The auth file refuses the call.")
        is_filter = isinstance(result, Mapping)
        if not is_filter and result is not None and result is not True:
            raise TypeError(f"The handler of {event} must return a filter, a boolean or None.")
        changed = {field: text for field, text in field_texts(event, value).items() if text != before.get(field)}
        return dict(result) if is_filter else None, changed


def names_of(event: str) -> tuple[str, ...]:
    """The names under which a handler of the event may be registered, the most specific one first."""
    resource, action = event.split(":")
    return event, resource, f"*:{action}", "*"


def parameters_of(authenticate: Callable[..., Any]) -> list[str]:
    """The names of the parameters of `authenticate`. Raises TypeError for an unknown name."""
    wanted = []
    for one in inspect.signature(authenticate).parameters.values():
        if one.name in PARAMETERS:
            wanted.append(one.name)
        elif one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            raise TypeError(f'authenticate() has the parameter "{one.name}"; it may have {", ".join(PARAMETERS)}.')
    if "request" in wanted:
        try:
            import starlette.requests  # noqa: F401
        except ImportError:
            raise TypeError(
                "authenticate() has the parameter `request`, which needs starlette in the project's packages."
            ) from None
    return wanted


class Headers(dict[bytes, bytes]):
    """Headers as in an ASGI scope (bytes), which can also be read as text, by names that are text."""

    def __getitem__(self, name: Any) -> Any:
        return (
            super().__getitem__(name.lower().encode()).decode("latin-1")
            if isinstance(name, str)
            else super().__getitem__(name)
        )

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name.lower().encode() if isinstance(name, str) else name)

    def get(self, name: Any, default: Any = None) -> Any:
        """The value of a header, or the default."""
        return self[name] if name in self else default  # noqa: SIM401 -- this is the method that it names


def arguments_of(request: Head, wanted: list[str]) -> Head:
    """The arguments of `authenticate` for a request of the server."""
    address = urlsplit(request["url"])
    listed = [
        (name.lower().encode("latin-1"), value.encode("latin-1", "replace")) for name, value in request["headers"]
    ]
    headers = Headers(listed)
    path = unquote(address.path)
    given: Head = {
        "path": path,
        "method": request["method"],
        "path_params": path_params_of(path),
        "query_params": dict(parse_qsl(address.query, keep_blank_values=True)),
        "headers": headers,
        "authorization": headers.get("authorization"),
        "body": None,
        "scopes": [],
        "user": None,
    }
    if "request" in wanted:
        given["request"] = starlette_request(request["method"], address.query, path, given["path_params"], listed)
    return {name: given[name] for name in wanted}


def starlette_request(method: str, query: str, path: str, path_params: Head, headers: list[tuple[bytes, bytes]]) -> Any:
    """A request without its body."""
    from starlette.requests import Request

    scope = {"type": "http", "method": method, "path": path, "path_params": path_params, "headers": headers}
    return Request(
        {**scope, "scheme": "http", "query_string": query.encode(), "root_path": "", "server": None, "client": None}
    )


def path_params_of(path: str) -> Head:
    """The ids in a path of the API, such as `thread_id`."""
    parts = path.split("/")
    names = {"threads": "thread_id", "runs": "run_id", "assistants": "assistant_id", "crons": "cron_id"}
    return {names[part]: after for part, after in pairwise(parts) if part in names and "-" in after}


def to_user(result: Any) -> Head | None:
    """The result of `authenticate` in the form that the server stores."""
    if isinstance(result, tuple) and len(result) == 2:
        user = to_user(result[1])
        return user and {**user, "permissions": [str(one) for one in result[0] or ()]}
    if result is None or result is False or result == "":
        return None
    fields = {"identity": result} if isinstance(result, str) else fields_of(result)
    identity, name = fields.get("identity"), fields.get("display_name")
    if not isinstance(identity, str):
        raise TypeError('authenticate() must return a text, or an object with the text "identity".')
    if fields.get("is_authenticated") is False:
        return None
    permissions = fields.get("permissions")
    user = {
        **fields,
        "display_name": name if isinstance(name, str) else identity,
        "is_authenticated": True,
        "permissions": [str(one) for one in permissions] if isinstance(permissions, (list, tuple, set)) else [],
    }
    text = json_text(user)
    if len(text) > MAX_USER_BYTES:
        raise ValueError(f"authenticate() must return less than {MAX_USER_BYTES} bytes of JSON, not {len(text)}.")
    return read_json(text)


def fields_of(result: Any) -> Head:
    """The fields of a dict, a dataclass, a model or another object."""
    if isinstance(result, Mapping):
        return dict(result)
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    dump: Callable[[], Head] | None = getattr(result, "model_dump", None)
    if callable(dump):
        return dump()
    names = ("identity", "display_name", "is_authenticated", "permissions")
    own = {name: value for name, value in getattr(result, "__dict__", {}).items() if not name.startswith("_")}
    return {**own, **{name: getattr(result, name) for name in names if hasattr(result, name)}}


def context_of(user: Head, event: str) -> Any:
    """The context of a handler. Users of Studio are a `StudioUser`."""
    from langgraph_sdk import Auth

    resource, action = event.split(":")
    is_studio = user.get("kind") == "StudioUser"
    made = Auth.types.StudioUser(user["identity"], is_authenticated=True) if is_studio else User(user)
    return Auth.types.AuthContext(user=made, permissions=user["permissions"], resource=resource, action=action)  # type: ignore[arg-type]


def field_texts(event: str, value: Head) -> dict[str, bytes]:
    """The fields of a value that a handler may change."""
    return {field: json_text(value.get(field)) for field in CHANGEABLE.get(event, value)}


def refusal_of(error: BaseException) -> Head:
    """Code and message of a handler's error. An error that is not a refusal is logged."""
    if isinstance(error, Refused):
        return {"code": error.code, "message": str(error)}
    if isinstance(error, AssertionError):
        return {"code": "forbidden", "message": text_of(error) or "The auth file refuses the call."}
    given = getattr(error, "status_code", None)
    status = given if isinstance(given, int) else 500
    code = CODES.get(status, "forbidden" if status < 500 else "auth_failed")
    if code != "auth_failed":
        return {"code": code, "message": str(getattr(error, "detail", error))}
    traceback.print_exception(error)
    return {"code": code, "message": "The auth file of the deployment failed."}


async def answer(channel: Channel, handlers: Handlers, asked: Head) -> None:
    """Answers a request of the server."""
    id = asked["id"]
    try:
        if asked["type"] == "unreadable":
            raise Refused("invalid_request", "The request is nested too deeply for the auth file.")
        if asked["type"] == "authenticate":
            channel.send({"type": "user", "id": id, "user": await handlers.user_of(asked["request"])})
            return
        found, changed = await handlers.ask(asked["user"], asked["event"], asked["value"])
        part = changed.pop(IN_PART, None)
        value = {field: read_json(text) for field, text in changed.items()}
        head = {"type": "answer", "id": id, "filter": found, "value": value}
        channel.send(head if part is None else {**head, "in_part": IN_PART}, [] if part is None else [part])
    except Exception as error:
        channel.send({"type": "refused", "id": id, **refusal_of(error)})


def load_handlers(message: Head) -> Handlers:
    """The handlers of the auth file. Raises the errors of the file, and TypeError if the export is not an `Auth`."""
    from langgraph_sdk import Auth

    add_project_paths(os.getcwd())
    auth = load_export(message)
    if not isinstance(auth, Auth):
        raise TypeError(f'The export "{message["export"]}" of {message["file"]} is no Auth of langgraph_sdk.')
    return Handlers(auth)


async def listen(channel: Channel) -> None:
    """Loads the file that the first message names, and answers until the channel closes."""
    handlers: Handlers | None = None
    tasks: set[asyncio.Task[None]] = set()
    async for head, _ in channel.frames():
        if head["type"] == "open":
            try:
                handlers = load_handlers(head)
                channel.send({"type": "opened", "handlers": list(handlers.of_event)})
            except (Exception, SystemExit) as error:
                channel.send({"type": "failed", "message": load_failure_text(head, error)})
        elif handlers is not None:
            task = asyncio.get_running_loop().create_task(answer(channel, handlers, head))
            tasks.add(task)
            task.add_done_callback(tasks.discard)


def serve() -> None:
    """Serves until the channel closes."""
    limit_memory(MAX_BYTES)
    run_with_channel(listen)
