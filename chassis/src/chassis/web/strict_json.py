"""JSON as the API accepts it: RFC 8259, text that PostgreSQL can hold, numbers of 64 bits, and of a size to check."""

import json
import json.decoder
import json.scanner
import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from chassis.core.problems import Invalid, MalformedBody, reference_token
from chassis.core.wording import shown
from chassis.web.costly import Deadline, in_thread

MAX_DEPTH = 32
MAX_MEMBERS = 10_000
"""Of one object or array: each may be wrong, and an error takes a hundred times the memory of a member."""
MAX_FIELDS = 1_000
"""Of a body that is an object: none has so many fields, and each that is unknown would be an error."""
MAX_VALUES = 100_000
"""Of a body, those in objects and arrays in it counted: each is looked at."""
_LARGE = 32 * 1024
"""Bytes that take a few hundred microseconds, and more when they are many values."""
_MANY = 2_000
"""Values that take a millisecond."""
_SECONDS = 30
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_MARKS = bytes({*range(256)} - {*b",[{"})
"""All but what stands before values: at most so many as there are such are in a text."""
DUPLICATE_KEY = "duplicate_key"
_MISTAKES = {
    "Expecting value": "a value is missing",
    "Expecting ',' delimiter": "a comma or the closing bracket is missing",
    "Expecting ':' delimiter": "the colon after a name is missing",
    "Expecting property name enclosed in double quotes": "a name in double quotes is missing",
    "Illegal trailing comma before end of object": "there is a comma after the last member",
    "Illegal trailing comma before end of array": "there is a comma after the last member",
    "Unterminated string starting at": "the closing quote is missing of the text that begins",
    "Invalid control character at": "a text has a line break or another control character (write \\n)",
    "Invalid \\escape": "a backslash is followed by what it cannot be (write two)",
    "Invalid \\uXXXX escape": "four hexadecimal digits are missing after \\u",
    "Unexpected UTF-8 BOM (decode using utf-8-sig)": "a byte order mark stands before it",
    "Extra data": "it goes on after its end",
}
"""What the parser finds, in the words of a person who has written it."""
_Scan = Callable[[str, int], tuple[Any, int]]
_INT64 = range(-(2**63), 2**63)


async def parse_beside(body: bytes) -> Any:
    """Return what `parse` does; of a large body from a thread, so that nobody else waits for it."""
    if len(body) <= _LARGE:
        return parse(body)
    return await in_thread(_SECONDS, lambda deadline: parse(body, deadline=deadline))


def parse(body: bytes, part: str | None = None, deadline: Deadline | None = None) -> Any:
    """Return the value of a JSON body, or of the `part` of a form that is named.

    Raises MalformedBody for what is no JSON, and Invalid, naming the place, for what is JSON (or is often
    taken for it) and cannot be stored: NUL, lone surrogates, NaN, Infinity, numbers out of range, too deep, too many,
    or a name that an object has twice, of which one would go unsaid. With a `deadline` others are let in meanwhile.
    """
    what, pointer = ("body", "") if part is None else (f"part `{part}` of the form", f"/{part}")
    marks = body.translate(None, _NO_MARKS)
    if marks.count(b",") >= MAX_VALUES and _has_too_many(body):
        raise Invalid.field(pointer, f"No more than {MAX_VALUES} values are accepted in a {what}.", "too_many")
    doubled = _Doubled()
    try:
        text = body.decode("utf-8")
        if deadline is None or len(marks) < _MANY:
            value = json.loads(text, object_pairs_hook=doubled.take)
        else:
            value = _PatientDecoder(deadline, doubled.take).decode(text)
    except RecursionError:
        raise _too_deep(pointer, what) from None
    except UnicodeDecodeError as error:
        raise MalformedBody(f"The {what} is not UTF-8 text: byte {error.start} cannot be read.") from None
    except json.JSONDecodeError as error:
        mistake = _MISTAKES.get(error.msg, "something is out of place")
        raise MalformedBody(
            f"The {what} is not valid JSON: {mistake} at line {error.lineno}, column {error.colno}."
        ) from None
    except ValueError:  # an integer of more digits than Python converts
        raise Invalid.field(
            pointer, f"A number in the {what} is out of range; send it as text.", "number_out_of_range"
        ) from None
    if isinstance(value, dict) and len(value) > MAX_FIELDS:
        raise Invalid.field(pointer, f"No more than {MAX_FIELDS} members are accepted.", "too_many")
    check(value, pointer)
    if doubled.found is not None:
        of, name = doubled.found
        raise Invalid.field(
            f"{pointer}{_place(value, of)}/{reference_token(name)}",
            f"The object has {shown(name)} more than once; leave one of them.",
            DUPLICATE_KEY,
        )
    return value


def find_duplicate(text: str | bytes) -> str | None:
    """Return a name that an object has twice in a text that is JSON, None where each has its own."""
    doubled = _Doubled()
    try:
        json.loads(text, object_pairs_hook=doubled.take)
    except RecursionError:  # what is that deep is refused for it
        return None
    return None if doubled.found is None else doubled.found[1]


class _PatientDecoder(json.JSONDecoder):
    """Reads what `json.loads` does, value by value: that lets nobody in until it has read all of them."""

    def __init__(self, deadline: Deadline, take: Callable[[list[tuple[str, Any]]], Any]) -> None:
        super().__init__(object_pairs_hook=take)

        def patient(scan: _Scan) -> _Scan:
            def scan_on(text: str, place: int) -> tuple[Any, int]:
                deadline.is_over()
                return scan(text, place)

            return scan_on

        # What the standard library has in Python beside C, and typeshed leaves out.
        parts = vars(json.decoder) | vars(json.scanner)
        self.parse_array = lambda begun, scan: parts["JSONArray"](begun, patient(scan))
        self.parse_object = lambda begun, strict, scan, *hooks: parts["JSONObject"](
            begun, strict, patient(scan), *hooks
        )
        self.scan_once = parts["py_make_scanner"](self)


class _Doubled:
    """Makes the objects of a JSON text, and keeps the last that has a name twice, and the name.

    Those around an object come after it: so none of them has dropped the last one for another of the same name.
    """

    def __init__(self) -> None:
        self.found: tuple[dict[str, Any], str] | None = None

    def take(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            self.found = members, Counter(name for name, _ in pairs).most_common(1)[0][0]
        return members


def _place(value: Any, wanted: dict[str, Any]) -> str | None:
    """Return the pointer to an object in a value, None where it is not in it."""
    if value is wanted:
        return ""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        if isinstance(member, dict | list) and (place := _place(member, wanted)) is not None:
            return f"/{reference_token(step)}{place}"
    return None


def _has_too_many(body: bytes) -> bool:
    """Check whether what is JSON has more values than are accepted, by the commas outside of its texts."""
    in_texts = sum(text.group().count(b",") for text in _TEXT.finditer(body))
    return body.count(b",") - in_texts >= MAX_VALUES


def check(value: Any, pointer: str = "", most: int = MAX_MEMBERS) -> None:
    """Raise Invalid, naming the place, for a value at `pointer` that cannot be stored; see `parse`.

    `most`: members that one object or array may have.
    """
    if not _is_fine(value, 0, most):
        _check(value, pointer, 0, most)


def is_storable(text: str) -> bool:
    """Check whether PostgreSQL can hold the text and UTF-8 can carry it."""
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_fine(value: Any, depth: int, most: int) -> bool:
    """Check what `_check` does; in most values nothing is wrong, and no place has to be named."""
    if isinstance(value, str):
        return is_storable(value)
    if isinstance(value, dict):
        if depth >= MAX_DEPTH or len(value) > most:
            return False
        for key, member in value.items():
            # Texts are most of them: a call less for each.
            if not (
                is_storable(key) and (is_storable(member) if type(member) is str else _is_fine(member, depth + 1, most))
            ):
                return False
        return True
    if isinstance(value, list):
        return depth < MAX_DEPTH and len(value) <= most and all(_is_fine(member, depth + 1, most) for member in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or value in _INT64


def _check(value: Any, pointer: str, depth: int, most: int) -> None:
    if isinstance(value, str):
        _check_text(value, pointer)
    elif isinstance(value, dict):
        _check_size(value, pointer, depth, most)
        for key, member in value.items():
            here = f"{pointer}/{reference_token(key)}"
            _check_text(key, here)
            _check(member, here, depth + 1, most)
    elif isinstance(value, list):
        _check_size(value, pointer, depth, most)
        for index, member in enumerate(value):
            _check(member, f"{pointer}/{index}", depth + 1, most)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise Invalid.field(
                pointer, "NaN, Infinity and numbers beyond 1.8e308 are not accepted.", "number_out_of_range"
            )
    elif isinstance(value, int) and value not in _INT64:
        raise Invalid.field(
            pointer, "Integers beyond 64 bits are not accepted; send them as text.", "number_out_of_range"
        )


def _check_size(value: dict[str, Any] | list[Any], pointer: str, depth: int, most: int) -> None:
    if depth >= MAX_DEPTH:
        raise _too_deep(pointer, "value")
    if len(value) > most:
        raise Invalid.field(pointer, f"No more than {most} members are accepted.", "too_many")


def _check_text(text: str, pointer: str) -> None:
    if not is_storable(text):
        raise Invalid.field(
            pointer, "The text holds NUL (U+0000) or half of a surrogate pair; remove it.", "invalid_text"
        )


def _too_deep(pointer: str, what: str) -> Invalid:
    return Invalid.field(pointer, f"The {what} is nested deeper than {MAX_DEPTH} levels.", "too_deep")
