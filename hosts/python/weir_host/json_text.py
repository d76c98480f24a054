"""Values of graphs as JSON, in the form of LangGraph's server: messages and models are flat objects."""

import base64
import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import PurePath
from re import Pattern
from typing import Any

import orjson

from .errors import text_of

OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
DEEPEST = 500
# To find numbers of so many digits that they may have more than 64 bits: a regular expression would take ten times as
# long as orjson.
SAME_DIGITS, MANY_DIGITS = bytes.maketrans(b"123456789", b"000000000"), b"0" * 19
# Converts a value that JSON does not have to one that it has.
Form = Callable[[Any], Any]


def json_text(value: Any, form: Form | None = None) -> bytes:
    """JSON text of any value. Values without a JSON form get that of `form`, by default `plain`. Raises TypeError for a cycle
    or too deep nesting."""
    use = form or plain
    try:
        return orjson.dumps(value, default=use, option=OPTIONS)
    except (TypeError, orjson.JSONEncodeError):
        # orjson refuses numbers beyond 64 bits, lone surrogates and keys that are no plain values.
        return json.dumps(_walk(value, 0, use), ensure_ascii=True, allow_nan=False).encode()


def read_json(text: bytes) -> Any:
    """The value of a JSON text. orjson refuses lone surrogates, which JavaScript sends as escapes, and reads numbers beyond
    64 bits as floats."""
    try:
        return json.loads(text) if MANY_DIGITS in text.translate(SAME_DIGITS) else orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


# Methods by which objects give their fields: of pydantic's models, of those of its version 1, and of named tuples.
METHODS = ("model_dump", "dict", "_asdict")
# Types whose values are printed as their text.
TEXTS = (PurePath, tzinfo, IPv4Address, IPv4Network, IPv6Address, IPv6Network)
# A larger exponent would make an integer of more digits than Python prints.
LARGEST_EXPONENT = 308


def plain(value: Any) -> Any:
    """The value in a form that JSON can represent: the text of Python for values without another form."""
    found = _form(value)
    return repr(value) if found is value else found


def strict(value: Any) -> Any:
    """The value as of `plain`. Raises TypeError for a value without a form that keeps its content."""
    found = _form(value)
    if found is value:
        raise TypeError(f"{type(value).__name__} has no form in JSON.")
    return found


def _form(value: Any) -> Any:
    """The form of a value in JSON; the value itself if it has none."""
    if isinstance(value, type):
        return value
    for method in METHODS:
        if callable(getattr(value, method, None)):
            return getattr(value, method)()
    if isinstance(value, (set, frozenset, tuple, deque)):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": text_of(value)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, Pattern):
        return value.pattern
    if isinstance(value, TEXTS):
        return str(value)
    if hasattr(value, "node") and hasattr(value, "arg"):
        return {"node": value.node, "args": value.arg}
    return value


def _number(value: Decimal) -> int | float | None:
    """JSON has no infinity and no NaN."""
    if not value.is_finite():
        return None
    is_whole = value.adjusted() <= LARGEST_EXPONENT and value == value.to_integral_value()
    return int(value) if is_whole else float(value)


def _walk(value: Any, depth: int, form: Form) -> Any:
    if depth > DEEPEST:
        raise TypeError("The value has a cycle, or is nested too deeply for JSON.")
    if isinstance(value, Enum):
        return _walk(value.value, depth + 1, form)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else None
    if isinstance(value, dict):
        return {_key(key): _walk(item, depth + 1, form) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
        return [_walk(item, depth + 1, form) for item in value]
    try:
        return orjson.loads(orjson.dumps(value, option=OPTIONS))
    except (TypeError, orjson.JSONEncodeError):
        is_data = is_dataclass(value) and not isinstance(value, type)
        return _walk(_fields(value) if is_data else form(value), depth + 1, form)


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that orjson prints too."""
    names = [field.name for field in fields(value) if not field.name.startswith("_")]
    return {name: getattr(value, name) for name in names if hasattr(value, name)}


def _key(key: Any) -> str:
    """The text of a key, as orjson prints it if it can."""
    if isinstance(key, Enum):
        return _key(key.value)
    if isinstance(key, str):
        return str.__str__(key)
    try:
        return str(next(iter(orjson.loads(orjson.dumps({key: 0}, option=OPTIONS)))))
    except (TypeError, orjson.JSONEncodeError):
        return str(key)
