"""Proposes how rows are read that are of both kinds: each is of one by its type, or has a requirement and a test."""

from dataclasses import dataclass, replace
from typing import Any

from catalog_service.exchange.tabular.choosing import completed
from catalog_service.exchange.tabular.columns import Columns, is_id
from catalog_service.exchange.tabular.kinds import kind_columns, role_of_type
from catalog_service.exchange.tabular.known_headers import known_headers
from catalog_service.exchange.tabular.mapping import parse_mapping
from catalog_service.exchange.tabular.marks import is_result
from catalog_service.exchange.tabular.presets import Sample, find_preset, resolve
from catalog_service.exchange.tabular.proposals import propose
from catalog_service.exchange.tabular.proposed_kind import are_ids, said_kind
from catalog_service.exchange.tabular.record_mapping import TypesRule
from catalog_service.exchange.tabular.start import Chosen
from catalog_service.exchange.words import fold

_KINDS = ("requirements", "test_cases")
_OF_TESTS = frozenset({"action", "expected", "data", "preconditions", "postconditions", "automation_status"})
_TESTED = frozenset({"outward issue link (tests)", "outward issue link (test)", "outward issue link (tested by)"})


@dataclass(slots=True)
class _Some(Sample):
    """Some columns of a table, called as in the whole of it."""

    whole: Sample

    def reference(self, position: int) -> str | int:
        """Return what a mapping calls a column."""
        return self.whole.reference(position)


def choose_by_types(sample: Sample, source_system: str | None) -> list[Chosen] | None:
    """Return how a table is read whose rows are of both kinds, by what a column says of each; None for others."""
    for at in kind_columns(sample.columns):
        values = [value.strip() for value in sample.values(at)]
        roles = {value: role for value in dict.fromkeys(values) if (role := role_of_type(value)) is not None}
        if not set(_KINDS) <= set(roles.values()):
            continue
        rule = TypesRule.model_validate({"column": sample.reference(at), "roles": roles})
        chosen = []
        for kind in _KINDS:
            rows = [cells for cells in sample.rows if roles.get(cells[at].strip()) == kind]
            chosen.append(replace(_choose_kind(Sample(sample.columns, rows), at, kind, source_system), types=rule))
        return chosen
    return None


def _choose_kind(sample: Sample, types_at: int, kind: str, source_system: str | None) -> Chosen:
    """Return how the rows of one kind are read; what the column `types_at` says of them stays further data."""
    preset = find_preset(sample.columns)
    if preset is not None and preset.mapping["kind"] == kind:
        return Chosen(parse_mapping(completed(resolve(preset, sample), sample)), preset.name)
    if preset is not None:
        source_system = source_system or preset.mapping["source_system"]
    others = [at for at in range(len(sample.columns)) if at != types_at]
    proposal = propose(_part(sample, others), kind=kind, source_system=source_system)
    mapping = proposal.mapping
    name = next((name for name in sample.columns.header if fold(name) in _TESTED), None)
    if kind == "test_cases" and name is not None and "links" not in mapping:
        mapping["links"] = {"requirements": {"columns_named": name}, "link_type": "verifies"}
    return Chosen(parse_mapping(completed(mapping, sample)), None, proposal.guesses)


def choose_pairs(sample: Sample, source_system: str | None) -> list[Chosen] | None:
    """Return how a table is read whose rows have a requirement, a test case and so their link; None for others."""
    groups = _groups(sample)
    ids = {kind: next((at for at in groups[kind] if _are_keys(sample, at, kind)), None) for kind in _KINDS}
    id_of_requirement, id_of_test = ids["requirements"], ids["test_cases"]
    if (
        id_of_requirement is None
        or id_of_test is None
        or not all(_has_text(sample, groups[kind], kind) for kind in _KINDS)
    ):
        return None
    chosen = []
    for kind in _KINDS:
        part = _part(sample, groups[kind])
        proposal = propose(part, kind=kind, source_system=source_system)
        mapping = proposal.mapping
        if "external_id" not in mapping["fields"]:
            return None
        if kind == "test_cases":
            end: dict[str, Any] = {"column": sample.reference(id_of_requirement)}
            if sample.has_blocks(id_of_requirement):
                end["fill_down"] = True
            mapping["links"] = {"requirements": end, "link_type": "covers"}
        chosen.append(Chosen(parse_mapping(mapping), None, proposal.guesses, repeats=kind == "requirements"))
    chosen[1].guesses.pop(id_of_requirement, None)
    return chosen


def _groups(sample: Sample) -> dict[str, list[int]]:
    """Return which columns are of which kind: by their headers, else as the one before, or as their values say."""
    groups: dict[str, list[int]] = {kind: [] for kind in _KINDS}
    header = sample.columns.header
    kind = next(filter(None, map(said_kind, header)), "requirements")
    for at, name in enumerate(header):
        kind = said_kind(name) or kind
        values = sample.values(at)
        is_of_tests = bool(_OF_TESTS & known_headers().get(fold(name), {}).keys()) and not said_kind(name)
        groups["test_cases" if is_of_tests or (values and all(map(is_result, values))) else kind].append(at)
    return groups


def _are_keys(sample: Sample, at: int, kind: str) -> bool:
    """Check whether a column that is called as items of a kind are has one key in each cell."""
    values = sample.values(at)
    return said_kind(sample.columns.header[at]) == kind and are_ids(values) and all(map(is_id, values))


def _has_text(sample: Sample, places: list[int], kind: str) -> bool:
    """Check whether a column that is called as items of a kind are says what they are."""
    return any(
        said_kind(sample.columns.header[at]) == kind and sample.values(at) and not are_ids(sample.values(at))
        for at in places
    )


def _part(sample: Sample, places: list[int]) -> Sample:
    kept = set(places)
    header = [name if at in kept else "" for at, name in enumerate(sample.columns.header)]
    rows = [[cell if at in kept else "" for at, cell in enumerate(cells)] for cells in sample.rows]
    columns = Columns(header)
    width = len(columns)
    return _Some(columns, [[*cells, *[""] * (width - len(cells))] for cells in rows], sample)
