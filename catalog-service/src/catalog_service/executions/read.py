"""Reads a result file as rows of COPY: in a thread, or, what is large, in a process of its own.

`python -m catalog_service.executions.read ORDER`: standard input is the file, seekable; standard output gets the rows;
the last line of standard error says what was read, or why it was not. A file that kills its reader ends this process
alone.
"""

import codecs
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from catalog_service.exchange.process_limits import limit_process
from catalog_service.exchange.records import Notice, Unreadable
from catalog_service.exchange.refusals import refusals_as_unreadable
from catalog_service.executions.names import base_name, fingerprints, guesser, requirements_in
from catalog_service.executions.normal_forms import normalise_name
from catalog_service.executions.readers import registry
from catalog_service.executions.readers.results import (
    LONGEST_MESSAGE,
    LONGEST_TRACE,
    ReadAs,
    Result,
    milliseconds,
    properties_of,
)
from chassis.core.full_disks import is_full, no_room_for_files
from chassis.core.problems import Problem
from chassis.files.archives import gunzipped
from contracts.name_patterns import NamePattern

if TYPE_CHECKING:
    from hashlib import _Hash

COLUMNS = (
    "position, fingerprint, name, class_name, suite, file, iteration, outcome, is_attempt, duration_ms, message, trace,"
    " named, tagged, guessed, requirements, maybe_requirements, former"
)
"""Of a line of COPY, in its order."""

SKIPPED, PASSED, FLAKY, FAILED = "1", "2", "3", "4"
"""Outcomes in the order in which one outweighs another; 0 stands for an attempt that did not run a test."""

_OUTCOMES = {"skipped": SKIPPED, "passed": PASSED, "failed": FAILED}
NAMES = {SKIPPED: "skipped", PASSED: "passed", FLAKY: "flaky", FAILED: "failed"}
NO_RESULTS = "no_results"
TRIES = "like_tries"
_TRIES_MESSAGE = (
    "A test failed in the file and passed behind that, by the same name: these look like tries of it. If they are, send"
    " the file with duplicates=last; otherwise the worst counts."
)
_LONGEST_NAME = 2000
_LONGEST_CLASS = 600
"""Characters, which an index takes whatever they are."""
_MOST_IDS = 100
_AT_ONCE = 512
_BLOCK = 64 * 1024
_BLANKS = codecs.BOM_UTF8 + codecs.BOM_UTF16 + b"\0 \t\r\n"
_NOTHING_ELSE = "\t".join(["\\N"] * 8) + "\n"
"""How most lines end; putting it together for each would be a tenth of the reading."""
_NO_OTHER_NAMES = "\\N\t" * 7
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": None})


@dataclass(frozen=True, slots=True)
class Order:
    """What to read and how. `format`: its name, or `auto`.

    `name_patterns` and `result_properties`: those of the project, if it has any; `workspace`: where the report was
    made, if its sender says so.
    """

    format: str
    file_name: str | None = None
    most_results: int = 0
    undefined_fails: bool = True
    memory_bytes: int = 0
    cpu_seconds: int = 0
    name_patterns: list[dict[str, str]] | None = None
    result_properties: dict[str, list[str] | None] | None = None
    workspace: str = ""


@dataclass(slots=True)
class Read:
    """What is known of a file at its end."""

    format: str
    counts: dict[str, int]
    warnings: list[dict[str, Any]]
    has_attempts: bool = False
    has_former_names: bool = False
    """Whether tests of it were called otherwise before."""
    health: list[str] = field(default_factory=list)
    """Why the file does not tell the whole; nothing where it does."""


@dataclass(slots=True)
class Refusal:
    """Why a file was not read, as a problem has it."""

    code: str
    detail: str
    status: int
    members: dict[str, Any]


def read(file: BinaryIO, out: BinaryIO, order: Order) -> Read | Refusal:
    """Write the results of a seekable file as rows of COPY; return what was read, or why it was not.

    A file may be packed by gzip.
    """
    try:
        with refusals_as_unreadable(), gunzipped(file) as plain:
            done = _read(plain, out, order)
            out.flush()
            return done
    except Unreadable as error:
        places = {name: getattr(error, name) for name in ("line", "column", "offset")}
        return Refusal(error.code, error.message, 422, {name: at for name, at in places.items() if at is not None})
    except Problem as problem:
        return Refusal(problem.code, problem.detail, problem.status, problem.members)
    except MemoryError:
        detail = "This file needs more memory to be read than there is for it; send it in parts."
        return Refusal("too_large", detail, 422, {})
    except OSError as error:
        if not is_full(error):
            raise
        full = no_room_for_files()
        return Refusal(full.code, full.detail, full.status, {})
    finally:
        # Thousands of long texts of one file after the other would fill the memory of a process that goes on.
        _shared.cache_clear()
        milliseconds.cache_clear()


def _read(file: BinaryIO, out: BinaryIO, order: Order) -> Read:
    if _is_blank(file):
        detail = "The file is empty: it has nothing but blanks. Send the report that the tests have written."
        raise Unreadable(detail, code="empty_file")
    is_named = order.format != "auto"
    chosen = registry.find(order.format) if is_named else registry.recognise(file, order.file_name)
    file.seek(0)
    patterns = order.name_patterns
    guess = guesser(None if patterns is None else [NamePattern(**one) for one in patterns])
    counts: Counter[str] = Counter()
    done = Read(chosen.name, {}, [])
    lines: list[str] = []
    attempts: dict[tuple[str, str, str], str] = {}
    failed: set[tuple[str, str, str, str]] = set()
    places: dict[int, int] = {}
    tried_again = 0
    total = 0
    as_asked = ReadAs(order.undefined_fails, properties_of(order.result_properties), order.workspace)
    for found in chosen.read(file, as_asked):
        if isinstance(found, Notice):
            done.warnings.append({"code": found.code, "message": found.message, "count": found.count})
            continue
        outcome = FLAKY if found.failed_before and found.status == "passed" else _OUTCOMES[found.status]
        counts[outcome] += 1
        total += 1
        if found.is_attempt:
            _count_attempt(found, outcome, attempts, counts)
        elif outcome == FAILED:
            failed.add(_key_of(found))
        elif failed and outcome == PASSED and _key_of(found) in failed:
            failed.remove(_key_of(found))
            tried_again += 1
        if found.former is not None:
            done.has_former_names = True
        lines.append(_line(found, outcome, total, guess, places))
        if len(lines) == _AT_ONCE:
            _write(out, lines)
            if order.most_results and total > order.most_results:
                message = f"The file has more than {order.most_results:,} results; send it in parts, all of one run."
                raise Unreadable(message, code="too_many_results")
    _write(out, lines)
    if tried_again:
        done.warnings.append({"code": TRIES, "message": _TRIES_MESSAGE, "count": tried_again})
    if not total:
        done.warnings.append({"code": NO_RESULTS, "message": "The file holds no results.", "count": 1})
    done.health = health_of(warning["code"] for warning in done.warnings)
    done.has_attempts = bool(attempts)
    done.counts = {"results": counts.total(), **{name: counts[outcome] for outcome, name in NAMES.items()}}
    return done


_NOT_WHOLE = {
    NO_RESULTS: "no_results",
    "plan_not_kept": "plan_not_kept",
    "crashed": "crashed",
    "unfinished": "crashed",
    "suite_failed": "suite_failed",
    "errors_of_run": "errors_of_run",
}
"""What warnings say of the health of a run, by their codes."""


def health_of(codes: Iterable[str]) -> list[str]:
    """Return why a file with these warnings does not tell the whole."""
    return sorted({_NOT_WHOLE[code] for code in codes if code in _NOT_WHOLE})


def _key_of(result: Result) -> tuple[str, str, str, str]:
    """Return what results of a test have in common that a file does not tell apart."""
    return result.class_name, result.iteration or result.name, result.suite, result.file


def _is_blank(file: BinaryIO) -> bool:
    """Check whether a file has nothing but blanks and marks of its encoding."""
    file.seek(0)
    while block := file.read(_BLOCK):
        if block.strip(_BLANKS):
            return False
    return True


def _count_attempt(
    result: Result, outcome: str, attempts: dict[tuple[str, str, str], str], counts: Counter[str]
) -> None:
    """Count the attempts of a test as one result, which ends as the last of them did that ran it."""
    key = (result.class_name, result.iteration or result.name, "" if result.class_name else result.file)
    before = attempts.get(key)
    if before is not None:
        if outcome == SKIPPED:
            counts[outcome] -= 1
            return
        counts[before] -= 1
        if outcome == PASSED and before in (FLAKY, FAILED):
            counts[outcome] -= 1
            counts[FLAKY] += 1
            outcome = FLAKY
    attempts[key] = outcome


def _write(out: BinaryIO, lines: list[str]) -> None:
    out.write("".join(lines).encode("utf-8", "replace"))
    lines.clear()


def _line(
    result: Result,
    outcome: str,
    position: int,
    guess: Callable[[str], list[str]],
    places: dict[int, int],
) -> str:
    """Return the line of a result; `places` are where tests of the file stand whose names leave that out, as hashes."""
    class_name, name, iteration = result.class_name, result.name, result.iteration
    if result.place and not _is_first(places, class_name, name, result.place):
        class_name = f"{' '.join(result.place.split())}: {class_name}"
    if name.isidentifier() and len(name) <= _LONGEST_NAME:  # as most are: nothing to escape, no parameters
        base = shown = name
    else:
        named = normalise_name(class_name, name)
        if named.class_name != class_name:
            iteration = ""  # its parameters are in the name
        variant = ""
        if not named.place or _is_first(places, named.class_name, named.name, named.place):
            class_name, name, variant, _ = named
        base = base_name(name)
        shown = _text(base)
        if not iteration:
            iteration = f"{name} [{variant}]" if variant else name if base != name else ""
    guessed, maybe = guess(name), requirements_in(name)
    if result.tags:
        maybe = [*maybe, *result.tags]
    shared, place = _shared(class_name, result.suite, result.file)
    fingerprint = shared.copy()
    fingerprint.update(base.encode("utf-8", "replace"))
    duration = "\\N" if result.duration_ms is None else result.duration_ms
    names_any = result.named or guessed or result.requirements or maybe
    says_any = result.message is not None or result.trace is not None
    if names_any or says_any:
        end = _end(result, guessed, maybe)
    elif result.former is not None:
        end = f"{_NO_OTHER_NAMES}\\\\x{_fingerprint_former(*result.former)}\n"
    else:
        end = _NOTHING_ELSE
    return (
        f"{position}\t\\\\x{fingerprint.hexdigest()}\t{shown}\t{place}\t{iteration and _text(iteration)}"
        f"\t{outcome}\t{'t' if result.is_attempt else 'f'}\t{duration}\t{end}"
    )


def _is_first(places: dict[int, int], class_name: str, name: str, place: str) -> bool:
    """Check whether no other place of the file has had the name before."""
    at = hash(place)
    return places.setdefault(hash((class_name, name)), at) == at


def _end(result: Result, guessed: list[str], maybe: list[str]) -> str:
    said = _text(result.message, LONGEST_MESSAGE), _text(result.trace, LONGEST_TRACE)
    ids = map(_ids, (result.named, result.tags, guessed, result.requirements, maybe))
    former = "\\N" if result.former is None else f"\\\\x{_fingerprint_former(*result.former)}"
    return "\t".join((*said, *ids, former)) + "\n"


def _fingerprint_former(class_name: str, name: str, suite: str, file: str) -> str:
    named = normalise_name(class_name, name)
    former = _shared(named.class_name, suite, file)[0].copy()
    former.update(base_name(named.name).encode("utf-8", "replace"))
    return former.hexdigest()


@lru_cache(4096)
def _shared(class_name: str, suite: str, file: str) -> tuple["_Hash", str]:
    """Return what the lines of all tests of a class have in common: of their fingerprints, and as text."""
    place = f"{_text(class_name, _LONGEST_CLASS)}\t{_text(suite)}\t{_text(file)}"
    return fingerprints(class_name, suite, file), place


def _text(text: str | None, longest: int = _LONGEST_NAME) -> str:
    if text is None:
        return "\\N"
    cut = text[:longest]
    return cut if cut.isprintable() and "\\" not in cut else cut.translate(_ESCAPES)


def _ids(ids: list[str] | None) -> str:
    if not ids:
        return "\\N"
    distinct = [*dict.fromkeys(one.replace("\0", "")[:200] for one in ids)][:_MOST_IDS]
    return orjson.dumps(distinct).decode().translate(_ESCAPES)


def main() -> None:
    """Read the file of standard input."""
    order = Order(**orjson.loads(sys.argv[1]))
    limit_process(order.memory_bytes, order.cpu_seconds)
    with (
        open(sys.stdin.fileno(), "rb", closefd=False) as file,
        open(sys.stdout.fileno(), "wb", buffering=1 << 18, closefd=False) as out,
    ):
        found = read(file, out, order)
        kind = "refused" if isinstance(found, Refusal) else "read"
        sys.stderr.write(orjson.dumps({kind: asdict(found)}, default=str).decode() + "\n")
        sys.stderr.flush()
        # What is left of rows without room could not be written at the end either.
        os._exit(0)


def decoded(line: bytes) -> Read | Refusal:
    """Return what the last line of standard error says."""
    said = orjson.loads(line)
    return Refusal(**said["refused"]) if "refused" in said else Read(**said["read"])


if __name__ == "__main__":
    main()
