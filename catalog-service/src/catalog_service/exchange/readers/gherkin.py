"""Gherkin: the scenarios of a .feature file, or of an archive of them, as test cases."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, BinaryIO

from gherkin.errors import (
    CompositeParserException,
    ParserError,
    ParserException,
    UnexpectedEOFException,
    UnexpectedTokenException,
)
from gherkin.parser import Parser

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers.items import LONGEST_TEXT, Draft, Relations, as_asked, heading_of
from catalog_service.exchange.readers.lines import (
    guessed_encodings,
    named,
    numbered_lines,
    suffixes_within,
    texts_of,
)
from catalog_service.exchange.records import Record, Unreadable
from chassis.core.wording import shown
from chassis.files.archives import Archive

SYSTEM = "gherkin"
SUFFIXES = (".feature",)
_LONGEST_FILE = 16 * LONGEST_TEXT
_MOST_PARTS = 100_000
"""Lines, cells and tags of a file: the parser takes a kilobyte or two for each."""
_MOST_SHARED = 64 << 20
"""Characters that scenarios have from their features: each of them has all of it."""
_MOST_EXAMPLES = 1000
_LONGEST_TAG = 100
_LONGEST_ID = 94
"""Characters, with room for a number behind."""
_KEYWORD = re.compile(r"^[^\S\r\n]*(?:Feature|Rule|Scenario|Scenario Outline|Background|Example):", re.MULTILINE)
_LANGUAGE = re.compile(r"^[^\S\r\n]*#[^\S\r\n]*language[^\S\r\n]*:[^\S\r\n]*\S", re.MULTILINE)
_PLACE = re.compile(r"^\((\d+):(\d+)\): ")
_TEST_ID = re.compile(r"(?:(?:TEST|TC)[_-][A-Z0-9_-]*|TC|C)\d\w*", re.IGNORECASE)
_REQUIREMENT_ID = re.compile(r"(?:REQ|STORY|US)[_-].*\d\w*|[A-Z][A-Z0-9]+-\d+", re.IGNORECASE)
_ISSUE = re.compile(r"[A-Z][A-Z0-9]+-\d+")
_PREFIXES = ("req:", "requirement:", "verifies:", "covers:", "issue:", "tms:", "test:", "id:")
_COVERED = re.compile(r"\[(?:\w+->)?(\w+~[\w.-]+~\d+)\]")
"""What OpenFastTrace writes into comments and descriptions: which specification item is covered."""


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a feature, in whatever language."""
    head = file.read(65536).replace(b"\0", b"").decode("utf-8", "replace")
    if name.endswith(SUFFIXES):
        return 0.9
    return 0.6 * bool(_LANGUAGE.search(head) or len(_KEYWORD.findall(head)) > 1)


def recognise_archive(archive: Archive) -> float:
    """Return how sure it is that an archive holds such features."""
    return 0.9 if suffixes_within(archive, SUFFIXES) > 0.3 else 0.0


@as_asked
def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the scenarios, then links to what their tags name."""
    relations = Relations()
    names: Counter[str] = Counter()
    row = shared = 0
    yield from guessed_encodings(file, SUFFIXES, options.encoding)
    with texts_of(file, SUFFIXES) as texts:
        for path, text in texts:
            with named(path):
                feature = _parsed(text, options)
            for draft in _scenarios(feature, path or options.file_name):
                row += 1
                draft.row = row
                shared += len(draft.metadata.get("feature_description", "")) + len(
                    draft.others.get("preconditions", "")
                )
                shared += sum(map(len, draft.tags))
                if shared > _MOST_SHARED:
                    message = "Tags, background and description of features are too long for so many scenarios."
                    raise Unreadable(message, code="too_long", line=draft.line)
                if draft.external_id is None:
                    draft.external_id = _named(draft, names)
                for target in dict.fromkeys(draft.metadata.get("requirements", ())):
                    relations.relate(draft, target, "verifies")
                yield draft.item()
    yield from relations.links()


def _named(draft: Draft, names: Counter[str]) -> str:
    """Return an id for a scenario that has none in its tags: by its name, so that it is found again."""
    name = f"{draft.module}: {draft.title}" if draft.module else draft.title
    name = " ".join(name.split())
    if len(name) > _LONGEST_ID:
        name = f"{name[: _LONGEST_ID - 9]}…{sha256(name.encode()).hexdigest()[:8]}"
    names[name] += 1
    return name if names[name] == 1 else f"{name} ({names[name]})"


def _parsed(file: BinaryIO, options: ReadOptions) -> Mapping[str, Any]:
    """Return the feature of a file, empty where there is none."""
    parts: list[str] = []
    size = count = 0
    for number, line in numbered_lines(file, options.encoding):
        size += len(line) + 1
        count += 1 + line.count("|") + line.count("@")
        if count > _MOST_PARTS:
            raise Unreadable(
                f"The feature has more than {_MOST_PARTS:,} lines, cells and tags; cut it up.",
                code="too_long",
                line=number,
            )
        if size > _LONGEST_FILE:
            raise Unreadable(
                f"The feature has more than {_LONGEST_FILE >> 20} million characters.", code="too_long", line=number
            )
        parts.append(line)
    try:
        document = Parser().parse("\n".join(parts))
    except CompositeParserException as error:
        raise _refused(error.errors[0], parts) from None
    except ParserError as error:
        raise _refused(error, parts) from None
    except RecursionError:
        raise Unreadable("The feature is nested too deeply.", code="too_deep") from None
    feature: Mapping[str, Any] | None = document.get("feature")
    return feature or {}


def _refused(error: Exception, lines: Sequence[str]) -> Unreadable:
    message = str(error)
    place = _PLACE.match(message)
    line = int(place[1]) if place else None
    column = int(place[2]) if place else None
    message = _PLACE.sub("", message).partition("\n")[0].rstrip(".")
    if isinstance(error, UnexpectedTokenException):
        message = f"a line cannot begin so here: {shown(message.partition(', got ')[2].strip(chr(39)))}"
    elif isinstance(error, UnexpectedEOFException):
        message = "it ends too early"
    elif "cell count" in message:
        message = "a row of the table has more or fewer cells than its first"
    if isinstance(error, ParserException) and line is not None and "'''" in "".join(lines[max(0, line - 2) : line]):
        message += ". Texts of several lines stand between \"\"\" or ```; ''' is behave's own"
    return Unreadable(f"This is no Gherkin: {message[:300]}.", line=line, column=max(column or 1, 1))


def _scenarios(feature: Mapping[str, Any], path: str | None) -> Iterator[Draft]:
    """Yield the scenarios of a feature and of its rules; backgrounds are what each of them presupposes."""
    background: list[str] = []
    for child in feature.get("children", ()):
        if "background" in child:
            background = _steps(child["background"])
        elif "rule" in child:
            rule = child["rule"]
            own = list(background)
            for inner in rule.get("children", ()):
                if "background" in inner:
                    own = background + _steps(inner["background"])
                else:
                    yield _draft(inner["scenario"], feature, rule, own, path)
        elif "scenario" in child:
            yield _draft(child["scenario"], feature, None, background, path)


def _draft(
    scenario: Mapping[str, Any],
    feature: Mapping[str, Any],
    rule: Mapping[str, Any] | None,
    background: Sequence[str],
    path: str | None,
) -> Draft:
    draft = Draft(SYSTEM, "test_case", 0, scenario["location"]["line"])
    above = [feature, rule] if rule else [feature]
    tags = [tag["name"].removeprefix("@") for of in (*above, scenario) for tag in of.get("tags", ())]
    own = [tag["name"].removeprefix("@") for tag in scenario.get("tags", ())]
    draft.external_id = next(filter(None, (_id_in(tag, "TEST_", _TEST_ID) for tag in own)), None)
    text = _text(scenario)
    draft.title = scenario.get("name", "") or heading_of(_COVERED.sub("", text))
    draft.module = feature.get("name") or None
    steps = _steps(scenario)
    examples = [
        _table(one, title=one.get("name", "")) for one in scenario.get("examples", ()) if one.get("tableHeader")
    ]
    draft.description = "\n\n".join(part for part in (text or draft.title, *examples) if part)
    draft.tags = tags
    if steps:
        draft.others["steps"] = {str(number): step for number, step in enumerate(steps, start=1)}
    if background:
        draft.others["preconditions"] = "\n".join(background)
    draft.others["automation_status"] = "automated"
    named = filter(None, (_id_in(tag, "REQ_", _REQUIREMENT_ID) for tag in tags))
    requirements = [*(name for name in named if name != draft.external_id), *_COVERED.findall(text)]
    metadata = {
        "file": path,
        "keyword": scenario.get("keyword"),
        "rule": rule.get("name") if rule else None,
        "feature_description": (feature.get("description") or "").strip(),
        "language": feature.get("language") if feature.get("language") != "en" else None,
        "requirements": list(dict.fromkeys(requirements)),
    }
    draft.metadata |= {name: value for name, value in metadata.items() if value}
    return draft


def _id_in(tag: str, before_key: str, pattern: re.Pattern[str]) -> str | None:
    """Return the id that a tag is, None where it is none; too long a tag would take quadratic time.

    Before the key of an issue of Jira, Xray writes what it is: `TEST_` or `REQ_`.
    """
    prefix = next((prefix for prefix in _PREFIXES if tag.lower().startswith(prefix)), "")
    name = tag[len(prefix) :]
    if len(name) > _LONGEST_TAG:
        return None
    key = name.removeprefix(before_key)
    if key != name and _ISSUE.fullmatch(key):
        return key
    return name if pattern.fullmatch(name) else None


def _text(of: Mapping[str, Any]) -> str:
    return "\n".join(line.strip() for line in (of.get("description") or "").strip().splitlines())


def _steps(of: Mapping[str, Any]) -> list[str]:
    """Return the steps as they are read aloud, with their tables and texts."""
    steps = []
    for step in of.get("steps", ()):
        parts = [f"{step['keyword'].strip()} {step['text']}".strip()]
        if "docString" in step:
            parts.append(step["docString"].get("content", ""))
        if "dataTable" in step:
            parts.append("\n".join(_line(row) for row in step["dataTable"]["rows"]))
        steps.append("\n".join(parts))
    return steps


def _table(examples: Mapping[str, Any], title: str) -> str:
    rows = [examples["tableHeader"], *examples.get("tableBody", ())[:_MOST_EXAMPLES]]
    heading = f"{examples['keyword'].strip()}: {title}".removesuffix(": ") + ":" * (not title)
    return "\n".join([heading, *map(_line, rows)])


def _line(row: Mapping[str, Any]) -> str:
    return f"| {' | '.join(cell['value'] for cell in row['cells'])} |"


FORMAT = Format(
    name="gherkin",
    label="Gherkin features",
    media_types=("text/x-gherkin", "text/x.cucumber.gherkin+plain"),
    suffixes=SUFFIXES,
    recognise=recognise,
    recognise_archive=recognise_archive,
    read=read,
)
