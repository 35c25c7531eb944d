"""Doorstop: an archive of a tree of documents, each a folder of items in YAML or Markdown."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from posixpath import basename, dirname
from typing import Any, BinaryIO

import yaml

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers.items import (
    DEEPEST,
    LONGEST_TEXT,
    Draft,
    Relations,
    as_asked,
    is_blank,
    kind_of,
    plain,
)
from catalog_service.exchange.readers.lines import is_archive, is_meant, other_files
from catalog_service.exchange.records import ItemKind, Notice, Record, Unreadable
from catalog_service.exchange.refusals import archive_of
from chassis.core.wording import counted, listed, shown
from chassis.files.archives import Archive

SYSTEM = "doorstop"
CONFIGURATION = ".doorstop.yml"
_SUFFIXES = (".yml", ".yaml", ".md")
_FRONT = re.compile(r"\A---[ \t]*+\n(.*?)\n---[ \t]*+(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r"\A\s*+#++[ \t]++(\S[^\n]*+)\n?")
_MOST_SHOWN = 5
_MOST_VALUES = 20_000
"""Of an item; some take hundreds of bytes each."""
_LONGEST_NUMBER = 100
"""Characters: in base 60 (1:59:59, which YAML takes for a number) a long one costs the square of its length."""
_NUMBER = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]++|0b[01_]++|[0-9.][0-9_:.]*+)")
_REASONS = (
    ("control characters", "it has a control character"),
    ("start any token", "a value begins with a tab, %, @ or `; put it in quotes"),
    ("not allowed in this context", "a colon, ? or - stands where none can; put the value in quotes"),
    ("tab character", "a tab stands where blanks indent"),
    ("expected ':'", "the colon after a name is missing"),
    ("unexpected end", "a quote, bracket or brace is not closed"),
    ("expected ','", "a comma or the closing bracket is missing"),
    ("not find expected", "the indentation is wrong, or a value with special characters is not in quotes"),
    ("must be in", "a date does not exist; put it in quotes"),
    ("out of range", "a date does not exist; put it in quotes"),
)
"""What the parser says, and what a person has written."""
_TAKEN = frozenset(("text", "header", "links", "active", "level", "short-name", "reviewed"))


class _Tree:
    """The documents of an archive by their folders, and where the items of each are."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.documents: dict[str, dict[str, Any]] = {}
        for name in archive.names:
            if basename(name) == CONFIGURATION and is_meant(name, (CONFIGURATION,)):
                settings = _loaded(self.text(name), name).get("settings")
                self.documents[dirname(name)] = settings if isinstance(settings, dict) else {}
        if not self.documents:
            raise Unreadable(
                f"The archive has no {CONFIGURATION}: pack a Doorstop tree with the folders of its documents. Tables,"
                " workbooks and JSON are not read from archives: unpack them, and send them one by one."
            )

    def others(self) -> list[str]:
        """Return the files that are neither an item nor the settings of a document."""
        items = {name for _, name in self.items()}
        return [name for name in self._archive.names if name not in items and basename(name) != CONFIGURATION]

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield the folder of a document and the name of an item's file, document by document."""
        found: dict[str, list[str]] = {folder: [] for folder in sorted(self.documents)}
        for name in sorted(self._archive.names):
            folder = dirname(name)
            is_item = folder in found and is_meant(name, _SUFFIXES) and basename(name) != CONFIGURATION
            if is_item and not basename(name).startswith(".") and self._is_item(folder, name):
                found[folder].append(name)
        for folder, names in found.items():
            for name in names:
                yield folder, name

    def text(self, name: str) -> str:
        """Return a file as a text; raise Unreadable for what is none."""
        content = self._archive.open(name).read(LONGEST_TEXT + 1)
        if len(content) > LONGEST_TEXT:
            raise Unreadable(f"{shown(name)} is larger than {LONGEST_TEXT >> 20} MiB.", code="too_long")
        try:
            return content.decode("utf-8-sig").replace("\r\n", "\n")
        except UnicodeDecodeError as error:
            raise Unreadable(f"{shown(name)} is not in UTF-8.", offset=error.start) from None

    def prefix(self, folder: str) -> str:
        """Return what the ids of a document's items begin with."""
        return str(self.documents[folder].get("prefix") or basename(folder))

    def _is_item(self, folder: str, name: str) -> bool:
        return basename(name).lower().startswith(self.prefix(folder).lower())


def recognise_archive(archive: Archive) -> float:
    """Return how sure it is that an archive is a Doorstop tree."""
    return 0.95 * any(basename(member) == CONFIGURATION for member in archive.names)


@as_asked
def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the items of all documents, then the links between requirements and test cases."""
    if not is_archive(file):
        raise Unreadable("Doorstop keeps a file an item: pack the tree as a zip or tar, and send that.")
    with archive_of(file) as archive:
        tree = _Tree(archive)
        relations = Relations()
        kinds: dict[str, ItemKind] = {folder: _kind(tree, folder, options) for folder in tree.documents}
        for folder, name in tree.items():
            relations.know(_id(name), kinds[folder])
        inactive: Counter[str] = Counter()
        headings: list[str] = []
        row = 0
        for folder, name in tree.items():
            content = _item(tree.text(name), name)
            if content.get("active") is False:
                inactive[tree.prefix(folder)] += 1
                continue
            if _is_heading(content):
                headings.append(_said(content.get("header")) or _id(name))
                continue
            row += 1
            draft = _draft(content, name, row, kinds[folder])
            draft.module = draft.of_type = tree.prefix(folder)
            _relate(draft, content, relations)
            yield draft.item()
        yield from relations.links()
        if headings:
            are = "item is a heading" if len(headings) == 1 else "items are headings"
            shown_first = listed(map(shown, headings[:_MOST_SHOWN]), "and")
            yield Notice(
                "headings_left_out", f"{len(headings)} {are}, no requirement or test: {shown_first}.", len(headings)
            )
        if inactive:
            total = sum(inactive.values())
            yield Notice(
                "inactive_item",
                f"{counted(total, 'item is', 'items are')} not active (active: false), and left out.",
                total,
            )
        yield from other_files(tree.others(), "items of Doorstop")


def _is_heading(content: Mapping[str, Any]) -> bool:
    """Check whether an item is the heading of those below it: not normative, with a title and no text of its own."""
    return content.get("normative") is False and not _said(content.get("text")) and not content.get("links")


def _kind(tree: _Tree, folder: str, options: ReadOptions) -> ItemKind:
    return kind_of(tree.prefix(folder), options.mapping)


def _id(name: str) -> str:
    return basename(name).rpartition(".")[0]


def _item(text: str, name: str) -> Mapping[str, Any]:
    """Return the fields of an item; of Markdown those between the dashes, and the text below them."""
    if not name.lower().endswith(".md"):
        return _loaded(text, name)
    front = _FRONT.match(text)
    fields = dict(_loaded(front[1], name, first_line=2)) if front else {}
    body = text[front.end() :].strip("\n") if front else text.strip("\n")
    if not fields.get("header") and (heading := _HEADING.match(body)):
        fields["header"], body = heading[1].rstrip().rstrip("#").rstrip(), body[heading.end() :].strip("\n")
    return {**fields, "text": body}


def _loaded(text: str, name: str, first_line: int = 1) -> Mapping[str, Any]:
    try:
        _check(text)
        content = yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        mark = getattr(error, "problem_mark", None)
        raise Unreadable(
            f"{shown(name)} is no YAML that can be read: {_reason_of(error)}.",
            line=mark.line + first_line if mark else None,
            column=mark.column + 1 if mark else None,
        ) from None
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise Unreadable(f"{shown(name)} holds no fields (name: value).", line=first_line)
    return {str(key): value for key, value in content.items()}


def _reason_of(error: Exception) -> str:
    said = str(getattr(error, "problem", None) or error).partition("\n")[0]
    return next((words for part, words in _REASONS if part in said), said[:200] or "it is damaged")


def _check(text: str) -> None:
    """Raise YAMLError for anchors, ten lines of which make gigabytes, for tags, and for what is nested deeply.

    The loader in C ends the process there; the events alone do not.
    """
    depth = 0
    for number, event in enumerate(yaml.parse(text, yaml.CSafeLoader)):
        if number > _MOST_VALUES:
            raise yaml.MarkedYAMLError(
                problem=f"it has more than {_MOST_VALUES:,} names and values", problem_mark=event.start_mark
            )
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise yaml.MarkedYAMLError(problem="anchors and aliases are not read", problem_mark=event.start_mark)
        if getattr(event, "tag", None):
            raise yaml.MarkedYAMLError(problem="tags (!...) are not read", problem_mark=event.start_mark)
        if _is_long_number(event):
            raise yaml.MarkedYAMLError(
                problem=f"a number has more than {_LONGEST_NUMBER} digits", problem_mark=event.start_mark
            )
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f"it is nested deeper than {DEEPEST} levels", problem_mark=event.start_mark
            )


def _is_long_number(event: yaml.Event) -> bool:
    """Check whether a value without quotes is a number that is too long; a hash is none."""
    if not isinstance(event, yaml.ScalarEvent) or not event.implicit[0] or len(event.value) <= _LONGEST_NUMBER:
        return False
    return _NUMBER.fullmatch(event.value) is not None


def _draft(content: Mapping[str, Any], name: str, row: int, kind: ItemKind) -> Draft:
    draft = Draft(SYSTEM, kind, row)
    draft.external_id = _id(name)
    draft.description = _said(content.get("text"))
    draft.title = _said(content.get("header")) or _said(content.get("short-name"))
    if content.get("derived") is True:
        draft.tags.append("derived")
    if content.get("normative") is False:
        draft.tags.append("informative")
    if content.get("reviewed"):
        draft.status = "reviewed"
    metadata = {"file": name, "level": str(content["level"]) if "level" in content else None}
    metadata |= {key: plain(_dated(value)) for key, value in content.items() if key not in _TAKEN}
    draft.metadata |= {key: value for key, value in metadata.items() if not is_blank(value)}
    if content.get("reviewed"):
        draft.metadata["reviewed"] = plain(_dated(content["reviewed"]))
    return draft


def _said(value: Any) -> str:
    return "" if value is None else value.strip() if isinstance(value, str) else str(value)


def _dated(value: Any) -> Any:
    """Return a value of YAML with its dates and bytes as texts."""
    if isinstance(value, dict):
        return {str(key): _dated(member) for key, member in value.items()}
    if isinstance(value, list | tuple | set):
        return [_dated(member) for member in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _relate(draft: Draft, content: Mapping[str, Any], relations: Relations) -> None:
    """Make links of what an item tests, relations of what it is below; keep what is between tests."""
    targets = _targets(content.get("links") or ())
    link_type = "verifies" if draft.kind == "test_case" else "covers"
    others = [
        target
        for target in targets
        if not relations.relate(draft, target, link_type) and not relations.put_below(draft, target)
    ]
    draft.keep_relations("links", others)


def _targets(said: Any) -> Iterator[str]:
    """Yield the ids in `links`: a list, of which each may have the fingerprint of the item that it was reviewed with.

    Whoever writes by hand leaves out the list around one.
    """
    if isinstance(said, list | tuple | dict):
        for entry in said:
            yield from _targets(entry)
    else:
        yield "" if said is None else str(said)


FORMAT = Format(
    name="doorstop",
    label="archive of a Doorstop tree",
    media_types=("application/zip", "application/x-tar", "application/gzip"),
    suffixes=(".zip", ".tar", ".tar.gz", ".tgz"),
    recognise_archive=recognise_archive,
    read=read,
)
