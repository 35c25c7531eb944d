"""OpenFastTrace: specification items in Markdown, AsciiDoc or XML, a file or an archive of them."""

import re
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.readers.items import Draft, Relations, Shared, as_asked, kind_of
from catalog_service.exchange.readers.lines import (
    files_beside,
    guessed_encodings,
    named,
    numbered_lines,
    suffixes_within,
    texts_of,
)
from catalog_service.exchange.readers.spec_items import Outside, SpecItem
from catalog_service.exchange.readers.xml_cases import CaseHandler, Node, cases_of
from catalog_service.exchange.records import ItemKind, Record, Unreadable
from catalog_service.exchange.refusals import has_root
from chassis.files.archives import Archive

SYSTEM = "openfasttrace"
SUFFIXES = (".md", ".markdown", ".adoc", ".asciidoc", ".oreqm", ".reqm2")
# Possessive (++, *+) and anchored: a line may have a million characters, and backtracking is quadratic.
_TO_MARKUP = re.compile(rb"(?:[^\w#<]++|<!--(?s:.*?)-->)*+<(?!!--)")
ID = r"(?<![A-Za-z])[A-Za-z]++~[\w.-]++(?:~\d++)"
_FOUND = re.compile(ID)
_ITEM = re.compile(
    rf"\s*+(?:<a\s++id=[^>]*+>\s*+(?:</a>)?\s*+)?\[?#?`{{1,2}}(?P<id>{ID})`{{1,2}}\]?"
    r"(?:\s*+(?:<[^>]*+>|\{[^}]*+\}))*+\s*+"
)
_BLOCK_ITEM = re.compile(r"\s*+\[\.?specitem\b[^\]]*+\]\s*+")
_SID = re.compile(rf"\bsid=\"({ID})\"")
"""AsciiDoc: the item is the block or paragraph below it."""
_ATTRIBUTE = re.compile(r"\b(?:oft-)?(needs|covers|depends|tags|status)=\"([^\"]*)\"")
_DELIMITER = re.compile(r"(--|={4,}|\*{4,}|_{4,}|-{4,})\s*")
_FORWARDING = re.compile(r"(?<!\w)\w+\s*-->\s*\w")  # where a word begins: blanks without end take their length, no more
_HEADING = re.compile(r"\s{0,3}(#{1,6}|={1,6})\s++(\S.*+)")
_LONGEST_HEADING = 1000
_PART = re.compile(
    r"\s*+(?:<!--\s*+)?(?:[*_]{1,2})?(Needs|Covers|Depends|Tags|Status|Description|Rationale|Comment)(?:[*_]{1,2})?:"
    r"(?:[*_]{1,2})?(.*+)"
)
_UNDERLINE = re.compile(r"[=-]{3,}\s*")
_LISTS = frozenset(("Needs", "Covers", "Depends", "Tags"))
_TESTS = frozenset(("utest", "itest", "stest", "mtest", "test", "tst", "atest"))
_TECHNICAL = frozenset(("arch", "dsn", "impl", "constr", "bld"))
_TAKEN = frozenset(
    (
        *("id", "version", "shortdesc", "description", "rationale", "comment", "status", "needscoverage", "tags"),
        *("providescoverage", "dependencies"),
    )
)
"""Of a specobject, what stands in a field of the item."""
_LIST_ITEM = re.compile(r"\s*[*+-]\s+(.*)")


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file has specification items: a title and an id that stands alone below it."""
    head = file.read(65536).replace(b"\0", b"")
    if _begins_as_xml(head):
        return 0.95
    text = head.decode("utf-8", "replace")
    if text.lstrip().startswith(("<", "{")) and not text.lstrip().startswith(("<head", "<!--")):
        return 0.0
    has_item = any(_ITEM.fullmatch(line) or _block_id(line) for line in text.splitlines())
    return 0.9 if has_item else 0.5 * _forwards(text) or 0.3 * (name.endswith(SUFFIXES) and "~" in text)


def recognise_archive(archive: Archive) -> float:
    """Return how sure it is that an archive holds such specifications."""
    return 0.5 if suffixes_within(archive, SUFFIXES) > 0.5 else 0.0


def _forwards(text: str) -> bool:
    """Check whether a line hands an item on, such as `arch --> dsn : req~open~1`."""
    return any("~" in line and _FORWARDING.search(line) for line in text.splitlines())


@as_asked
def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Yield the items of all files, then links for what test cases cover, and relations for what items do."""
    relations = Relations()
    yield from guessed_encodings(file, SUFFIXES, options.encoding)
    for _, item in _all_items(file, options, Outside()):
        relations.know(item.id, _kind(item, options))
    row = 0
    shared = Shared()
    outside = Outside()
    for path, item in _all_items(file, options, outside):
        row += 1
        shared.add((path, *item.section), item.line)
        draft = _draft(item, row, path, options)
        others = [
            target
            for target in item.lists.get("Covers", ())
            if not relations.relate(draft, target, "verifies" if draft.kind == "test_case" else "covers")
            and not relations.put_below(draft, target, role=item.type)
        ]
        draft.keep_relations("covers", others)
        draft.keep_relations("depends", item.lists.get("Depends", ()))
        yield draft.item()
    if row == 0:
        raise Unreadable(
            "The file has no specification item: below a title, an id such as `req~door-closes~1` stands in a line of"
            " its own.",
            code="empty_file",
        )
    yield from relations.links()
    yield from outside.notices()
    yield from files_beside(file, SUFFIXES)


def _all_items(file: BinaryIO, options: ReadOptions, outside: Outside) -> Iterator[tuple[str | None, SpecItem]]:
    with texts_of(file, SUFFIXES) as texts:
        for path, text in texts:
            outside.path = path
            with named(path):
                if _is_xml(text):
                    for item in _spec_objects(text, options):
                        yield path, item
                    continue
                for item in _items(numbered_lines(text, options.encoding), outside):
                    yield path, item


def _is_xml(file: BinaryIO) -> bool:
    file.seek(0)
    is_xml = _begins_as_xml(file.read(65536).replace(b"\0", b""))
    file.seek(0)
    return is_xml


def _begins_as_xml(head: bytes) -> bool:
    """Check whether a file is a specdocument, behind comments; Markdown may have comments before it and quote one."""
    return _TO_MARKUP.match(head) is not None and has_root(head, b"specdocument")


class _ObjectHandler(CaseHandler):
    """Collects the objects one by one, with the type that the element around them says."""

    roots = ("specdocument",)
    label = "document of OpenFastTrace"
    cases = frozenset(("specobject",))

    def __init__(self) -> None:
        super().__init__()
        self.types: list[str] = []
        self._type = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag.rpartition("}")[2] == "specobjects":
            self._type = attributes.get("doctype", "")
        super().start(tag, attributes)

    def end(self, tag: str) -> None:
        ready = len(self.ready)
        super().end(tag)
        if len(self.ready) > ready:
            self.types.append(self._type)


def _spec_objects(file: BinaryIO, options: ReadOptions) -> Iterator[SpecItem]:
    """Yield the items of a file in XML (ReqM2 calls them specobject)."""
    handler = _ObjectHandler()
    for _, _, node in cases_of(file, handler, options):
        kind = handler.types.pop(0)
        item = SpecItem(
            f"{kind}~{node.first('id')}~{node.first('version') or '0'}", node.line, node.first("shortdesc"), []
        )
        for name, tag in (("", "description"), ("Rationale", "rationale"), ("Comment", "comment")):
            if text := node.first(tag):
                item.add_text(name, text)
        item.status = node.first("status") or None
        item.lists = {
            "Needs": [one.text.strip() for one in node.all("needscoverage", "needsobj")],
            "Tags": [one.text.strip() for one in node.all("tags", "tag")],
            "Covers": [
                one.first("linksto") if "~" in one.first("linksto") else _provided(one)
                for one in node.all("providescoverage", "provcov")
            ],
            "Depends": [one.text.strip() for one in node.all("dependencies", "dependson")],
        }
        item.others = {one.tag: one.plain() for one in node.children if one.tag not in _TAKEN and one.plain()}
        yield item


def _provided(node: Node) -> str:
    """Return the id of what an object covers, whose type and version stand beside it."""
    kind, _, name = node.first("linksto").partition(":")
    if not (kind or name):
        return ""
    return f"{kind}~{name}~{node.first('dstversion') or '0'}"


def _items(lines: Iterator[tuple[int, str]], outside: Outside) -> Iterator[SpecItem]:
    headings: list[tuple[int, str]] = []
    item: SpecItem | None = None
    part, before, is_heading, is_taken, is_outside = "", "", False, False, False
    for number, line in lines:
        found, block, heading = _ITEM.fullmatch(line), _block_id(line), _HEADING.fullmatch(line)
        if item is not None and (found or block or heading):
            if found and before and item.texts.get(part, [""])[-1].strip() == before:
                item.texts[part].pop()  # it is the title of the next
            yield item
            item = None
        above = [text for _, text in headings]
        was_outside, is_outside = is_outside, False
        if found:
            if before and was_outside:
                outside.leave()
            title = before or (above.pop() if above and not is_taken else "")
            is_taken = is_taken or before == "" or is_heading
            item, part = SpecItem(found["id"], number, _plain_title(title), [one for one in above if one != title]), ""
        elif block:
            if before[:1] == "." and was_outside:
                outside.leave()
            yield _block(SpecItem(block, number, before[1:] if before[:1] == "." else "", above), line, lines)
        elif heading:
            depth = len(heading[1])
            headings = [(level, text) for level, text in headings if level < depth] + [(depth, _heading(heading))]
            is_taken = False
        elif item is not None:
            part = part if outside.forwards(line) else _take(item, part, line)
        elif _UNDERLINE.fullmatch(line):
            if was_outside:
                outside.leave()
        elif line.strip():
            is_outside = outside.take(line, number)
        if _UNDERLINE.fullmatch(line):
            is_heading = True
        elif heading:
            before, is_heading = _heading(heading), True
        elif line.strip():
            is_title = not (found or block or (item is not None and part in _LISTS))
            before, is_heading = line.strip() if is_title else "", False
        elif not is_heading:
            before = ""
    if item is not None:
        yield item


def _block(item: SpecItem, line: str, lines: Iterator[tuple[int, str]]) -> SpecItem:
    """Return an item of AsciiDoc with the block or the paragraph below it."""
    for name, said in _ATTRIBUTE.findall(line):
        if name == "status":
            item.status = said or None
        else:
            item.lists[name.capitalize()] = _entries(name.capitalize(), said)
    delimiter = ""
    for _, text in lines:
        if not delimiter and not item.texts and (found := _DELIMITER.fullmatch(text)):
            delimiter = found[1]
        elif text.strip() == delimiter or (not delimiter and not text.strip() and item.texts):
            break
        elif text.strip() or item.texts:
            item.add_text("", text)
    return item


def _block_id(line: str) -> str | None:
    """Return the id of the item that the block below this line is, if it is one."""
    found = _SID.search(line) if _BLOCK_ITEM.fullmatch(line) else None
    return found[1] if found else None


def _heading(found: re.Match[str]) -> str:
    """Return what a heading says, without the marks that may end it too."""
    text = found[2].rstrip()
    return (text.rstrip("#").rstrip() or text)[:_LONGEST_HEADING]


def _plain_title(title: str) -> str:
    if len(title) > _LONGEST_HEADING:
        return title.strip(" #=*_")
    return re.sub(r"\s*\{#[^}]*\}\s*$|\[\[[^\]]*\]\]", "", title).strip(" #=*_")


def _take(item: SpecItem, part: str, line: str) -> str:
    """Take a line of an item, and return which part of it the next line belongs to."""
    found = _PART.fullmatch(line)
    if found is not None:
        name, said = found[1], found[2].strip().removesuffix("-->").strip()
        if name == "Status":
            item.status = said.strip("*_` ") or None
            return ""
        if name in _LISTS:
            item.lists.setdefault(name, []).extend(_entries(name, said))
            return name
        if said:
            item.add_text(name, said)
        return name
    if part in _LISTS:
        entry = _LIST_ITEM.fullmatch(line)
        if entry is not None:
            item.lists.setdefault(part, []).extend(_entries(part, entry[1]))
            return part
        if not line.strip():
            return part
        part = ""
    item.add_text(part, line)
    return part


def _entries(name: str, said: str) -> list[str]:
    if name in ("Covers", "Depends"):
        return _FOUND.findall(said) or ([said.strip()] if said.strip() else [])
    return [word.strip("`* ") for word in said.split(",") if word.strip("`* ")]


def _kind(item: SpecItem, options: ReadOptions) -> ItemKind:
    return "test_case" if item.type.lower() in _TESTS else kind_of(item.type, options.mapping)


def _draft(item: SpecItem, row: int, path: str | None, options: ReadOptions) -> Draft:
    draft = Draft(SYSTEM, _kind(item, options), row, item.line)
    draft.of_type = item.type
    if len(item.id) <= 100:
        draft.external_id = item.id
    draft.title = item.title
    draft.description = "\n\n".join(filter(None, (item.text(""), item.text("Description"))))
    draft.status = item.status
    draft.tags = item.lists.get("Tags", [])
    draft.module = item.section[-1] if item.section else None
    if item.type.lower() in _TECHNICAL and draft.kind == "requirement":
        draft.type = "technical"
    metadata = {
        "id": item.id,
        "type": item.type,
        "revision": item.id.rpartition("~")[2],
        "file": path,
        "sections": [_plain_title(text) for text in item.section],
        "needs": item.lists.get("Needs"),
        "rationale": item.text("Rationale"),
        "comment": item.text("Comment"),
    }
    draft.metadata |= {name: value for name, value in {**item.others, **metadata}.items() if value}
    return draft


FORMAT = Format(
    name="openfasttrace",
    label="OpenFastTrace in Markdown, AsciiDoc or XML",
    media_types=("text/markdown", "text/asciidoc"),
    suffixes=SUFFIXES,
    recognise=recognise,
    recognise_archive=recognise_archive,
    read=read,
)
