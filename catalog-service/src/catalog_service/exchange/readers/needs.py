"""sphinx-needs: needs.json, a version of a documentation and all its needs."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, TypeGuard

import ijson

from catalog_service.exchange.broken_json import NO_JSON, broken_json
from catalog_service.exchange.formats import Format, ReadOptions
from catalog_service.exchange.native.json_depth import ShallowJson
from catalog_service.exchange.native.reading import MAX_RECORD
from catalog_service.exchange.native.surrogates import WholePairs
from catalog_service.exchange.readers.items import LONGEST_TEXT, Draft, Relations, as_asked, is_blank, kind_of, plain
from catalog_service.exchange.records import Notice, Record, Remark, Unreadable
from chassis.core.wording import kind_of as kind_of_value
from chassis.core.wording import shown

SYSTEM = "needs"
# Numbers are read as floats (use_float): without it, ijson ends the process at a whole number of 4,301 digits.
_DEEPEST = 40
_BOM = b"\xef\xbb\xbf"
_TECHNICAL = {"spec", "impl", "arch", "swarch", "sysarch", "dsn", "design", "interface", "component", "unit"}
_TAKEN = {"id", "title", "type", "description", "content", "status", "tags", "priority", "sections"}
_BUILDERS = {
    "is_need": True,
    "external_css": "external_link",
    "constraints_passed": True,
}
"""What the builder writes of every need and no person has said."""
_SAME = {"full_title": "title", "content_id": "id", "target_id": "id"}
_VERIFYING = {"tests", "verifies", "checks", "verified_by", "tested_by", "checked_by", "test"}
_VALIDATING = {"validates", "validated_by"}
_PARENTS = {"links", "parent_needs", "parent_need"}
"""Fields that name what a need is below."""
_LINKS = {*_PARENTS, *_VERIFYING, *_VALIDATING}


def recognise(file: BinaryIO, name: str) -> float:
    """Return how sure it is that a file is a needs.json: by the names in its first bytes."""
    head = file.read(65536).removeprefix(_BOM)
    if not head.lstrip().startswith(b"{") or b'"versions"' not in head:
        return 0.0
    return 0.95 if b'"needs"' in head and b'"current_version"' in head else 0.6 * (b'"needs"' in head)


@as_asked
def read(file: BinaryIO, options: ReadOptions) -> Iterator[Record]:
    """Read the needs of the current version, else of the last one; then the links between them."""
    start = _start(file)
    try:
        yield from _records(file, start, options)
    except NO_JSON as error:
        raise broken_json(file, start, error) from None


def _start(file: BinaryIO) -> int:
    file.seek(0)
    start = len(_BOM) if file.read(3) == _BOM else 0
    file.seek(start)
    return start


def _records(file: BinaryIO, start: int, options: ReadOptions) -> Iterator[Record]:
    outline = _Outline(options.mapping)
    try:
        for event, value in ijson.basic_parse(ShallowJson(WholePairs(file), MAX_RECORD, levels=4), use_float=True):
            outline.take(event, value)
    except NO_JSON:
        if not (options.is_beginning and outline.needs):
            raise
    version = outline.version()
    relations = outline.relations(version)
    left_out = sum(len(needs) for name, needs in outline.needs.items() if name != version)
    if left_out:
        yield Notice(
            "version_not_taken",
            f"The version {shown(version)} of the documentation was read; {left_out} needs of other versions were not.",
            left_out,
        )
    file.seek(start)
    for row, (name, need) in enumerate(ijson.kvitems(file, f"versions.{version}.needs", use_float=True), start=1):
        if not isinstance(need, dict):
            raise Unreadable(f"The need {shown(name)} is {kind_of_value(need)}, not an object.")
        yield _draft(name, need, row, relations, options).item()
    yield from relations.links()


class _Outline:
    """The versions of a file and the types of their needs, from one reading in which no need is kept."""

    def __init__(self, mapping: Mapping[str, Any] | None) -> None:
        self._mapping = mapping
        self._path: list[str | None] = []
        self._key: str | None = None
        self.current: str | None = None
        self.needs: dict[str, dict[str, str]] = {}

    def take(self, event: str, value: Any) -> None:
        """Take the next event of the file; raise Unreadable where it cannot be a needs.json."""
        path = self._path
        if event == "map_key":
            if len(value) > LONGEST_TEXT:
                raise Unreadable("A name in the file has more than a million characters.", code="too_long")
            self._key = value
            if len(path) == 4 and path[1] == "versions" and path[3] == "needs":
                self.needs[str(path[2])].setdefault(value, "")
        elif event in ("start_map", "start_array"):
            path.append(self._key)
            self._key = None
            if len(path) > _DEEPEST:
                raise Unreadable(f"The file is nested deeper than {_DEEPEST} levels.", code="too_deep")
            self._check_shape(event)
        elif event in ("end_map", "end_array"):
            path.pop()
        elif event == "string":
            if len(value) > LONGEST_TEXT:
                raise Unreadable(
                    f"A text in the file has {len(value)} characters; at most {LONGEST_TEXT} can be read.",
                    code="too_long",
                )
            if len(path) == 1 and self._key == "current_version":
                self.current = value
            elif len(path) == 5 and self._key == "type" and path[1] == "versions" and path[3] == "needs":
                self.needs[str(path[2])][str(path[4])] = value

    def _check_shape(self, event: str) -> None:
        path = self._path
        inside = {1: True, 2: path[1:2] == ["versions"], 3: path[1:2] == ["versions"]}.get(len(path), False)
        if len(path) == 4 and path[1] == "versions" and path[3] == "needs":
            inside = True
            self.needs.setdefault(str(path[2]), {})
        if inside and event == "start_array":
            what = path[-1] or "the file"
            raise Unreadable(f"In a needs.json, {shown(what)} is an object, not a list.")

    def version(self) -> str:
        """Return the version to read."""
        if self.current in self.needs:
            return str(self.current)
        if not self.needs:
            raise Unreadable('The file has no "versions" with "needs" in them: it is no needs.json.')
        return list(self.needs)[-1]

    def relations(self, version: str) -> Relations:
        """Return the needs of a version as ends of relations."""
        relations = Relations()
        for name, need_type in self.needs[version].items():
            relations.know(name, kind_of(need_type, self._mapping))
        return relations


def _draft(name: str, need: dict[str, Any], row: int, relations: Relations, options: ReadOptions) -> Draft:
    need_type = _text(need.get("type"))
    draft = Draft(SYSTEM, kind_of(need_type, options.mapping), row)
    draft.external_id = name
    draft.of_type = need_type or None
    for field in ("id", "title", "type", "status"):
        if not isinstance(need.get(field), str | None):
            draft.problems.append(Remark("not_a_text", f"{field} is {kind_of_value(need[field])}, not a text.", field))
    draft.title = _text(need.get("title"))
    draft.description = _text(need.get("content")) or _text(need.get("description"))
    draft.status = _text(need.get("status"))
    draft.priority = _text(need.get("priority"))
    if need_type in _TECHNICAL and draft.kind == "requirement":
        draft.type = "technical"
    draft.tags, odd_tags = _texts(need.get("tags"))
    sections, _ = _texts(need.get("sections"))
    draft.module = sections[-1] if sections else _text(need.get("docname"))
    if isinstance(need.get("external_url"), str) and need["external_url"].strip():
        draft.others["source_url"] = need["external_url"]
    draft.metadata["type"] = need_type
    if need.get("id") not in (None, name):
        draft.metadata["id"] = plain(need["id"])
    if len(sections) > 1:
        draft.metadata["sections"] = sections
    if odd_tags:
        draft.metadata["tags"] = plain(odd_tags)
    _keep_rest(draft, need, relations)
    return draft


def _keep_rest(draft: Draft, need: dict[str, Any], relations: Relations) -> None:
    """Make links of the relations that are links, and keep every other field in the metadata."""
    for field, value in need.items():
        if field in _TAKEN or is_blank(value) or _BUILDERS.get(field) == value:
            continue
        if field == "external_url" and "source_url" in draft.others:
            continue
        if field.endswith("_back") and field[:-5] in need:
            continue  # the other end says it
        if field in _SAME and value == need.get(_SAME[field]):
            continue
        if field == "section_name" and [value] == _texts(need.get("sections"))[0][:1]:
            continue
        if isinstance(value, str) and field in _LINKS:
            value = _split(value, field, relations)
        if _is_relation(value, field, relations):
            link_type = "verifies" if field in _VERIFYING else "validates" if field in _VALIDATING else "covers"
            others = [
                target
                for target in value
                if not relations.relate(draft, _need_of(target), link_type)
                and not _put_below(draft, field, _need_of(target), relations)
            ]
            draft.keep_relations(field, others)
            _tell_of_parts(draft, field, [target for target in value if target not in others])
            continue
        if _names_needs(value) and f"{field}_back" in need:
            draft.keep_relations(field, value)
            continue
        if field == "parts":
            draft.relations += _count_relations_of_parts(value, relations)
        draft.metadata[field] = plain(value)
    draft.metadata = {field: value for field, value in draft.metadata.items() if not is_blank(value)}


def _put_below(draft: Draft, field: str, target: str, relations: Relations) -> bool:
    if field in _PARENTS:
        return relations.put_below(draft, target)
    # Of what another field says, the other need must be there: it may be one of any kind.
    return relations.kind(target) is not None and relations.put_below(draft, target, "related", field)


def _split(value: str, field: str, relations: Relations) -> list[str] | str:
    """Return the needs that a text names, as in the directives of needs, or the text where it is another."""
    targets = [target.strip() for target in re.split("[,;]", value)]
    is_said = field in _PARENTS or all(relations.kind(_need_of(target)) for target in targets if target)
    return targets if is_said else value


def _tell_of_parts(draft: Draft, field: str, linked: list[str]) -> None:
    """Warn of links that name a part of a need, and are made to the whole of it."""
    for target in linked:
        if (need := _need_of(target)) != target:
            message = f"{field} names {shown(target)}, a part: the link is made to the whole need, {shown(need)}."
            draft.warnings.append(Remark("part_of_need", message, field))


def _count_relations_of_parts(parts: Any, relations: Relations) -> int:
    """Return how many relations the parts of a need have, which are kept as they are."""
    fields = [
        (field, value)
        for part in (parts.values() if isinstance(parts, dict) else ())
        for field, value in (part.items() if isinstance(part, dict) else ())
        if not field.endswith("_back")
    ]
    return sum(len(value) for field, value in fields if _is_relation(value, field, relations))


def _is_relation(value: Any, field: str, relations: Relations) -> bool:
    """Check whether a field names needs: those of the file, or `links` of which others may have the other end."""
    if not _names_needs(value):
        return False
    return field in _LINKS or any(relations.kind(_need_of(item)) for item in value)


def _names_needs(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(target, str) for target in value)


def _need_of(target: str) -> str:
    """Return the id of the need of which a part is named: `REQ_1.2` is the part 2 of REQ_1."""
    return target.split(".", 1)[0]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _texts(value: Any) -> tuple[list[str], Any]:
    """Return the texts of a list, and the value where it is none."""
    if isinstance(value, list) and all(isinstance(member, str) for member in value):
        return value, None
    return [], None if is_blank(value) else value


FORMAT = Format(
    name="needs",
    label="sphinx-needs needs.json",
    media_types=("application/json",),
    suffixes=("needs.json",),
    recognise=recognise,
    read=read,
)
