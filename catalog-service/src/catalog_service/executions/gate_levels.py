"""What rules of a gate find of levels: requirements without a parent or a child, and suspect relations."""

from collections.abc import Mapping
from typing import Any

from catalog_service.executions import gate_items
from catalog_service.executions.gate_outcomes import judge_count
from catalog_service.executions.gate_runs import Outcome, Row
from catalog_service.executions.policies import Rule
from catalog_service.executions.rules import RuleName
from catalog_service.figures import MOST_NAMED
from catalog_service.items import suspicion
from catalog_service.items.kinds import REQUIREMENT
from catalog_service.levels.schemas import Need
from catalog_service.rolled.queries import ROLLS_UP, by_whole_tables
from chassis.core.wording import counted
from chassis.db.database import Connection
from chassis.db.rows import fetch_value

_END = {Need.PARENT: "child_id", Need.CHILD: "parent_id"}
"""Of a relation: the end that a requirement is which has what it needs."""
_NEEDS_IT = "(r.level IS NULL OR r.level IN (SELECT key FROM project_levels WHERE %(need)s = ANY(needs)))"
_ON_PURPOSE = {Need.PARENT: "AND NOT (r.derived AND r.rationale IS NOT NULL)", Need.CHILD: ""}


async def judge_levels(connection: Connection, rule: Rule, ids: str | None, parameters: Mapping[str, Any]) -> Outcome:
    """Judge a rule about relations between requirements; `ids` is a query of those in scope, None: all.

    Of requirements without a parent or child, those of levels that do not need it are left out unless the rule names
    levels; who has no level is not, nor who is derived without a rationale.
    """
    assert rule.limit is not None, "a rule that is no switch has one"
    if rule.rule is RuleName.MAX_SUSPECT_RELATIONS:
        return await _judge_suspect(connection, rule.limit, ids, parameters)
    need = Need.PARENT if rule.rule is RuleName.MAX_WITHOUT_PARENT else Need.CHILD
    return await _judge_without(connection, need, rule, ids, parameters)


async def _judge_without(
    connection: Connection, need: Need, rule: Rule, ids: str | None, parameters: Mapping[str, Any]
) -> Outcome:
    of_all = rule.where.level is not None
    without = f"""
        FROM requirements r WHERE NOT EXISTS (
            SELECT FROM requirement_relations k WHERE k.{_END[need]} = r.id AND {ROLLS_UP})
        {_ON_PURPOSE[need]} {"" if of_all else f"AND {_NEEDS_IT}"} {"" if ids is None else f"AND r.id IN ({ids})"}
    """
    given = {**parameters, "need": need.value}
    async with by_whole_tables(connection):
        count = await fetch_value(connection, f"SELECT count(*) {without}", given)
        cursor = await connection.execute(
            f"SELECT r.id, r.external_id, r.title, r.module, r.level, r.derived {without}"
            f" ORDER BY r.module, r.external_id, r.id LIMIT {MOST_NAMED}",
            given,
            prepare=False,
        )
    items = [_without(row, need) for row in await cursor.fetchall()]
    said = "needs" if count == 1 else "need"
    has = "has" if count == 1 else "have"
    what = f"{counted(count, 'requirement')} {said} a {need.value} and {has} none"
    return judge_count(rule.limit or 0, count, what, items)


def _without(row: Row, need: Need) -> Row:
    why = [f"no {need.value}"]
    if row["level"] is None:
        why.append("no level")
    if need is Need.PARENT and row["derived"]:
        why.append("derived without a rationale")
    name = f"{row['external_id'] or row['id']}: {row['title']} ({', '.join(why)})"
    return gate_items.named(row, name, f"{REQUIREMENT.path}/{row['id']}")


async def _judge_suspect(
    connection: Connection, limit: float, ids: str | None, parameters: Mapping[str, Any]
) -> Outcome:
    in_scope = "" if ids is None else f"WHERE child_id IN ({ids}) OR parent_id IN ({ids})"
    suspect = f"(SELECT * FROM ({suspicion.suspect_relations('n.*')}) AS found {in_scope}) AS n"
    count = await fetch_value(connection, f"SELECT count(*) FROM {suspect}", parameters)
    items: list[Row] = []
    if count:
        cursor = await connection.execute(
            f"""
            SELECT n.id, coalesce(c.external_id, c.title) AS child, coalesce(p.external_id, p.title) AS parent,
                n.child_version, c.version AS child_now, n.parent_version, p.version AS parent_now
            FROM {suspect} JOIN requirements c ON c.id = n.child_id JOIN requirements p ON p.id = n.parent_id
            ORDER BY child, parent, n.id LIMIT {MOST_NAMED}
            """,
            parameters,
            prepare=False,
        )
        items = [_suspect(row) for row in await cursor.fetchall()]
    is_or_are = "is" if count == 1 else "are"
    return judge_count(limit, count, f"{counted(count, 'relation')} {is_or_are} suspect", items)


def _suspect(row: Row) -> Row:
    changed = [
        f"{row[end]} went from version {row[f'{end}_version']} to {row[f'{end}_now']}"
        for end in ("child", "parent")
        if row[f"{end}_now"] > row[f"{end}_version"]
    ]
    why = f"{' and '.join(changed)} after the relation of {row['child']} with {row['parent']} was confirmed."
    known = {name: row[name] for name in ("id", "child", "parent")}
    return gate_items.named(known, why, f"/api/v1/relations/{row['id']}")
