"""Proposes how a table is read whose cells are keys of items: as a matrix of marks, or as a table of links."""

from typing import Any

from catalog_service.exchange.tabular.columns import ids_in
from catalog_service.exchange.tabular.keys import Keys
from catalog_service.exchange.tabular.known_headers import known_headers
from catalog_service.exchange.tabular.mapping import Mapping, parse_mapping
from catalog_service.exchange.tabular.marks import are_marks
from catalog_service.exchange.tabular.presets import Sample
from catalog_service.exchange.tabular.proposals import propose, separator
from catalog_service.exchange.tabular.proposed_kind import are_ids, is_id_of_test, said_kind
from catalog_service.exchange.tabular.proposed_values import Guess
from catalog_service.exchange.tabular.record_mapping import MatrixRule
from catalog_service.exchange.tabular.start import Chosen
from catalog_service.exchange.words import fold

_OTHER = {"requirements": "test_cases", "test_cases": "requirements"}
_ENDS = {"requirements": "requirement", "test_cases": "test_case"}
_WORDS = {"requirements": "requirements", "test_cases": "test cases"}
_FEWEST_MARKED = 2
"""Columns of marks that are called as items are, where these are not in the file."""


def choose_matrix(sample: Sample, keys: Keys, *, own_at: int | None = None, own_kind: str = "") -> Chosen | None:
    """Return how a table is read whose headers are keys and whose cells are marks; None where it is none.

    `own_at` is the column of the ids of a table of items of `own_kind`, to which the marks belong.
    """
    for across_kind in ("test_cases", "requirements") if not own_kind else (_OTHER[own_kind],):
        down_kind = _OTHER[across_kind]
        across = [at for at in range(len(sample.columns)) if at != own_at and _is_across(sample, at, keys, across_kind)]
        down = _find_down(sample, across, keys, down_kind) if own_at is None else own_at
        if across and down is not None:
            return _choose_as_matrix(sample, down, across, down_kind)
    across = [at for at in range(len(sample.columns)) if sample.is_of_matrix(at)]
    ids = [at for at in range(len(sample.columns)) if at not in across and are_ids(sample.values(at))]
    down = own_at if own_at is not None else next(iter(ids), None)
    if len(across) < _FEWEST_MARKED or down is None:
        return None
    kind = own_kind or said_kind(sample.columns.header[down]) or _kind_beside(sample, across)
    return _choose_as_matrix(sample, down, across, kind)


def _is_across(sample: Sample, at: int, keys: Keys, kind: str) -> bool:
    values = sample.values(at)
    return keys.find(sample.columns.header[at], kind) is not None and (not values or are_marks(values))


def _find_down(sample: Sample, across: list[int], keys: Keys, kind: str) -> int | None:
    places = (at for at in range(len(sample.columns)) if at not in across)
    return next((at for at in places if keys.are_of(sample.values(at), kind)), None)


def _kind_beside(sample: Sample, across: list[int]) -> str:
    """Return the kind of what stands down a matrix whose headers are ids: test cases only beside none of their own."""
    return "requirements" if all(is_id_of_test(sample.columns.header[at]) for at in across) else "test_cases"


def _choose_as_matrix(sample: Sample, down: int, across: list[int], kind: str) -> Chosen:
    rule = MatrixRule(
        down="requirements" if kind == "requirements" else "test_cases",
        keys=sample.reference(down),
        across=[sample.reference(at) for at in across],
    )
    return chosen_matrix(rule, sample)


def chosen_matrix(rule: MatrixRule, sample: Sample) -> Chosen:
    """Return a matrix as it is read, with what its columns are taken for."""
    other = _OTHER[rule.down]
    across = [at for column in rule.across if (at := sample.columns.find(column)) is not None]
    guesses = {
        at: Guess(_ENDS[other], 0.9, f"Its header is a key of {_WORDS[other]}, and its cells are marks.")
        for at in across
    }
    down = sample.columns.find(rule.keys)
    if down is not None:
        guesses[down] = Guess(_ENDS[rule.down], 0.9, f"Its cells are keys of {_WORDS[rule.down]}.")
    return Chosen(Mapping.model_construct(version=1, kind="links"), None, guesses, matrix=rule)


def choose_links(sample: Sample, keys: Keys) -> Chosen | None:
    """Return how a table is read of whose columns two have keys of the file, of either kind; None where it is none."""
    ends: dict[str, int] = {}
    for kind in _ENDS:
        places = [at for at in range(len(sample.columns)) if keys.are_of(sample.values(at), kind)]
        exact = [at for at in places if at not in ends.values() and _are_ids_of(sample, at, keys, kind)]
        found = next((at for at in exact or places if at not in ends.values()), None)
        if found is None:
            return None
        ends[kind] = found
    return chosen_links(sample, ends)


def chosen_links(sample: Sample, ends: dict[str, int]) -> Chosen:
    """Return a table of links as it is read, whose ends stand in these columns."""
    proposal = propose(sample, kind="links")
    guesses = {
        at: guess
        for at, guess in proposal.guesses.items()
        if at not in ends.values() and _is_of_link(sample, at, guess)
    }
    fields: dict[str, Any] = {guess.field: proposal.mapping["fields"][guess.field] for guess in guesses.values()}
    for kind, at in ends.items():
        values = sample.values(at)
        fields[_ENDS[kind]] = {"column": sample.reference(at)}
        if any(len(ids_in(value)) > 1 for value in values):
            fields[_ENDS[kind]]["split"] = separator(values)
        guesses[at] = Guess(_ENDS[kind], 0.9, f"Its cells are keys of {_WORDS[kind]}.")
    return Chosen(parse_mapping({"version": 1, "kind": "links", "fields": fields}), None, guesses)


def _are_ids_of(sample: Sample, at: int, keys: Keys, kind: str) -> bool:
    """Check whether the cells of a column are keys without titles."""
    found = [one for value in sample.values(at) for one in ids_in(value)]
    return all(keys.find(one, kind) == one for one in found)


def _is_of_link(sample: Sample, at: int, guess: Guess) -> bool:
    """Check whether a column says something of the links: their type, or a note that is called so, no item's text."""
    header = sample.columns.header[at]
    return guess.field == "link_type" or (guess.field == "notes" and "notes" in known_headers().get(fold(header), {}))
