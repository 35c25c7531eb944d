"""What the readers of other tools' formats have in common: an item from what a file says of it."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial, wraps
from typing import Any, BinaryIO

from catalog_service.exchange.formats import ReadOptions, kinds_of_types
from catalog_service.exchange.records import Item, ItemKind, Link, Notice, Record, Relation, Remark, Unreadable
from catalog_service.exchange.vocabulary import (
    PRIORITIES,
    REQUIREMENT_STATUSES,
    TEST_CASE_STATUSES,
    meaning,
    type_of_requirement,
    type_of_test_case,
)
from chassis.core.wording import counted, shown

LONGEST_TEXT = 1024 * 1024
DEEPEST = 28
"""Of what goes to custom_metadata; the API takes 32 levels in all."""
_LONGEST_TITLE, _LONGEST_MODULE, _LONGEST_KEY, _SHORT_TITLE = 500, 100, 100, 120
_MARKUP = re.compile(r"[*_`]{1,3}(\S|\S.*?\S)[*_`]{1,3}")
_MARKS_BEFORE = re.compile(r"\A(?:(?:#{1,6}|={1,6}|[*+-])\s+)+")

_WORDS = re.compile(r"[A-Z]{2,}(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_TESTS = {"tst", "tsts", "tc", "tcs", "ut", "it", "hlt", "llt", "verification", "swqt", "sysqt", "svcp"}
_NO_TESTS = {"latest", "contest", "attest", "protest", "fastest", "greatest", "testimony", "testament"}


class Draft:
    """An item as a file tells it, word by word, until `item` makes of it what the API takes.

    `system` is the source system, and the name below which custom_metadata keeps what no field of the API takes.
    """

    def __init__(self, system: str, kind: ItemKind, row: int, line: int | None = None) -> None:
        self.system = system
        self.kind = kind
        self.row = row
        self.line = line
        self.external_id: str | None = None
        self.title = ""
        self.description = ""
        self.module: str | None = None
        self.status: str | None = None
        self.priority: str | None = None
        self.type: str | None = None
        self.tags: list[str] = []
        self.others: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.problems: list[Remark] = []
        self.warnings: list[Remark] = []
        self.relations = 0
        self.of_type: str | None = None

    def keep_relations(self, name: str, relations: Sequence[str]) -> None:
        """Keep relations that are no links in custom_metadata, below this name."""
        if relations:
            self.metadata[name] = relations
            self.relations += len(relations)

    def item(self, source_system: str | None = None) -> Item:
        """Return the item; required fields of which the file says nothing have a usual value and are `defaulted`."""
        defaulted = []
        description = self._text("description", self.description.strip("\r\n"))
        title = self._title(description)
        if not description.strip():
            description = title
            defaulted.append("description")
        fields: dict[str, Any] = {"title": title, "description": description}
        if self.external_id:
            fields["external_id"] = self.external_id
        is_requirement = self.kind == "requirement"
        type_of = type_of_requirement if is_requirement else type_of_test_case
        fields["type"] = self._known("type", self.type, type_of) or "functional"
        fields["priority"] = self._known("priority", self.priority, partial(meaning, PRIORITIES)) or "medium"
        defaulted += [name for name in ("type", "priority") if name not in self._said]
        statuses = REQUIREMENT_STATUSES if is_requirement else TEST_CASE_STATUSES
        status = self._known("status", self.status, partial(meaning, statuses))
        if status:
            fields["status"] = status
        if self.module and self.module.strip():
            fields["module"] = self._module(" ".join(self.module.split()))
        if tags := list(dict.fromkeys(tag.strip() for tag in self.tags if tag.strip())):
            fields["tags"] = tags
        fields |= self.others
        fields["source_system"] = source_system or self.system
        if self.metadata:
            fields["custom_metadata"] = {self.system: self.metadata}
        return Item(
            self.kind,
            self.row,
            fields,
            line=self.line,
            defaulted=defaulted,
            problems=self.problems,
            warnings=self.warnings,
            relations=self.relations,
            of_type=self.of_type,
        )

    _said: frozenset[str] = frozenset()

    def _known(self, field: str, said: str | None, meaning_of: Callable[[str], str | None]) -> str | None:
        """Return the API's word for what the file says; where it is another word, custom_metadata keeps the file's."""
        if said is None or not said.strip():
            return None
        word = meaning_of(said)
        if word is not None:
            self._said |= {field}
        if word != said:
            self.metadata.setdefault(field, said)
        return word

    def _title(self, description: str) -> str:
        title = " ".join(self._text("title", self.title).split())
        if not title:
            return heading_of(description) or self.external_id or "Untitled"
        if len(title) <= _LONGEST_TITLE:
            return title
        self.metadata["title"] = title
        self.warnings.append(
            Remark(
                "title_cut",
                f"The title has {len(title)} characters; the first {_LONGEST_TITLE - 1} are taken, custom_metadata "
                "keeps it whole.",
                "title",
            )
        )
        return title[: _LONGEST_TITLE - 1] + "…"

    def _module(self, module: str) -> str:
        if len(module) <= _LONGEST_MODULE:
            return module
        self.metadata["module"] = module
        self.warnings.append(
            Remark(
                "module_cut",
                f"The module {shown(module)} is too long (100 characters at most); custom_metadata keeps it whole.",
                "module",
            )
        )
        return module[: _LONGEST_MODULE - 1] + "…"

    def _text(self, field: str, text: str) -> str:
        if len(text) <= LONGEST_TEXT:
            return text
        self.problems.append(
            Remark("too_long", f"The {field} has {len(text)} characters; at most {LONGEST_TEXT} can be read.", field)
        )
        return text[:_LONGEST_TITLE]


def heading_of(text: str) -> str:
    """Return a title for a text that has none: its first paragraph without markup, cut at a word."""
    paragraph = re.split(r"\n\s*\n", text[:1000].strip(), maxsplit=1)[0]
    paragraph = _MARKS_BEFORE.sub("", paragraph)
    line = " ".join(_MARKUP.sub(r"\1", paragraph).split()).rstrip(":")
    if len(line) <= _SHORT_TITLE:
        return line
    cut = line[: _SHORT_TITLE - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[60:] else cut) + "…"


def kind_of(name: str, mapping: Mapping[str, Any] | None) -> ItemKind:
    """Return whether items of a type or document of this name are test cases; the mapping decides first."""
    chosen = kinds_of_types(mapping)
    if name in chosen:
        return "test_case" if chosen[name] in ("test_case", "test_cases") else "requirement"
    return "test_case" if tells_of_tests(name) else "requirement"


def tells_of_tests(name: str) -> bool:
    """Check whether a name is that of tests, such as `test_case`, `TST`, `utest` or `HLT`."""
    return any(
        word in _TESTS or ((word.startswith("test") or word.endswith(("test", "tests"))) and word not in _NO_TESTS)
        for word in map(str.lower, _WORDS.findall(name[:200]))
    )


def is_blank(value: Any) -> bool:
    """Check whether a value of a file says nothing."""
    return value is None or value is False or value in ("", [], {}) or (isinstance(value, str) and value.isspace())


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value of a file as JSON that the API takes; raise Unreadable where it is nested too deeply."""
    if depth > DEEPEST:
        raise Unreadable(f"A value is nested deeper than {DEEPEST} levels.", code="too_deep")
    if isinstance(value, dict):
        return {str(key): plain(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member, depth + 1) for member in value]
    if isinstance(value, Decimal):
        value = float(value) if value.is_finite() and len(value.as_tuple().digits) <= 15 else str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**53:
        return str(value) if abs(value) < 10**300 else "a number of more than 300 digits"
    return value


class Shared:
    """Counts what many items have from the one that they stand in, and raises Unreadable when it comes to too much.

    A title of a megabyte above 20,000 requirements would become 20 gigabytes of rows.
    """

    MOST = 64 << 20
    """Characters."""

    def __init__(self) -> None:
        self._count = 0

    def add(self, texts: Iterable[str | None], line: int | None) -> None:
        """Count the texts that another item has from where it stands."""
        self._count += sum(len(text) for text in texts if text)
        if self._count > self.MOST:
            raise Unreadable(
                "The titles of documents and sections are too long for so many items below them.",
                code="too_long",
                line=line,
            )


class Relations:
    """The relations of the items of a file, each once a pair.

    Those of a requirement and a test case become links, those of two requirements relations.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, ItemKind] = {}
        self._links: dict[tuple[str, str], Link] = {}
        self._relations: dict[tuple[str, str], Relation] = {}
        self._blank = 0

    def know(self, external_id: str, kind: ItemKind) -> None:
        """Note which kind of item has an id."""
        self._kinds.setdefault(external_id, kind)

    def kind(self, external_id: str) -> ItemKind | None:
        """Return the kind of the item of this id, if the file has one."""
        return self._kinds.get(external_id)

    def relate(self, item: Draft, target: str, link_type: str = "covers", notes: str | None = None) -> bool:
        """Make a link of a relation, and return whether it is one.

        What a test case names and the file does not have is taken for a requirement that the record may have. One that
        names nothing is counted, and is no relation to keep.
        """
        if not target.strip():
            self._blank += 1
            return True
        other = self._kinds.get(target)
        if not item.external_id or other == item.kind or (other is None and item.kind == "requirement"):
            return False
        requirement, test_case = (
            (item.external_id, target) if item.kind == "requirement" else (target, item.external_id)
        )
        fields = {"link_type": link_type} | ({"notes": notes} if notes else {})
        self._links.setdefault(
            (requirement, test_case),
            Link(0, {"external_id": requirement}, {"external_id": test_case}, fields, line=item.line),
        )
        return True

    def put_below(
        self, item: Draft, target: str, relation_type: str = "refines", role: str | None = None, *, turned: bool = False
    ) -> bool:
        """Put a requirement below another (`turned`: above it), and return whether it is one and the other may be.

        What the file does not have is taken for a requirement that the record may have, or get.
        """
        if not item.external_id or item.kind != "requirement" or target == item.external_id:
            return False
        if self._kinds.get(target, "requirement") != "requirement" or not 0 < len(target) <= _LONGEST_KEY:
            return False
        child, parent = (target, item.external_id) if turned else (item.external_id, target)
        fields = {"relation_type": relation_type} | ({"role": role[:_LONGEST_KEY]} if role else {})
        self._relations.setdefault(
            (child, parent), Relation(0, {"external_id": child}, {"external_id": parent}, fields, line=item.line)
        )
        return True

    def links(self) -> Iterator[Link | Relation | Notice]:
        """Yield links and relations, numbered as the relations of the file, and how many of these name nothing."""
        found: list[Link | Relation] = [*self._links.values(), *self._relations.values()]
        for row, one in enumerate(found, start=1):
            one.row = row
            yield one
        if self._blank:
            message = f"{counted(self._blank, 'relation names', 'relations name')} nothing: the other end is blank."
            yield Notice("link_end_blank", message, self._blank)


Reading = Callable[[BinaryIO, ReadOptions], Iterator[Record]]


def as_asked(read: Reading) -> Reading:
    """Have a reader give the kinds that are asked for, with the prefix and the source system of the request.

    Its items come before their links.
    """

    @wraps(read)
    def reading(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
        prefix = options.external_id_prefix
        own: set[tuple[str, str]] = set()
        for record in read(file, options):
            if isinstance(record, Item):
                if prefix:
                    own.add((record.kind, record.fields.get("external_id", "")))
                if options.kind not in ("all", f"{record.kind}s"):
                    continue
                if "external_id" in record.fields:
                    record.fields["external_id"] = prefix + record.fields["external_id"]
                record.fields["source_system"] = options.system or record.fields["source_system"]
            elif isinstance(record, Link):
                if options.kind not in ("all", "links"):
                    continue
                for kind, end in (("requirement", record.requirement), ("test_case", record.test_case)):
                    if (kind, end["external_id"]) in own:
                        end["external_id"] = prefix + end["external_id"]
            elif isinstance(record, Relation):
                if options.kind not in ("all", "requirements"):
                    continue
                for end in (record.child, record.parent):
                    if ("requirement", end["external_id"]) in own:
                        end["external_id"] = prefix + end["external_id"]
            yield record

    return reading
