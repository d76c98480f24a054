"""JSON Schemas of a graph."""

from functools import partial
from typing import Any

from ..frames import Head

# A schema that cannot be made, because a type of the graph has none, accepts everything.
UNKNOWN: Head = {}


def schemas_of(graph: Any) -> Head:
    """The schemas in the response of `GET /assistants/{a}/schemas`."""
    return {
        "input_schema": _made(graph.get_input_jsonschema),
        "output_schema": _made(graph.get_output_jsonschema),
        "state_schema": _made(lambda: _state_schema(graph)),
        "config_schema": _made(lambda: _config_schema(graph)),
        "context_schema": _made(graph.get_context_jsonschema),
    }


def _made(make: Any) -> Head:
    try:
        return make() or UNKNOWN
    except Exception:
        return UNKNOWN


def _state_schema(graph: Any) -> Head:
    """The schema of all channels, which LangGraph makes for the names of its stream. A channel whose type has no schema
    accepts everything."""
    from langgraph._internal._pydantic import create_model

    def schema(types: dict[str, Any]) -> Head:
        fields = {name: (type_, None) for name, type_ in types.items()}
        return create_model(graph.get_name("State"), field_definitions=fields).model_json_schema()

    types = {name: channel.UpdateType for name, channel in graph.channels.items() if name in graph.stream_channels_list}
    try:
        return schema(types)
    except Exception:
        return schema({name: type_ if _made(partial(schema, {name: type_})) else Any for name, type_ in types.items()})


def _config_schema(graph: Any) -> Head:
    """The part of a config that the graph reads: `configurable`."""
    whole = graph.config_schema().model_json_schema()
    configurable = whole.get("properties", {}).get("configurable", {})
    reference = configurable.get("$ref", "").removeprefix("#/$defs/")
    return whole.get("$defs", {}).get(reference, configurable)
