"""The tool `overview`: where a project stands, and which projects there are."""

import asyncio
from typing import Any, NotRequired

from typing_extensions import TypedDict

from gateway.mcp.arguments import Arguments
from gateway.mcp.record import Record
from gateway.mcp.tools.tool import Tool

_MOST_PROJECTS = 100


class OverviewArguments(Arguments):
    pass


class Project(TypedDict):
    key: str
    name: str
    role: str | None
    archived: bool


class Counts(TypedDict):
    requirements: int
    verified_requirements: int
    uncovered_requirements: int
    test_cases_without_requirement: int
    by_verdict: dict[str, int]


class Level(TypedDict):
    key: str
    name: str
    requirements: int


class Gate(TypedDict):
    passed: bool
    branch: str
    reasons: list[str]


class Waiting(TypedDict):
    proposals: int
    suggestions: int
    suspect_links: int
    requirements_with_suspect_relations: int


class Overview(TypedDict):
    project: str | None
    projects: NotRequired[list[Project]]
    total_projects: NotRequired[int]
    levels: NotRequired[list[Level]]
    counts: NotRequired[Counts]
    coverage: NotRequired[float | None]
    verified: NotRequired[float | None]
    gate: NotRequired[Gate]
    waiting: NotRequired[Waiting]
    next: NotRequired[str | None]
    shortened: NotRequired[bool]


async def _run(record: Record, arguments: OverviewArguments) -> Overview:
    if record.project is None:
        projects, total_projects = await list_projects(record)
        return {"project": None, "projects": projects, "total_projects": total_projects}
    verification, gaps, gate, suggestions, proposals, related, scores = await asyncio.gather(
        record.get("/reports/verification", limit=1),
        record.get("/reports/gaps", limit=1),
        record.get("/reports/gate"),
        record.get("/suggestions", status="pending", limit=1),
        record.get("/proposals", status="pending", limit=1),
        record.get("/requirements", relation_suspect=True, fields="id", limit=1),
        record.get("/reports/levels"),
    )
    summary = verification["summary"]
    total = summary["total_requirements"]
    uncovered = gaps["uncovered_requirements"]["total"]
    return {
        "project": record.project,
        "levels": [
            {"key": one["key"], "name": one["name"], "requirements": one["requirements"]} for one in scores["levels"]
        ],
        "counts": {
            "requirements": total,
            "verified_requirements": summary["verified_requirements"],
            "uncovered_requirements": uncovered,
            "test_cases_without_requirement": gaps["orphan_test_cases"]["total"],
            "by_verdict": summary["requirements"],
        },
        "coverage": round((total - uncovered) / total, 4) if total else None,
        "verified": summary["verified"],
        "gate": {
            "passed": gate["passed"],
            "branch": gate["branch"],
            "reasons": [rule["reason"] for rule in gate["rules"] if not rule["passed"]],
        },
        "waiting": {
            "proposals": proposals["total"],
            "suggestions": suggestions["total"],
            "suspect_links": gaps["suspect_links"]["total"],
            "requirements_with_suspect_relations": related["total"],
        },
    }


async def list_projects(record: Record) -> tuple[list[Project], int]:
    """Return the first projects of the caller, and how many there are."""
    listed: dict[str, Any] = await record.get_of_all("/projects", limit=_MOST_PROJECTS)
    projects: list[Project] = [
        {"key": one["key"], "name": one["name"], "role": one["role"], "archived": one["archived"]}
        for one in listed["items"]
    ]
    return projects, listed["total"]


OVERVIEW = Tool(
    "overview",
    "Where a project stands",
    "Levels, counts, coverage, what results verify, whether the gate is open and why not, and what waits for people."
    " Without a project: the projects that this token sees. Begin here.",
    OverviewArguments,
    Overview,
    _run,
    of_project=False,
)
