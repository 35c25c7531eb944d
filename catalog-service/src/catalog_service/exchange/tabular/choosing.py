"""Chooses how a table is read for which no mapping was given: our own, a preset's, or the likeliest one."""

import copy
from dataclasses import replace
from typing import Any

from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.tabular.kinds import kind_of_all
from catalog_service.exchange.tabular.known_headers import is_known_header, names_no_record
from catalog_service.exchange.tabular.mapper import PROBLEM
from catalog_service.exchange.tabular.mapping import parse_mapping
from catalog_service.exchange.tabular.own import LONG_TEXTS, has_our_names, own_mapping
from catalog_service.exchange.tabular.own import NAME as OWN
from catalog_service.exchange.tabular.presets import Sample, find_preset, get_preset, resolve
from catalog_service.exchange.tabular.proposals import Proposal, propose
from catalog_service.exchange.tabular.proposed_levels import take_levels
from catalog_service.exchange.tabular.proposed_values import Guess
from catalog_service.exchange.tabular.start import Chosen, Start
from catalog_service.exchange.words import fold
from catalog_service.fields.definitions import PREFIX

_SURE = 0.65
"""How sure the names of columns are that make a table more than a list of anything."""
_ITEMS = {"requirements": "requirement", "test_cases": "test_case"}
_KNOWN_BY = frozenset({"external_id", "title", "description", "requirements", "test_cases", "steps", "expected"})
"""What a column stays that is called as a field of the project, too."""
_RECOGNISED = 2
"""What a sheet says of itself counts from so many known columns on."""


def best(starts: list[Start], options: ReadOptions) -> Start:
    """Return which sheet is read: the one that is recognised best, of those of the kind that is asked for."""
    of_kind: list[Start] = []
    if len(starts) > 1 and options.kind != "all" and options.mapping is None:
        by_themselves = replace(options, kind="all")
        of_kind = [start for start in starts if choose(start, by_themselves).mapping.kind == options.kind]
    return max([start for start in of_kind if recognised(start) >= _RECOGNISED] or starts, key=recognised)


def recognised(start: Start) -> float:
    """Return how much of a table is recognised."""
    if start.is_own:
        return 1000 - 500 * (start.table.name == LONG_TEXTS) + len(start.columns)
    known = sum(map(is_known_header, start.columns.header))
    preset = find_preset(start.columns) is not None
    return known + 10 * preset - (50 if not start.sample.rows else 0)


def is_own(start: Start) -> bool:
    """Check whether a table is of our own, with the mark or without it."""
    return start.is_own or has_our_names(start.columns.header, start.sample.rows)


def choose(start: Start, options: ReadOptions) -> Chosen:
    """Return the mapping of a table for which none was given."""
    named = (options.mapping or {}).get("preset")
    if named == OWN or (named is None and is_own(start)):
        return Chosen(parse_mapping(own_mapping(start.columns, options.fields)), OWN)
    preset = find_preset(start.columns) if named is None else get_preset(named)
    kind = options.kind if options.kind != "all" else kind_of_all(start.sample) or "all"
    if preset is not None and (named is not None or kind in ("all", preset.mapping["kind"])):
        resolved, guesses = copy.deepcopy(resolve(preset, start.sample)), dict[int, Guess]()
        _with_fields(resolved, start.sample, options, guesses)
        take_levels(resolved, start.sample, options.levels, guesses)
        return Chosen(parse_mapping(completed(resolved, start.sample)), preset.name, guesses)
    about = f"{options.file_name or ''} | {start.table.name or ''}"
    source_system = options.source_system or (preset.mapping["source_system"] if preset is not None else None)
    proposal: Proposal = propose(start.sample, kind=kind, about=about, source_system=source_system)
    _with_fields(proposal.mapping, start.sample, options, proposal.guesses)
    take_levels(proposal.mapping, start.sample, options.levels, proposal.guesses)
    mapping = parse_mapping(completed(proposal.mapping, start.sample))
    return Chosen(mapping, None, proposal.guesses, proposal.beside)


def choose_of_kind(start: Start, kind: str, options: ReadOptions) -> Chosen:
    """Return the mapping of a table whose rows are said to be of a kind."""
    return choose(start, replace(options, kind=kind))


def _with_fields(mapping: dict[str, Any], sample: Sample, options: ReadOptions, guesses: dict[int, Guess]) -> None:
    """Have columns that are called as a field of the project become it, but for those by which items are known."""
    kind = _ITEMS.get(mapping["kind"])
    if kind is None:
        return
    fields = mapping["fields"]
    by_look = {fold(said): field for field in options.fields if kind in field.of for said in (field.key, field.name)}
    taken = {str(rule.get("column")) for rule in fields.values() if isinstance(rule, dict)}
    for at in range(len(sample.columns)):
        field = by_look.get(fold(sample.columns.header[at].removeprefix(PREFIX)))
        guess = guesses.get(at)
        if field is None or f"{PREFIX}{field.key}" in fields or (guess is None and sample.columns.header[at] in taken):
            continue
        if guess is not None:
            if guess.field in _KNOWN_BY or "column" not in fields.get(guess.field, {}):
                continue
            del fields[guess.field]
        fields[f"{PREFIX}{field.key}"] = {"column": sample.reference(at)}
        guesses[at] = Guess(f"{PREFIX}{field.key}", 1.0, f"The project has a field {field.name}.")


def completed(mapping: dict[str, Any], sample: Sample) -> dict[str, Any]:
    """Return a mapping with what all files have in common whose rows are sent once or again."""
    header = sample.columns.header
    if header and header[-1] == PROBLEM:
        mapping = {**mapping, "ignore": [*mapping.get("ignore", ()), sample.reference(len(header) - 1)]}
    return _add_key(mapping, sample)


def _add_key(mapping: dict[str, Any], sample: Sample) -> dict[str, Any]:
    """Return a mapping by which a file without ids can be imported again, where its titles tell its items apart."""
    fields = mapping["fields"]
    if mapping["kind"] == "links" or "external_id" in fields:
        return mapping
    places = {
        name: at
        for name in ("title", "module")
        if "column" in fields.get(name, {}) and (at := sample.columns.find(fields[name]["column"])) is not None
    }
    if "title" not in places or "fill_down" in fields.get("module", {}):
        return mapping
    found = [tuple(cells[at] for at in places.values()) for cells in sample.rows if cells[places["title"]].strip()]
    return {**mapping, "key": list(places)} if len(set(found)) == len(found) else mapping


def holds_record(start: Start, chosen: Chosen) -> bool:
    """Check whether a table beside the main one has items or links: by columns whose names are known, and rows."""
    fields = chosen.mapping.fields
    if not start.has_rows or names_no_record(start.table.name):
        return False
    if chosen.preset is not None:
        return True
    if chosen.mapping.kind == "links":
        return {"requirement", "test_case"} <= fields.keys()
    sure = {guess.field for guess in chosen.guesses.values() if guess.confidence >= _SURE}
    return "external_id" in sure and bool({"title", "description"} & sure)
