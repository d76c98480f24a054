"""Calls factories of graphs, which select their arguments by the types of their parameters."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

from ..frames import Head
from ..http.users import user_of_config
from ..storage.store import BrokeredStore


@dataclass(frozen=True)
class FactoryCall:
    """Arguments that a factory can have: the config, the store, and the purpose of the call (`access_context` of
    `ServerRuntime`)."""

    config: Head
    access: str
    store: BrokeredStore
    context: Any = None


def call_factory(factory: Callable[..., Any], call: FactoryCall) -> Any:
    """The result of the factory, which may be awaitable or a context manager."""
    positional: list[Any] = []
    named: Head = {}
    for parameter in _parameters(factory):
        found = _argument(parameter, call)
        if found is NOTHING:
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(found)
        else:
            named[parameter.name] = found
    return factory(*positional, **named)


NOTHING = object()


def _parameters(factory: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        signature = inspect.signature(factory, eval_str=True)
    except Exception:
        # Its annotations contain names that exist for type checkers only.
        signature = inspect.signature(factory)
    return list(signature.parameters.values())


def _argument(parameter: inspect.Parameter, call: FactoryCall) -> Any:
    """The argument for a parameter. A parameter that is neither config nor runtime keeps its default, if it has one."""
    kind, annotation = parameter.kind, str(parameter.annotation)
    if kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return NOTHING
    if "Runtime" in annotation:
        return _runtime(parameter.annotation, call)
    is_config = "RunnableConfig" in annotation or parameter.name == "config" or parameter.default is parameter.empty
    return call.config if is_config else NOTHING


def _runtime(annotation: Any, call: FactoryCall) -> Any:
    """`ServerRuntime` of langgraph_sdk."""
    from langgraph_sdk import runtime

    common: Head = {"access_context": call.access, "user": user_of_config(call.config), "store": call.store}
    if call.access != "threads.create_run":
        return runtime._ReadRuntime(**common)
    wanted = next(iter(get_args(annotation)), None)
    context = call.context
    if isinstance(wanted, type) and wanted is not dict and isinstance(context, dict):
        context = wanted(**context)
    return runtime._ExecutionRuntime(**common, context=context)
