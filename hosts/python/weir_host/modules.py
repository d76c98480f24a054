"""Imports modules of the project, by file or by name, and finds the line where an import fails."""

import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from importlib.metadata import packages_distributions, version
from typing import Any

from .errors import text_of
from .frames import Head

MAX_REASON_CHARS = 2_000
HOST_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def add_project_paths(folder: str) -> None:
    """Makes modules importable from the project's folder and its `src`, as `langgraph dev` does."""
    for path in (os.path.join(folder, "src"), folder):
        if os.path.isdir(path) and path not in sys.path:
            sys.path.insert(0, path)


def load_export(entry: Head) -> Any:
    """The object that an entry of langgraph.json names: `export` of `module`, or of `file`."""
    module = import_file(entry["file"]) if entry.get("module") is None else importlib.import_module(entry["module"])
    name = entry["export"]
    if not hasattr(module, name):
        there = [key for key, value in vars(module).items() if not key.startswith("_") and is_own(value, module)]
        raise LookupError(f'It has no variable "{name}". It has {", ".join(there) or "none"}.')
    return getattr(module, name)


def is_own(value: Any, module: Any) -> bool:
    """True for a function of the module itself, and for an object such as a graph."""
    if inspect.isfunction(value):
        return value.__module__ == module.__name__
    is_imported = inspect.ismodule(value) or inspect.isclass(value) or inspect.isbuiltin(value)
    return not is_imported and hasattr(value, "__dict__") and type(value).__module__ not in ("typing", "__future__")


def import_file(path: str) -> Any:
    """Imports a file, as part of its package if it has one, so that relative imports work."""
    folder, name = os.path.split(os.path.splitext(path)[0])
    parts = [name]
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    if len(parts) > 1:
        if folder not in sys.path:
            sys.path.insert(0, folder)
        return importlib.import_module(".".join(parts))
    full = "graph_of_" + path.strip("/").replace("/", "_").replace(".", "_")
    if full in sys.modules:
        return sys.modules[full]
    spec = importlib.util.spec_from_file_location(full, path)
    if spec is None or spec.loader is None:
        raise ImportError("It is no Python file.")
    if folder not in sys.path:
        sys.path.append(folder)
    module = sys.modules[full] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[full]
        raise
    return module


def is_own_file(path: str) -> bool:
    """True for a file of the project: outside of packages, of Python and of this host."""
    inside = ("site-packages", "dist-packages")
    if not os.path.isabs(path) or path.startswith((HOST_FOLDER, sys.base_prefix)) or not path.endswith(".py"):
        return False
    return not any(f"{os.sep}{name}{os.sep}" in path for name in inside)


def loaded_files() -> list[str]:
    """The project's files that have been imported."""
    paths = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    return sorted({path for path in paths if isinstance(path, str) and is_own_file(path)})


def place_of(error: BaseException) -> tuple[str, int] | None:
    """File and line of the last frame in the project's own code, or of a syntax error."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return error.filename, error.lineno
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own_file(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno or 1) if frames else None


def load_failure(entry: Head, error: BaseException) -> tuple[str, int | None, str]:
    """File, line and reason of the failure to load what an entry names."""
    place = place_of(error)
    file, line = place if place is not None else (entry["file"], None)
    if place is None and entry.get("module") is None and not os.path.exists(entry["file"]):
        reason = "There is no such file."
    elif isinstance(error, SystemExit):
        reason = "The module called sys.exit() while loading."
    elif isinstance(error, LookupError) or place is None:
        reason = text_of(error) or type(error).__name__
    else:
        reason = f"{type(error).__name__}: {text_of(error)}".splitlines()[0]
    if isinstance(error, ModuleNotFoundError):
        reason += f" ({missing_module(error.name or '')})"
    return file, line, reason[:MAX_REASON_CHARS]


def missing_module(name: str) -> str:
    """What to do about a module that was not found: its package may be there, in a version that lacks the module."""
    top = name.partition(".")[0]
    owners = packages_distributions().get(top, [])
    if top == name or not owners:
        return f"for {sys.executable}: install it in the project's environment"
    return f"{owners[0]} {version(owners[0])} of {sys.executable} has no such module: the project needs another version"


def load_failure_text(entry: Head, error: BaseException) -> str:
    """File, line and reason in one line."""
    file, line, reason = load_failure(entry, error)
    return f"{file if line is None else f'{file}:{line}'}: {reason}"
