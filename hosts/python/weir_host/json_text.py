"""Values of graphs as JSON, in the form of LangGraph's server: messages and models are flat objects."""

import base64
import json
from collections import deque
from collections.abc import Callable
from datetime import timedelta, tzinfo
from decimal import Decimal
from pathlib import PurePath
from re import Pattern
from typing import Any

import orjson

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


def plain(value: Any) -> Any:
    """The value in a form that JSON can represent."""
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return value.model_dump()
    if callable(getattr(value, "_asdict", None)):
        return value._asdict()
    if isinstance(value, (set, frozenset, tuple, deque)):
        return list(value)
    if isinstance(value, BaseException):
        return {"error": type(value).__name__, "message": str(value)}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(bytes(value)).decode()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Pattern):
        return value.pattern
    if isinstance(value, (PurePath, tzinfo)):
        return str(value)
    if hasattr(value, "node") and hasattr(value, "arg"):
        return {"node": value.node, "args": value.arg}
    return repr(value)


def _walk(value: Any, depth: int, form: Form) -> Any:
    if depth > DEEPEST:
        raise TypeError("The value has a cycle, or is nested too deeply for JSON.")
    if value is None or isinstance(value, (bool, int, str)) and type(value) in (bool, int, str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {_key(key): _walk(item, depth + 1, form) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
        return [_walk(item, depth + 1, form) for item in value]
    try:
        return orjson.loads(orjson.dumps(value, option=OPTIONS))
    except (TypeError, orjson.JSONEncodeError):
        made = vars(value) if hasattr(value, "__dataclass_fields__") else form(value)
        return _walk(made, depth + 1, form)


def _key(key: Any) -> str:
    if key is None or isinstance(key, bool):
        return json.dumps(key)
    return str(key)
