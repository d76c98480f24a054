"""Starts a process of a Python project: `python main.py ROLE [--umask=022] [--channel=PATH]`. The channel to the server is at
descriptor 3, where the socket at PATH is put if there is one.
ROLE is `graphs`, `user-auth` or `http-app`."""

import os
import sys

# The host needs only packages that a project with LangGraph has, and reports a missing one before it imports any.
OLDEST_PYTHON = (3, 11)
MODULES = {"graphs": "host", "user-auth": "http.user_auth", "http-app": "http.http_app"}


def missing() -> "str | None":
    """A sentence that names what the project's interpreter lacks; None if it lacks nothing."""
    python = sys.executable
    if sys.version_info < OLDEST_PYTHON:
        version = ".".join(map(str, sys.version_info[:3]))
        return f"{python} is Python {version}, and graphs need Python 3.11 or newer. Make a virtual environment (.venv) with a newer one."
    from importlib.metadata import PackageNotFoundError, version as version_of

    try:
        langgraph = version_of("langgraph")
    except PackageNotFoundError:
        return f"LangGraph is not installed for {python}: run `{python} -m pip install -e .` or `uv sync` in the project, or run: {install_command()}"
    if langgraph.split(".")[0] != "1":
        return f"LangGraph {langgraph} is installed for {python}, and graphs need version 1: {install_command()}"
    return None


def install_command() -> str:
    """The command that installs LangGraph for this interpreter. Environments of uv have no pip."""
    from importlib.util import find_spec

    pip = f"{sys.executable} -m pip install" if find_spec("pip") else f"uv pip install --python {sys.executable}"
    return f'{pip} "langgraph>=1,<2"'


def refuse(message: str) -> None:
    """Sends the server the reason why this process cannot start."""
    import json
    import struct

    head = json.dumps({"type": "failed", "message": message, "failures": []}).encode()
    os.write(3, struct.pack("<II", 4 + len(head), len(head)) + head)


def connect(path: str) -> None:
    """Connects to the socket of the server, and puts the connection at descriptor 3."""
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        os.dup2(server.fileno(), 3, inheritable=False)


def main() -> None:
    for argument in sys.argv[1:]:
        if argument.startswith("--umask="):
            os.umask(int(argument.removeprefix("--umask="), 8))
        if argument.startswith("--channel="):
            connect(argument.removeprefix("--channel="))
    role = sys.argv[1]
    sys.argv[1:] = []
    reason = missing()
    if reason is not None:
        refuse(reason)
        sys.exit(1)
    from importlib import import_module

    import_module(f"weir_host.{MODULES[role]}").serve()


if __name__ == "__main__":
    main()
