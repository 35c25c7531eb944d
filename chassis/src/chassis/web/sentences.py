"""What pydantic finds wrong with a value, said to the person who sent it: a sentence for each kind of error.

None of pydantic's own words gets through: they speak of inputs, validation and its types.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from pydantic_core.core_schema import ErrorType

from chassis.core.wording import A_MOMENT, counted, kind_of, no_uuid, shown

Entry = Mapping[str, Any]

_SECRETS = ("password", "secret", "token")
_NOT_ACCEPTED = "This value is not accepted."
_THEIR_KINDS = frozenset(get_args(ErrorType)) - {"value_error"}
"""Kinds of errors whose messages are pydantic's; what another kind says comes from a validator of ours."""

_TEXT = "This must be a text, not {value}."
_WHOLE_NUMBER = "This must be a whole number, not {value}."
_NUMBER = "This must be a number, not {value}."
_TRUE_OR_FALSE = "This must be true or false, not {value}."
_LIST = "This must be a list, not {value}."
_OBJECT = "This must be an object, not {value}."
_MOMENT = f"{{value}} is no moment. Give {A_MOMENT}."
_DAY = "{value} is no day such as 2026-01-31."
_DURATION = "{value} is no duration such as PT1H30M."
_URL = "{value} is no address such as https://example.com/page."
_SENTENCES = {
    "missing": "This is missing; it is required.",
    "string_type": _TEXT,
    "string_unicode": "This text is not UTF-8.",
    "string_pattern_mismatch": "{value} does not have the form that is asked for.",
    "bytes_type": _TEXT,
    "int_type": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "int_parsing_size": "This number has too many digits.",
    "int_from_float": _WHOLE_NUMBER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "greater_than": "This must be more than {gt}, not {value}.",
    "greater_than_equal": "This must be at least {ge}, not {value}.",
    "less_than": "This must be less than {lt}, not {value}.",
    "less_than_equal": "This must be at most {le}, not {value}.",
    "multiple_of": "This must be a multiple of {multiple_of}, not {value}.",
    "bool_type": _TRUE_OR_FALSE,
    "bool_parsing": _TRUE_OR_FALSE,
    "none_required": "This must be null, not {value}.",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "iterable_type": _LIST,
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "invalid_key": "Names in an object are texts.",
    "datetime_type": _MOMENT,
    "datetime_parsing": _MOMENT,
    "datetime_from_date_parsing": _MOMENT,
    "datetime_object_invalid": _MOMENT,
    "timezone_aware": _MOMENT,
    "date_type": _DAY,
    "date_parsing": _DAY,
    "date_from_datetime_parsing": _DAY,
    "date_from_datetime_inexact": _DAY,
    "time_delta_type": _DURATION,
    "time_delta_parsing": _DURATION,
    "url_type": _URL,
    "url_parsing": _URL,
    "url_syntax_violation": _URL,
    "url_scheme": _URL,
    "url_too_long": "This address has more than {max_length} characters.",
}


def sentence(entry: Entry) -> str:
    """Return the sentence for one of pydantic's errors, as `ValidationError.errors()` gives it.

    Messages of our own validators come through as they are. Of a secret nothing is shown.
    """
    kind, where = entry["type"], entry["loc"]
    if kind not in _THEIR_KINDS:
        error = entry.get("ctx", {}).get("error")
        return str(error) if error is not None else str(entry["msg"])
    if where == ("body",):
        if kind == "missing":
            return "The body is missing; send a JSON object."
        return f"The body must be a JSON object, not {kind_of(entry['input'])}."
    if kind in _SIZES:
        return _size(entry, _SIZES[kind])
    if kind in {"enum", "literal_error"}:
        return _no_such_value(entry)
    if kind.startswith("uuid"):
        sentence = no_uuid(entry["input"])
    else:
        sentence = _SENTENCES.get(kind, _NOT_ACCEPTED).format_map({**entry.get("ctx", {}), "value": _value(entry)})
    return f"A{sentence[1:]}" if sentence.startswith(("a ", "an ")) else sentence


def sentence_at(entry: Entry, steps: Iterable[str | int]) -> str:
    """Return the sentence for an error in something that is not a request: at `steps` within it."""
    return sentence({**entry, "loc": ("body", *steps)})


_SIZES = {
    "too_short": ("at least", "min_length"),
    "too_long": ("at most", "max_length"),
    "string_too_short": ("at least", "min_length"),
    "string_too_long": ("at most", "max_length"),
    "bytes_too_short": ("at least", "min_length"),
    "bytes_too_long": ("at most", "max_length"),
}


_BOUNDS = frozenset({"greater_than", "greater_than_equal", "less_than", "less_than_equal"})


def _size(entry: Entry, bound: tuple[str, str]) -> str:
    side, name = bound
    sent, limit = entry["input"], entry["ctx"][name]
    if isinstance(sent, str):
        if limit == 1 and name == "min_length":
            return "This text must not be blank."
        return f"This must have {side} {counted(limit, 'character')}; it has {len(sent):,}."
    if isinstance(sent, list | dict):
        return f"This must have {side} {counted(limit, 'member')}; it has {len(sent):,}."
    return f"This must have {side} {counted(limit, 'member')}."


_MEMBER = re.compile(r"<\w+\.\w+: '?([^'>]*)'?>")
"""How pydantic names a member of an enumeration that a literal consists of."""


def _no_such_value(entry: Entry) -> str:
    allowed = _MEMBER.sub(r"\1", entry["ctx"]["expected"]).replace("'", "")
    if isinstance(entry["input"], str) and not _is_secret(entry):
        if isinstance(entry["loc"][-1], int):
            return f"There is no {shown(entry['input'])} among the {_name(entry)}; each can be {allowed}."
        return f"There is no {_name(entry)} {shown(entry['input'])}; it can be {allowed}."
    return f"This must be {allowed}, not {_value(entry)}."


def _name(entry: Entry) -> str:
    """Return the name of the field; of a member of a list that of the list."""
    return next((step for step in reversed(entry["loc"][1:]) if isinstance(step, str)), "value")


def _is_secret(entry: Entry) -> bool:
    steps = [str(step).lower() for step in entry["loc"][1:]]
    return any(word in step and not step.endswith("_id") for step in steps for word in _SECRETS)


def _value(entry: Entry) -> str:
    if _is_secret(entry):
        return kind_of(entry["input"])
    # A number of a query comes as a text.
    return shown(entry["input"]).strip("'") if entry["type"] in _BOUNDS else shown(entry["input"])
