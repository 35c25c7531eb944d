"""Proposes a mapping for a table that no preset knows: by what its columns are called and by what stands in them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from catalog_service.exchange.related_names import names_parents
from catalog_service.exchange.tabular.columns import ids_in, is_id
from catalog_service.exchange.tabular.known_headers import LONGEST_HEADER, known_headers
from catalog_service.exchange.tabular.marks import is_result
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposed_kind import are_ids, propose_kind, said_kind
from catalog_service.exchange.tabular.proposed_steps import propose_steps
from catalog_service.exchange.tabular.proposed_values import DEFAULTS, Guess, known_in, knows_any, value_map
from catalog_service.exchange.tabular.settled import settle_repeated_titles, settle_serial_numbers
from catalog_service.exchange.tabular.values import CLOSED, minutes
from catalog_service.exchange.words import fold
from chassis.core.wording import shown

_LONG = 80
_SURE = 0.8
_ITEM_FIELDS = ("external_id", "title", "description", "priority", "type", "status", "module", "tags", "source_url")
_TEST_FIELDS = ("preconditions", "postconditions", "test_data", "automation_status", "execution_time_minutes")
_OF_LINKS = {"type": "link_type", "description": "notes"}
"""What fields of items are called where the rows are links."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CATEGORY = re.compile("categor|catégor|kategor")
_BLOCK = "(?:p|div|span|ul|ol|table|h[1-6]|html|body)"
_HTML = re.compile(rf"<{_BLOCK}\b[^<>]*>.*</{_BLOCK}>", re.I | re.S)
_OF_ITEM = re.compile(r" of (?:(?:the|a|each) )?(?:test case|test|requirement|req|item)s?$")
"""How headers say whose name or text they are of: `Name of the test`."""
_CUSTOM_FIELD = re.compile(r"^custom field \((.+)\)$", re.I)
"""What Jira calls the fields that a project or another tool has added."""
_SOMETIMES_IDS = frozenset({"code", "requirement code", "test case code"})
"""Headers of ids in some tables, and of classes of items in others."""
_ADDRESS = re.compile(r"(www\.|[a-z][a-z0-9+.-]*:)\S+$", re.I)
_OF_STEPS = re.compile(r"(test )?steps?\s*[-/.:>\s]\s*")
_NUMBER_OF_STEP = re.compile(r"\s*([^\W\d]+\s+)?\d+[.:)]?\s*")


@dataclass(slots=True)
class Proposal:
    """A mapping as its JSON, and what each column was taken for, by position.

    `beside` are columns that could be of a field, too: of which one, and the column that was taken for it.
    """

    mapping: dict[str, Any]
    guesses: dict[int, Guess]
    beside: dict[int, tuple[str, int]]


def propose(sample: Sample, *, kind: str = "all", about: str = "", source_system: str | None = None) -> Proposal:
    """Return the likeliest mapping of a table; `about` are the names of its file and sheet."""
    scores = {at: _scores(sample, at) for at in range(len(sample.columns))}
    kind = kind if kind != "all" else propose_kind(sample, scores, about)
    guesses = _assign({at: _of_kind(sample, at, found, kind) for at, found in scores.items()}, kind)
    settle_serial_numbers(sample, guesses)
    settle_repeated_titles(sample, guesses)
    _settle_ids(sample, guesses)
    _settle_two_texts(sample, scores, guesses)
    _settle_two_titles(sample, scores, guesses)
    mapping: dict[str, Any] = {"version": 1, "kind": kind}
    if source_system is not None:
        mapping["source_system"] = source_system
    by_field = {guess.field: at for at, guess in guesses.items()}
    if kind == "links":
        _settle_other_end(sample, by_field, guesses)
        mapping["fields"] = _link_fields(sample, by_field)
        return Proposal(mapping, guesses, {})
    fields = _item_fields(sample, by_field, guesses, kind)
    mapping["fields"] = fields
    if "description" in by_field and _is_html(sample.values(by_field["description"])):
        mapping["markup"] = "html"
    if kind == "test_cases" and (steps := propose_steps(sample, by_field, guesses)) is not None:
        fields["steps"] = steps
    end = "requirements" if kind == "test_cases" else "test_cases"
    if end in by_field:
        mapping["links"] = {end: {"column": sample.reference(by_field[end])}, "link_type": "covers"}
    return Proposal(mapping, guesses, _beside(scores, guesses, kind))


def _beside(
    scores: Mapping[int, Mapping[str, Guess]], guesses: Mapping[int, Guess], kind: str
) -> dict[int, tuple[str, int]]:
    """Return the columns that are called as a field is for which another column was taken."""
    places = {guess.field: at for at, guess in reversed(list(guesses.items()))}
    beside: dict[int, tuple[str, int]] = {}
    for at, found in scores.items():
        best = max(found.values(), key=lambda guess: guess.confidence, default=None)
        is_called_so = best is not None and best.confidence >= _SURE
        if at not in guesses and best is not None and is_called_so and best.field in places:
            beside[at] = (best.field, places[best.field])
    return beside


def _scores(sample: Sample, at: int) -> dict[str, Guess]:
    """Return what a column could be, by field."""
    header = _CUSTOM_FIELD.sub(r"\1", sample.columns.header[at]) if at < len(sample.columns) else ""
    found: dict[str, Guess] = {}
    if not header or len(header) > LONGEST_HEADER or sample.is_of_matrix(at) or names_parents(header):
        return found
    look = fold(header)
    plain = re.sub(r"\s*[(\[].*?[)\]]\s*", " ", look).strip() or look
    for field, order in known_headers().get(look, {}).items():
        found[field] = Guess(field, 0.95 - 0.01 * min(order, 5), f"The header {shown(header)} is a usual name of it.")
    for field, order in known_headers().get(plain, {}).items():
        found.setdefault(field, Guess(field, 0.85 - 0.01 * min(order, 5), f"The header begins with {shown(plain)}."))
    begin = fold(re.split(r"[\n:]", header.strip())[0])
    for field, order in known_headers().get(begin, {}).items():
        found.setdefault(field, Guess(field, 0.8 - 0.01 * min(order, 5), f"The header begins with {shown(begin)}."))
    spaced = fold(_CAMEL.sub(" ", header))
    for field, order in known_headers().get(spaced, {}).items():
        found.setdefault(field, Guess(field, 0.85 - 0.01 * min(order, 5), f"The header says {shown(spaced)}."))
    if of_item := _OF_ITEM.search(spaced):
        whose = spaced[: of_item.start()]
        for field, order in known_headers().get(whose, {}).items():
            found.setdefault(field, Guess(field, 0.8 - 0.01 * min(order, 5), f"The header says {shown(whose)} of it."))
    if of_steps := _OF_STEPS.match(spaced):
        for field in {*known_headers().get(spaced[of_steps.end() :], {})} & {"action", "expected", "data"}:
            found.setdefault(field, Guess(field, 0.85, f"The header {shown(header)} speaks of steps."))
    parts = re.split(r"[\s:/,.\-]+", spaced)
    for word in (parts[0], parts[-1]) if len(parts) <= 6 else ():
        for field in known_headers().get(word, {}):
            found.setdefault(field, Guess(field, 0.5, f"The header {shown(header)} has the word {shown(word)}."))
    if parts[0] == "parent":
        found.pop("external_id", None)
    values = sample.values(at)
    if look in _SOMETIMES_IDS and not (are_ids(values) and len(set(values)) == len(values)):
        found.pop("external_id", None)
    keys = sample.values_beside_others(at) or values
    return {field: guess for field, guess in found.items() if _fits(field, keys if field == "external_id" else values)}


def _fits(field: str, values: list[str]) -> bool:
    """Check whether what stands in a column can be of a field."""
    if not values:
        return True
    longest = max(map(len, values))
    if field == "external_id":
        ids = sum(map(is_id, values))
        return ids >= 0.8 * len(values) and len(set(values)) > 0.3 * len(values)
    if field in CLOSED["test_cases"] or field in {"link_type"}:
        return longest <= 60 and len(set(values)) <= max(12, len(values) // 4)
    if field == "module":
        return longest <= 200
    if field == "expected":
        return not all(map(is_result, values))
    if field == "action":
        return not all(map(_NUMBER_OF_STEP.fullmatch, values))
    if field == "source_url":
        return any(map(_ADDRESS.match, values))
    if field in {"requirements", "test_cases"}:
        return _average(values) <= 60 or are_ids(values)
    if field == "execution_time_minutes":
        return all(isinstance(minutes(value), int) for value in values)
    return True


def _of_kind(sample: Sample, at: int, guesses: Mapping[str, Guess], kind: str) -> Mapping[str, Guess]:
    """Return what a column can be among rows of a kind: what the other kind is named by are ends of links."""
    said = said_kind(sample.columns.header[at])
    if kind == "links":
        end = guesses.get("external_id") or guesses.get(said)
        if said and end is not None and are_ids(sample.values(at)):
            return {said: replace(end, field=said)}
        of_links = {
            _OF_LINKS.get(field, field): replace(guess, field=_OF_LINKS.get(field, field))
            for field, guess in guesses.items()
        }
        return {**of_links, **{field: guess for field, guess in guesses.items() if field not in _OF_LINKS}}
    if said in {"", kind}:
        return guesses
    texts = {"description"} if _average(sample.values(at)) > _LONG / 2 else set()
    return {field: guess for field, guess in guesses.items() if field in {said, *texts, *CLOSED["test_cases"]}}


def _assign(scores: Mapping[int, Mapping[str, Guess]], kind: str) -> dict[int, Guess]:
    """Return one field a column and one column a field, the surest first."""
    wanted = {
        "requirements": {*_ITEM_FIELDS, "test_cases", "source_system", "created_by", "custom_metadata"},
        "test_cases": {
            *_ITEM_FIELDS,
            *_TEST_FIELDS,
            "action",
            "expected",
            "data",
            "requirements",
            "source_system",
            "created_by",
            "custom_metadata",
        },
        "links": {"requirements", "test_cases", "link_type", "notes"},
    }[kind]
    ranked = sorted(
        ((guess.confidence, -at, at, guess) for at, guesses in scores.items() for guess in guesses.values()),
        key=lambda entry: entry[:2],
        reverse=True,
    )
    taken: dict[int, Guess] = {}
    fields: set[str] = set()
    for _, _, at, guess in ranked:
        if guess.field in wanted and guess.field not in fields and at not in taken:
            taken[at] = guess
            fields.add(guess.field)
    return taken


def _item_fields(
    sample: Sample, by_field: dict[str, int], guesses: dict[int, Guess], kind: str
) -> dict[str, dict[str, Any]]:
    _settle_texts(sample, by_field, guesses)
    _settle_category(sample, by_field, guesses, kind)
    fields: dict[str, dict[str, Any]] = {}
    names = (
        *_ITEM_FIELDS,
        "source_system",
        "created_by",
        "custom_metadata",
        *(_TEST_FIELDS if kind == "test_cases" else ()),
    )
    for name in names:
        if name in by_field:
            at = by_field[name]
            rule: dict[str, Any] = {"column": sample.reference(at)}
            spanned = _spanned(sample, at) if name == "description" else []
            if spanned:
                rule = {"columns": [sample.reference(place) for place in (at, *spanned)], "join": "\n"}
                guesses.update(
                    {
                        place: Guess(name, 0.7, "Its header is blank; it goes on with the texts left of it.")
                        for place in spanned
                    }
                )
            if name in CLOSED[kind]:
                rule["values"], guesses[at] = value_map(sample.values(at), kind, name, guesses[at])
                rule["known_words"] = True
            elif name == "tags":
                alike = sample.columns.all_named(sample.columns.header[at])
                if len(alike) > 1:
                    rule = {"columns_named": sample.columns.header[at]}
                    guesses.update(dict.fromkeys(alike, guesses[at]))
                rule["split"] = separator([value for place in alike for value in sample.values(place)])
            elif name == "module" and sample.says_once(at):
                rule["fill_down"] = True
            fields[name] = rule
        elif name in {"type", "priority"}:
            fields[name] = {"constant": DEFAULTS[name]}
    for name, other in (("title", "description"), ("description", "title")):
        if other in by_field:
            fields.setdefault(name, {})["default_from"] = other
    if {"title", "description"} <= by_field.keys() and not _has_texts_without_title(sample, by_field):
        del fields["title"]["default_from"]
    return {name: rule for name, rule in fields.items() if rule}


def _has_texts_without_title(sample: Sample, by_field: Mapping[str, int]) -> bool:
    """Check whether texts without a title are usual in a table, where titles are those of chapters."""
    title, description = by_field["title"], by_field["description"]
    titles = [cells[title].strip() for cells in sample.rows if cells[description].strip()]
    return len(titles) > 1 and titles.count("") >= len(titles) / 2


def _is_html(values: list[str]) -> bool:
    """Check whether texts are HTML throughout: each lies between tags, as tools with an editor for it export them."""
    return bool(values) and all(_HTML.fullmatch(value.strip()) for value in values)


def _spanned(sample: Sample, at: int) -> list[int]:
    """Return the columns without a header right of a column of texts that have texts, too: its header spans them."""
    spanned = []
    for place in range(at + 1, len(sample.columns)):
        if sample.columns.header[place]:
            break
        if _average(sample.values(place)) > 20:
            spanned.append(place)
    return spanned


def _settle_ids(sample: Sample, guesses: dict[int, Guess]) -> None:
    """Take what is called a tag for the id where no other column is one, and each row has another."""
    places = {guess.field: at for at, guess in guesses.items()}
    at = places.get("tags")
    if at is None or "external_id" in places or fold(sample.columns.header[at]) != "tag":
        return
    values = sample.values(at)
    if are_ids(values) and 1 < len(values) == len(set(values)):
        guesses[at] = Guess("external_id", 0.7, "Each row has a tag of its own, and no other column is an id.")


def _settle_two_texts(sample: Sample, scores: Mapping[int, Mapping[str, Guess]], guesses: dict[int, Guess]) -> None:
    """Take the shorter of two columns for the title where both are called as descriptions are."""
    places = {guess.field: at for at, guess in guesses.items()}
    if "title" in places or "description" not in places:
        return
    others = [at for at, found in scores.items() if at not in guesses and "description" in found]
    others = [at for at in others if scores[at]["description"].confidence >= _SURE]
    if others:
        pair = sorted((places["description"], others[0]), key=lambda at: (_average(sample.values(at)), at))
        for at, name, look in zip(pair, ("title", "description"), ("shorter", "longer"), strict=True):
            guesses[at] = Guess(name, 0.7, f"Two columns are called as descriptions are; its texts are the {look}.")


def _settle_two_titles(sample: Sample, scores: Mapping[int, Mapping[str, Guess]], guesses: dict[int, Guess]) -> None:
    """Take a second column that is called as titles are, such as a summary beside a name, for the description."""
    fields = {guess.field for guess in guesses.values()}
    if "title" not in fields or "description" in fields:
        return
    for at, found in scores.items():
        if at not in guesses and "title" in found and found["title"].confidence >= _SURE and sample.values(at):
            title = next(place for place, guess in guesses.items() if guess.field == "title")
            if _is_html(sample.values(title)) and not _is_html(sample.values(at)):
                guesses[at], at = replace(found["title"]), title
            guesses[at] = Guess("description", 0.7, "Two columns are called as titles are; it is the second of them.")
            return


def _settle_category(sample: Sample, by_field: dict[str, int], guesses: dict[int, Guess], kind: str) -> None:
    """Take a category for the module where it says nothing of types: tools call either so."""
    at = by_field.get("type")
    if at is None or "module" in by_field or _CATEGORY.search(fold(sample.columns.header[at])) is None:
        return
    values = sample.values(at)
    if values and not knows_any(values, kind, "type"):
        guesses[at] = Guess("module", 0.6, "It is called a category, and none of its values is a type.")
        by_field["module"] = by_field.pop("type")


def _settle_texts(sample: Sample, by_field: dict[str, int], guesses: dict[int, Guess]) -> None:
    """Decide which column is the title and which the description, by how long their texts are."""
    if "title" in by_field and "description" not in by_field:
        at = by_field["title"]
        values = sample.values(at)
        if values and (_average(values) > _LONG or max(map(len, values)) > 500):
            guesses[at] = Guess("description", 0.7, "Its texts are too long for titles, which are cut from them.")
            by_field["description"] = by_field.pop("title")
    if "title" in by_field and "description" not in by_field:
        _settle_description(sample, by_field, guesses)
    if "title" in by_field or "description" in by_field:
        return
    places = range(len(sample.columns))
    free = [at for at in places if at not in guesses and sample.values(at) and not sample.is_of_matrix(at)]
    if free:
        at = max(free, key=lambda at: (_average(sample.values(at)), -at))
        name = "description" if _average(sample.values(at)) > _LONG else "title"
        guesses[at] = Guess(name, 0.4, "No header says what it is; its texts are the longest.")
        by_field[name] = at


def _settle_description(sample: Sample, by_field: dict[str, int], guesses: dict[int, Guess]) -> None:
    """Take long texts that no other field is called by for the description: of several columns the longest."""
    title = _average(sample.values(by_field["title"]))
    free = [at for at in range(len(sample.columns)) if at not in guesses and _are_sentences(sample.values(at))]
    at = max(free, key=lambda at: (_average(sample.values(at)), -at), default=None)
    if at is not None and _average(sample.values(at)) > title:
        guesses[at] = Guess("description", 0.7, "No header says what it is; its texts are the longest.")
        by_field["description"] = at


def _are_sentences(values: list[str]) -> bool:
    """Check whether texts are long and hardly one of them stands twice."""
    return bool(values) and _average(values) > _LONG / 2 and len(set(values)) > 0.8 * len(values)


def _settle_other_end(sample: Sample, by_field: dict[str, int], guesses: dict[int, Guess]) -> None:
    """Take another column of ids for the end that no header names, where one names the other."""
    for end, other in (("requirements", "test_cases"), ("test_cases", "requirements")):
        if end in by_field and other not in by_field:
            places = (at for at in range(len(sample.columns)) if at not in by_field.values())
            at = next((at for at in places if are_ids(sample.values(at))), None)
            if at is not None:
                by_field[other] = at
                guesses[at] = Guess(other, 0.7, "Its cells are ids, beside those of the other end.")
            return


def _link_fields(sample: Sample, by_field: dict[str, int]) -> dict[str, dict[str, Any]]:
    names = {"requirements": "requirement", "test_cases": "test_case"}
    fields: dict[str, dict[str, Any]] = {}
    for field, at in by_field.items():
        fields[names.get(field, field)] = {"column": sample.reference(at)}
        if field in names and any(map(_is_list_of_ids, sample.values(at))):
            fields[names[field]]["split"] = separator(sample.values(at))
        if field == "link_type":
            fields[field]["values"] = {**known_in(sample.values(at)), "*": "covers"}
    return fields


def _is_list_of_ids(text: str) -> bool:
    ids = ids_in(text)
    return len(ids) > 1 and all(map(is_id, ids))


def separator(values: list[str]) -> str:
    """Return what parts of a cell stand between: the separator that most cells have."""
    counts = {separator: sum(separator in value for value in values) for separator in (",", ";", "\n", "|")}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else ","


def _average(values: list[str]) -> float:
    return sum(map(len, values)) / len(values) if values else 0
