"""Which lanes a commit is to have and lacks: by the setting of its project, else by the commits before it."""

from dataclasses import dataclass, field

from catalog_service.projects import repository as projects
from chassis.db.database import Connection
from chassis.db.rows import fetch_all

_COMMITS_BEFORE = 5
"""Whose lanes are usual, where no setting says which are expected."""


@dataclass(frozen=True, slots=True)
class MissingLanes:
    """What a commit lacks; `commit` is the one that was looked at, None where no run of the branch names one.

    `expected`: lanes of the setting that no run of it has ended with, or none that ran a test; `usual`: lanes of the
    commits before it that no run of it has, where there is no setting for the branch, with their environments.
    """

    commit: str | None
    expected: list[str] = field(default_factory=list)
    usual: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Lane:
    lane: str | None
    environment: str | None
    commit: str | None
    is_here: bool
    has_ended: bool

    @property
    def name(self) -> str:
        """What people call it, with the environment that it ran on."""
        return f"{self.lane} ({self.environment})" if self.environment else str(self.lane)


_OF_LANE = "SELECT FROM executions e WHERE e.run_id = a.id AND e.at = a.at AND e.context_id = x.id"
# A lane that skipped all of its tests has run none; that it may have no test at all is said by who sent it, or else its
# file is none of a healthy run.
_RAN = f"(EXISTS ({_OF_LANE} AND e.status <> 'skipped') OR l.health = '{{}}' AND NOT EXISTS ({_OF_LANE}))"
# The runs of a commit stand at one place of their branch; a run without a commit stands for itself.
_LANES = f"""
    WITH RECURSIVE newest AS (
        SELECT id, commit, position FROM test_runs
        WHERE branch = %(branch)s AND NOT is_manual AND (%(commit)s::text IS NULL OR commit = %(commit)s)
        ORDER BY position DESC, id LIMIT 1
    ), before AS (
        SELECT position, 0 AS number FROM newest
        UNION ALL
        SELECT (
            SELECT r.position FROM test_runs r
            WHERE r.branch = %(branch)s AND NOT r.is_manual AND r.commit IS NOT NULL AND r.position < b.position
            ORDER BY r.position DESC LIMIT 1
        ), b.number + 1 FROM before b WHERE b.number < {_COMMITS_BEFORE} AND b.position IS NOT NULL
    ), of_default_branch AS (
        SELECT DISTINCT r.position FROM test_runs r
        WHERE r.branch = %(default_branch)s AND NOT r.is_manual AND r.commit IS NOT NULL
        AND %(branch)s <> %(default_branch)s
        AND NOT EXISTS (SELECT FROM before WHERE number = 1 AND position IS NOT NULL)
        ORDER BY r.position DESC LIMIT {_COMMITS_BEFORE}
    ), looked_at AS (
        SELECT r.id, r.at, r.status, r.is_forgotten, true AS is_here
        FROM newest n JOIN test_runs r ON r.id = n.id WHERE n.commit IS NULL
        UNION ALL
        SELECT r.id, r.at, r.status, r.is_forgotten, true FROM newest n JOIN test_runs r
            ON r.branch = %(branch)s AND r.commit = n.commit AND NOT r.is_manual
        UNION ALL
        SELECT r.id, r.at, r.status, r.is_forgotten, false FROM before b JOIN test_runs r
            ON r.branch = %(branch)s AND r.position = b.position AND r.commit IS NOT NULL AND NOT r.is_manual
        WHERE b.number > 0
        UNION ALL
        SELECT r.id, r.at, r.status, r.is_forgotten, false FROM of_default_branch d JOIN test_runs r
            ON r.branch = %(default_branch)s AND r.position = d.position AND r.commit IS NOT NULL AND NOT r.is_manual
    )
    SELECT x.lane, x.environment, n.commit, coalesce(bool_or(a.is_here), false) AS is_here,
           coalesce(bool_or(a.is_here AND a.status = 'completed' AND NOT a.is_forgotten AND {_RAN}), false) AS has_ended
    FROM newest n LEFT JOIN looked_at a ON true LEFT JOIN run_lanes l ON l.run_id = a.id
    LEFT JOIN run_contexts x ON x.id = l.context_id
    GROUP BY x.lane, x.environment, n.commit ORDER BY x.lane, x.environment
"""


async def missing_lanes(connection: Connection, branch: str, commit: str | None, default_branch: str) -> MissingLanes:
    """Return which lanes a commit of a branch lacks; `commit` None: the newest of the branch that has runs.

    Before the first commit of a branch come those of the default branch.
    """
    wanted = _wanted((await projects.get(connection)).expected_lanes or [], branch)
    found = await fetch_all(
        connection, _Lane, _LANES, {"branch": branch, "commit": commit, "default_branch": default_branch}
    )
    looked_at = found[0].commit if found else commit
    if wanted:
        ended = {one.lane for one in found if one.has_ended}
        return MissingLanes(looked_at, expected=[lane for lane in wanted if lane not in ended])
    return MissingLanes(looked_at, usual=[one.name for one in found if one.lane and not one.is_here])


def _wanted(expected: list[dict[str, object]], branch: str) -> list[str]:
    """Return the lanes that settings expect on a branch, each once, in their order."""
    fitting = [one["lanes"] for one in expected if fits(str(one["branch"]), branch)]
    return [*dict.fromkeys(lane for lanes in fitting if isinstance(lanes, list) for lane in lanes)]


def fits(pattern: str, branch: str) -> bool:
    """Check whether a branch has the name of a pattern, in which `*` stands for any letters."""
    first, *others = pattern.split("*")
    if not others:
        return branch == pattern
    *inner, last = others
    at = len(first)
    # Not by an expression: one of many stars could take for ever.
    for part in inner:
        found = branch.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return branch.startswith(first) and branch.endswith(last) and len(branch) - len(last) >= at
