"""Holds the record against the rules of a gate, all of one moment."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, replace
from typing import Any
from uuid import UUID

from catalog_service.executions import (
    gate_items,
    gate_runs,
    lost_iterations,
    missing_tests,
    new_failures,
    runs_of_gate,
)
from catalog_service.executions.acceptances.passing import Passed, accepted_for
from catalog_service.executions.expected_lanes import MissingLanes, missing_lanes
from catalog_service.executions.gate_levels import judge_levels
from catalog_service.executions.gate_outcomes import (
    judge_count,
    judge_share,
    judge_tests,
    judge_unlinked,
    judge_verdict,
    judged,
    limit_of,
)
from catalog_service.executions.gate_runs import Outcome, RunOfGate
from catalog_service.executions.policies import AcceptedFailures, Rule, Where
from catalog_service.executions.rules import ABOUT_RESULTS, ABOUT_RUNS, RuleName
from catalog_service.fields import repository as project_fields
from catalog_service.fields.definitions import NONE
from catalog_service.figures import MOST_NAMED, Figures, Group, figures
from catalog_service.items import suspicion
from catalog_service.pending.repository import NOT_LINKED
from catalog_service.rolled.figures import rolled_figures
from catalog_service.verdict_reads import (
    CountingTestCase,
    counting_test_cases,
    of_requirements,
    older_tests,
    unsteady_tests,
)
from catalog_service.verdict_states import IS_TRACED
from catalog_service.verdicts import Basis, Verdict, is_verified
from chassis.core.wording import counted, shown
from chassis.db.database import Connection, Database
from chassis.db.rows import fetch_column, fetch_value
from chassis.web.listing import Row

MOST_ITEMS = MOST_NAMED


class Gate:
    """Answers rules on a connection that sees one moment."""

    def __init__(self, database: Database, connection: Connection, basis: Basis, *, allow_flaky: bool) -> None:
        self._database = database
        self._connection = connection
        self._basis = basis
        self._allow_flaky = allow_flaky
        self._accepted = Passed()
        self._lacking: MissingLanes | None = None
        self._by_scope: dict[str, Figures] = {}
        self._counting: dict[UUID, list[CountingTestCase]] = {}
        self._runs: list[RunOfGate] | None = None
        self._fields = NONE

    async def judge(self, rules: list[Rule]) -> Row:
        """Return the answer of the gate."""
        if any(rule.accepted is AcceptedFailures.ALLOW for rule in rules):
            self._accepted = await accepted_for(self._connection, self._basis)
        if any(rule.where.by_field for rule in rules):
            self._fields = await project_fields.of(self._connection)
        rules = [_over_all(rule) if rule.rule is RuleName.MAX_UNLINKED_TESTS else rule for rule in rules]
        outcomes = [(rule, await _JUDGES[rule.rule](self, rule)) for rule in rules]
        scopes = {rule.where.scope: rule.where for rule in rules if rule.rule not in ABOUT_RUNS}
        empty = [where for where in scopes.values() if not (await self._figures(where)).total]
        rows: list[Row] = [judged(rule.rule.value, rule.limit, rule.where.given, outcome) for rule, outcome in outcomes]
        # Each scope by itself: a gate that does not pass must not do so because of one rule more.
        rows[:0] = [gate_items.close_over_scope(where.given) for where in empty]
        if not await runs_of_gate.has_environment(self._connection, self._basis):
            rows.insert(
                0, gate_items.close_over_nothing(f"No result is of the environment {shown(self._basis.environment)}")
            )
        rows[:0] = await self._find_doubts({rule.rule for rule in rules})
        if expected := (await self._missing_lanes()).expected:
            rows.insert(0, gate_items.close_until_finished(expected, self._of()))
        return {
            "passed": all(rule["passed"] for rule in rows),
            "rules": rows,
            "branch": self._basis.branch,
            "commit": self._basis.commit,
            "environment": self._basis.environment,
            "runs": (await self._runs_of_gate())[:MOST_ITEMS],
            "older": await self._older(),
            "accepted": {
                "total": len(self._accepted.failures),
                "items": [gate_items.accepted_failure(row) for row in self._accepted.failures[:MOST_ITEMS]],
            },
            "missing_lanes": asdict(await self._missing_lanes()),
            "warnings": [
                *self._warn_of_lanes(await self._missing_lanes()),
                *await self._warn_of_runs(),
                *gate_runs.warn_of_selections(await self._runs_of_gate(), self._of()),
                *await lost_iterations.warn(self._database, self._connection, self._basis),
            ],
            "record_position": await fetch_value(self._connection, "SELECT head FROM feed_head"),
            "evaluated_at": self._basis.now,
        }

    async def _find_doubts(self, asked: Set[RuleName]) -> list[Row]:
        """Return what closes the gate where rules about results ask neither for a run nor for its health."""
        if not asked & ABOUT_RESULTS or RuleName.REQUIRE_RUN in asked:
            return []
        if not await runs_of_gate.has_run(self._connection, self._basis):
            way_out = " Send its results, or ask for what has run."
            return [gate_items.close_over_nothing(f"Nothing has run of {self._of()}", way_out)]
        healthy = gate_runs.require_healthy(await self._runs_of_gate(), self._of())
        if healthy.passed or RuleName.MAX_INCOMPLETE_RUNS in asked:
            return []
        return [gate_items.close_over_broken_runs(healthy.reason, healthy.items)]

    async def _missing_lanes(self) -> MissingLanes:
        if self._lacking is None:
            basis = self._basis
            self._lacking = await missing_lanes(self._connection, basis.branch, basis.commit, basis.default_branch)
        return self._lacking

    def _warn_of_lanes(self, lacking: MissingLanes) -> list[dict[str, str]]:
        if not lacking.usual:
            return []
        of = self._of()
        names = ", ".join(lacking.usual)
        message = f"The commits before {of} had runs of {names}, which it has not (yet)."
        return [{"code": "lane_missing", "message": message}]

    async def _warn_of_runs(self) -> list[dict[str, str]]:
        running = [run["key"] for run in await self._runs_of_gate() if run["status"] == "running"]
        if not running:
            return []
        has = "has not ended yet" if len(running) == 1 else f"and {len(running) - 1} more have not ended yet"
        return [{"code": "run_not_finished", "message": f"The run {running[0]} of {self._of()} {has}."}]

    async def _older(self) -> Row:
        """Return the results of other commits that stand for what the commit does not have, a row a test."""
        if self._basis.commit is None or not self._basis.older:
            return {"total": 0, "items": []}
        rows = await older_tests(self._connection, self._basis)
        return {"total": len(rows), "items": [gate_items.older_test(row) for row in rows[:MOST_ITEMS]]}

    def _ids(self, where: Where) -> tuple[str | None, dict[str, Any]]:
        """Return the query of the ids of requirements that a rule is about, None for all, and its parameters."""
        conditions = where.conditions(self._fields)
        return f"SELECT id FROM requirements {conditions.where}" if conditions.where else None, conditions.parameters

    async def _figures(self, where: Where) -> Figures:
        if where.scope not in self._by_scope:
            self._by_scope[where.scope] = await figures(
                self._database, self._connection, *self._ids(where), self._basis
            )
        return self._by_scope[where.scope]

    async def _requirements(self, groups: Sequence[Group]) -> list[Row]:
        """Return the first requirements of some groups."""
        verdicts = {one: group.verdict for group in groups for one in group.first}
        if not verdicts:
            return []
        cursor = await self._connection.execute(
            f"""
            SELECT id, external_id, title, module FROM requirements WHERE id = ANY(%(ids)s)
            ORDER BY module, external_id, id LIMIT {MOST_ITEMS}
            """,
            {"ids": [*verdicts]},
        )
        rows = [{**row, "verdict": verdicts[row["id"]]} for row in await cursor.fetchall()]
        # Several rules name the same requirements.
        if unknown := [row["id"] for row in rows if row["id"] not in self._counting]:
            self._counting |= await counting_test_cases(self._connection, unknown, self._basis)
        return [gate_items.requirement(row, self._counting[row["id"]]) for row in rows]

    async def _min_coverage(self, rule: Rule) -> Outcome:
        figures = await self._figures(rule.where)
        others = [one for one in figures.groups if not one.linked]
        return await self._share(rule, figures.total, "have a test case", others)

    async def _min_verified(self, rule: Rule) -> Outcome:
        figures = await self._figures(rule.where)
        others = [one for one in Verdict if not is_verified(one, allow_flaky=self._allow_flaky)]
        accepted = await self._accepted_by(rule)
        what = "are verified, or fail as accepted" if accepted else "are verified"
        return await self._share(rule, figures.total, what, figures.having(others), accepted)

    async def _min_rolled_verified(self, rule: Rule) -> Outcome:
        ids, parameters = self._ids(rule.where)
        figures = await rolled_figures(self._database, self._connection, ids, parameters, self._basis)
        others = [
            group
            for verdict, group in figures.by_verdict.items()
            if not is_verified(verdict, allow_flaky=self._allow_flaky)
        ]
        return await self._share(rule, figures.total, "are verified with all that stand below them", others)

    async def _accepted_by(self, rule: Rule) -> frozenset[UUID]:
        """Return the requirements in scope of a rule that fail for nothing but failures that it lets pass."""
        found = self._accepted.requirements if rule.accepted is AcceptedFailures.ALLOW else frozenset()
        return frozenset(await self._select_in_scope(rule.where, [*found]))

    async def _select_in_scope(self, where: Where, found: list[UUID]) -> list[UUID]:
        """Return those of some requirements that a rule is about."""
        ids, parameters = self._ids(where)
        if ids is None or not found:
            return found
        query = f"SELECT id FROM ({ids}) AS in_scope WHERE id = ANY(%(found)s)"
        return await fetch_column(self._connection, query, {**parameters, "found": found})

    async def _share(
        self, rule: Rule, total: int, what: str, others: Sequence[Group], accepted: Set[UUID] = frozenset()
    ) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        missing = _count(others) - len(accepted)
        outcome = judge_share(rule.limit, total, total - missing, what)
        if not outcome.passed:
            outcome.items = await self._requirements(_leave_out(others, accepted))
        return outcome

    async def _with_verdict(self, rule: Rule, verdict: Verdict) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        accepted = await self._accepted_by(rule) if verdict is Verdict.FAILED else frozenset()
        having = (await self._figures(rule.where)).having([verdict])
        items = await self._requirements(_leave_out(having, accepted))
        return judge_verdict(rule.limit, verdict, _count(having) - len(accepted), items, len(accepted))

    async def _max_uncovered(self, rule: Rule) -> Outcome:
        return await self._with_verdict(rule, Verdict.UNCOVERED)

    async def _max_failed(self, rule: Rule) -> Outcome:
        return await self._with_verdict(rule, Verdict.FAILED)

    _max_failed_requirements = _max_failed

    async def _max_flaky(self, rule: Rule) -> Outcome:
        return await self._with_verdict(rule, Verdict.FLAKY)

    async def _max_stale(self, rule: Rule) -> Outcome:
        return await self._with_verdict(rule, Verdict.STALE)

    async def _max_not_run(self, rule: Rule) -> Outcome:
        return await self._with_verdict(rule, Verdict.NOT_RUN)

    async def _max_missing(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        missing = (await self._figures(rule.where)).missing
        has = "has" if missing.count == 1 else "have"
        said = f"{counted(missing.count, 'test case')} {has} a test that its lane has not run any more"
        items = await missing_tests.read(self._connection, missing.first, self._basis)
        return judge_count(rule.limit, missing.count, said, items)

    async def _max_unsteady(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        ids, parameters = self._ids(rule.where)
        rows = await unsteady_tests(self._connection, ids, parameters, self._basis)
        count = len(rows)
        often = f"{counted(count, 'test')} {'changes' if count == 1 else 'change'} often between passed and failed"
        items = [gate_items.automated_test(row) for row in rows[:MOST_ITEMS]]
        return judge_count(rule.limit, count, often, items)

    async def _max_suspect(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        ids, parameters = self._ids(rule.where)
        links = suspicion.suspect_links("l.id", "" if ids is None else f"AND r.id IN ({ids})")
        count = await fetch_value(self._connection, f"SELECT count(*) FROM ({links}) suspect", parameters)
        items: list[Row] = []
        if count:
            cursor = await self._connection.execute(
                f"""
                SELECT l.id, r.external_id AS requirement_external_id, r.title AS requirement_title,
                       t.external_id AS test_case_external_id, t.title AS test_case_title, {suspicion.COLUMNS}
                FROM ({links}) suspect JOIN links l ON l.id = suspect.id JOIN requirements r ON r.id = l.requirement_id
                JOIN test_cases t ON t.id = l.test_case_id
                ORDER BY r.external_id, t.external_id, l.id LIMIT {MOST_ITEMS}
                """,
                parameters,
                prepare=False,
            )
            items = [gate_items.suspect_link(row) for row in await cursor.fetchall()]
        first = f" {items[0]['reason']}" if items else ""
        said = f"{counted(count, 'link')} {'is' if count == 1 else 'are'} suspect"
        return judge_count(rule.limit, count, said, items, first)

    async def _max_without_parent(self, rule: Rule) -> Outcome:
        return await judge_levels(self._connection, rule, *self._ids(rule.where))

    _max_without_child = _max_suspect_relations = _max_without_parent

    async def _max_pending_suggestions(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        ids, parameters = self._ids(rule.where)
        of_scope = "" if ids is None else f"AND p.requirement_id IN ({ids})"
        waiting = f"FROM pending_pairs p WHERE p.pending AND {NOT_LINKED} {of_scope}"
        count = await fetch_value(self._connection, f"SELECT count(*) {waiting}", parameters)
        cursor = await self._connection.execute(
            f"""
            SELECT p.requirement_id, r.external_id AS requirement_external_id, r.title AS requirement_title,
                   p.test_case_id, t.external_id AS test_case_external_id, t.title AS test_case_title
            FROM (SELECT p.requirement_id, p.test_case_id {waiting} ORDER BY 1, 2 LIMIT {MOST_ITEMS}) p
            JOIN requirements r ON r.id = p.requirement_id JOIN test_cases t ON t.id = p.test_case_id
            ORDER BY r.external_id, t.external_id, r.id, t.id
            """,
            parameters,
        )
        items = [gate_items.suggestion(row) for row in await cursor.fetchall()]
        said = f"{counted(count, 'suggestion')} {'waits' if count == 1 else 'wait'} for a review"
        return judge_count(rule.limit, count, said, items)

    async def _max_unlinked_tests(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        unlinked = f"FROM automated_tests t WHERE NOT t.is_manual AND t.merged_into IS NULL AND NOT {IS_TRACED}"
        count = await fetch_value(self._connection, f"SELECT count(*) {unlinked}")
        cursor = await self._connection.execute(
            f"SELECT t.id, t.class_name, t.name {unlinked} ORDER BY t.class_name, t.name, t.id LIMIT {MOST_ITEMS}"
        )
        items = [gate_items.automated_test(row) for row in await cursor.fetchall()]
        return judge_unlinked(rule.limit, count, items)

    async def _no_new_failures(self, rule: Rule) -> Outcome:
        accepted = await self._accepted_by(rule)
        figures = await self._figures(rule.where)
        found = await new_failures.find(self._connection, figures, self._basis, allow_flaky=self._allow_flaky)
        in_scope = {*await self._select_in_scope(rule.where, [*found.failing, *found.missing])} - accepted
        failing, missing = ([one for one in ids if one in in_scope] for ids in found)
        count = len(failing) + len(missing)
        verb = "fails or misses a test" if count == 1 else "fail or miss a test"
        is_default = self._basis.branch == self._basis.default_branch
        newest = f"the newest commit of {self._basis.branch}"
        before = f"before {self._basis.commit or newest}" if is_default else f"on {self._basis.default_branch}"
        reason = f"{counted(count, 'requirement')} {verb} that did not {before}."
        named = missing[: max(MOST_ITEMS - len(failing), 0)]
        verdicts = await of_requirements(self._connection, named, self._basis) if named else {}
        groups = [Group(row["verdict"], True, 1, [one]) for one, row in verdicts.items()]
        groups.append(Group(Verdict.FAILED, True, len(failing), failing[:MOST_ITEMS]))
        return Outcome(count, count == 0, reason, await self._requirements(groups), count)

    async def _require_run(self, rule: Rule) -> Outcome:
        return gate_runs.require(await self._runs_of_gate(), self._of())

    async def _max_incomplete_runs(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        return gate_runs.count_incomplete(await self._runs_of_gate(), rule.limit, limit_of(rule.limit))

    async def _max_run_age_hours(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        return gate_runs.measure_age(
            await self._runs_of_gate(), self._basis.now, rule.limit, self._of(), limit_of(rule.limit)
        )

    async def _min_tests(self, rule: Rule) -> Outcome:
        assert rule.limit is not None, "a rule that is no switch has one"
        count = await fetch_value(
            self._connection,
            """
            SELECT count(DISTINCT e.test_id) FROM executions e JOIN run_contexts x ON x.id = e.context_id
            WHERE e.run_id = ANY(%(runs)s) AND e.status <> 'skipped'
            AND (%(environment)s::text IS NULL OR x.environment = %(environment)s)
            """,
            {"runs": [run["id"] for run in await self._runs_of_gate()], **self._basis.parameters},
        )
        return judge_tests(rule.limit, count)

    def _of(self) -> str:
        """Return what the runs of the gate are of."""
        of = f"the commit {self._basis.commit}" if self._basis.commit else f"the branch {self._basis.branch}"
        return of if self._basis.environment is None else f"{of} in {self._basis.environment}"

    async def _runs_of_gate(self) -> list[RunOfGate]:
        if self._runs is None:
            self._runs = await runs_of_gate.read(self._connection, self._basis)
        return self._runs


_JUDGES: Mapping[RuleName, Callable[[Gate, Rule], Awaitable[Outcome]]] = {
    name: getattr(Gate, f"_{name}") for name in RuleName
}


def _over_all(rule: Rule) -> Rule:
    """Return a rule about tests that no requirement is traced to: which requirements are meant says nothing of them."""
    return rule.model_copy(update={"where": Where()})


def _count(groups: Iterable[Group]) -> int:
    return sum(group.count for group in groups)


def _leave_out(groups: Iterable[Group], accepted: Set[UUID]) -> list[Group]:
    """Return groups whose first requirements are not accepted."""
    return [replace(group, first=[one for one in group.first if one not in accepted]) for group in groups]
