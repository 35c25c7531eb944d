"""The rules that are asked for, and which requirements each is about."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog_service.executions.rules import RuleName, checked_limit
from chassis.core.wording import listed, nearest, shown
from traceline_check.record import Piece

FILTERS = ("priority", "module", "status", "type", "tag")
_MEMBERS = frozenset({"rule", "limit", "where", "accepted"})


class WrongRule(Exception):
    """A rule is none, or has a limit that it cannot have."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its limit; `where` are filters as the lists of requirements take them."""

    name: RuleName
    limit: float | bool
    where: Mapping[str, str] = field(default_factory=dict)

    def is_about(self, requirement: Piece) -> bool:
        """Check whether the rule is about a requirement."""
        return all(_fits(text, _values(requirement, name)) for name, text in self.where.items())


def usual() -> list[Rule]:
    """Return the rules of a gate that asks for none. Whether a test is missing, one run does not tell."""
    return [Rule(RuleName.REQUIRE_RUN, True), Rule(RuleName.MAX_FAILED, 0)]


def rules_of_options(given: Mapping[str, str]) -> list[Rule]:
    """Return the rules of options such as max_failed=0. Raises WrongRule."""
    rules = []
    for name, text in given.items():
        limit: float | bool | None
        if text.lower() in ("true", "yes"):
            limit = True
        elif text.lower() in ("false", "no"):
            continue
        else:
            try:
                limit = float(text)
            except ValueError:
                raise WrongRule(f"{shown(text)} is no limit of {name}: write a number, such as {name}=0.") from None
        rules.append(_rule(name, limit, {}))
    return rules


def rules_of_policy(policy: Any) -> list[Rule]:
    """Return the rules of a policy as the gate of a server takes it. Raises WrongRule."""
    rules = policy.get("rules") if isinstance(policy, dict) else None
    if not isinstance(rules, list) or not rules:
        raise WrongRule('A policy is {"rules": [{"rule": "max_failed", "limit": 0}]}, with a rule at least.')
    found = []
    for rule in rules:
        if not isinstance(rule, dict) or not isinstance(rule.get("rule"), str) or rule.keys() - _MEMBERS:
            raise WrongRule(f"A rule has rule, limit and where, and nothing else: {shown(str(rule))}.")
        if rule.get("accepted", "deny") != "deny":
            raise WrongRule("What failures are accepted, no file tells: leave out `accepted`, or ask a server.")
        where = rule.get("where") or {}
        if not isinstance(where, dict) or where.keys() - {*FILTERS}:
            raise WrongRule(f"`where` has {listed(FILTERS, 'or')}: {shown(str(where))} has not.")
        found.append(_rule(rule["rule"], rule.get("limit"), {name: _filter(value) for name, value in where.items()}))
    return found


def _rule(name: str, limit: Any, where: Mapping[str, str]) -> Rule:
    try:
        known = RuleName(name)
    except ValueError:
        meant = nearest(name, [*RuleName])
        rather = f"did you mean {meant}?" if meant else f"there is {listed([*RuleName], 'and')}."
        raise WrongRule(f"There is no rule {shown(name)}; {rather}") from None
    if limit is not None and not isinstance(limit, int | float):
        raise WrongRule(f"{shown(str(limit))} is no limit of {name}: it is a number.")
    try:
        return Rule(known, checked_limit(known, limit), where)
    except ValueError as error:
        raise WrongRule(f"{error}.") from None


def _filter(value: Any) -> str:
    words = value if isinstance(value, list) else [value]
    if not all(isinstance(word, str) for word in words):
        raise WrongRule(f"A filter is a text or a list of texts, not {shown(str(value))}.")
    if isinstance(value, str):
        return value
    return ",".join('"' + word.replace('"', '""') + '"' for word in words)


def _fits(text: str, values: list[str]) -> bool:
    words = next(csv.reader([text], skipinitialspace=True), [])
    included = [word.strip() for word in words if not word.lstrip().startswith("!")]
    excluded = [word.strip()[1:].strip() for word in words if word.lstrip().startswith("!")]
    has = values or [""]
    return (not included or any(value in included for value in has)) and not any(value in excluded for value in has)


def _values(requirement: Piece, name: str) -> list[str]:
    if name == "tag":
        return [str(tag) for tag in requirement.fields.get("tags") or []]
    value = requirement.fields.get(name)
    return [] if value is None else [str(getattr(value, "value", value))]
