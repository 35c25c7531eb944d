"""Three levels of requirements over HTTP: what rolls up, what a change reaches, and the tree."""

from typing import Any
from uuid import uuid4

import pytest

from testing.service import Json, ok, problem

from ..executions.conftest import Results


class Levels:
    """A root, two below it, two below each of these, with a test case at each leaf."""

    def __init__(self, results: Results) -> None:
        self.results, self.catalog = results, results.catalog
        self.module = self.catalog.word()
        self.branch = self.catalog.word()
        self.of: dict[str, Json] = {}
        self.tests: dict[str, Json] = {}

    async def build(self) -> None:
        for name in ("A", "B1", "B2", "C1", "C2", "C3", "C4"):
            self.of[name] = await self.catalog.requirement(
                external_id=f"{name}-{self.module}", title=name, module=self.module
            )
        for child, parent in ("B1", "A"), ("B2", "A"), ("C1", "B1"), ("C2", "B1"), ("C3", "B2"), ("C4", "B2"):
            await self.relate(child, parent)
        for name in ("C1", "C2", "C3", "C4"):
            self.tests[name] = await self.catalog.test_case(external_id=f"T{name}-{self.module}")
            await self.catalog.link(self.of[name], self.tests[name])

    async def relate(self, child: str, parent: str, kind: str = "refines") -> None:
        await self.catalog.relation(self.of[child], self.of[parent], relation_type=kind)

    async def run(self, **ends: str) -> None:
        cases = [(f"[{self.tests[name]['external_id']}]", end) for name, end in ends.items()]
        await self.results.send(*cases)

    async def rolled(self, name: str) -> tuple[str, str, list[str]]:
        """Return the rolled verdict and coverage of one, and which are named as the worst."""
        row = await self.catalog.read(f"/requirements/{self.of[name]['id']}", expand="relations")
        names = {one["id"]: known for known, one in self.of.items()}
        return row["rolled"]["verdict"], row["rolled_coverage"], [names[one] for one in row["rolled"]["worst"]]


@pytest.fixture
async def levels(catalog: Any) -> Levels:
    levels = Levels(Results(catalog))
    await levels.build()
    return levels


async def test_what_is_tested_at_the_leaves_rolls_up_to_the_root(levels: Levels) -> None:
    catalog = levels.catalog
    await levels.run(C1="passed", C2="passed", C3="passed", C4="passed")
    assert await levels.rolled("A") == ("passed", "covered_below", [])
    plain = await catalog.read(f"/requirements/{levels.of['A']['id']}")
    assert plain == levels.of["A"], "nobody has asked for what rolls up"
    assert (await catalog.read(f"/requirements/{levels.of['A']['id']}/results"))["verdict"] == "uncovered"

    (link,) = (await catalog.read("/links", requirement_id=levels.of["C4"]["id"]))["items"]
    assert (await catalog.delete(f"/links/{link['id']}")).status_code == 204
    assert await levels.rolled("A") == ("partial", "partly_below", ["C4"])
    await levels.run(C1="failed")
    assert await levels.rolled("A") == ("failed", "partly_below", ["C1", "C4"])
    assert await levels.rolled("B2") == ("partial", "partly_below", ["C4"])

    of_module = {"module": levels.module, "fields": "title"}
    for filters, names in (
        ({"rolled_verdict": "failed"}, {"A", "B1", "C1"}),
        ({"rolled_verdict": "partial,uncovered"}, {"B2", "C4"}),
        ({"rolled_verdict": "!failed", "verdict": "!uncovered"}, {"C2", "C3"}),
        ({"rolled_coverage": "covered_below"}, {"B1"}),
        ({"rolled_coverage": "partly_below,uncovered"}, {"A", "B2", "C4"}),
    ):
        found = await catalog.read("/requirements", **of_module, **filters)
        assert {row["title"] for row in found["items"]} == names, filters
    listed = await catalog.read(
        "/requirements", module=levels.module, expand="relations,coverage", fields="title,rolled"
    )
    assert {row["title"]: row["rolled"]["verdict"] for row in listed["items"]}["B1"] == "failed"
    assert all(set(row) == {"title", "rolled"} for row in listed["items"])


async def test_a_child_of_two_parents_counts_once_for_what_is_above_both(levels: Levels) -> None:
    await levels.run(C1="failed", C2="passed", C3="passed", C4="passed")
    await levels.relate("C1", "B2", "derives_from")
    await levels.relate("C2", "B2", "depends_on")
    row = await levels.catalog.read(f"/requirements/{levels.of['A']['id']}", expand="relations")
    assert {name: n for name, n in row["rolled"]["counts"].items() if n} == {"failed": 1, "passed": 3}
    row = await levels.catalog.read(f"/requirements/{levels.of['B2']['id']}", expand="relations")
    assert {name: n for name, n in row["rolled"]["counts"].items() if n} == {"failed": 1, "passed": 2}


async def test_a_change_reaches_what_stands_below_or_above(levels: Levels) -> None:
    catalog, of = levels.catalog, levels.of
    await levels.run(C1="failed", C2="passed")
    path = f"/requirements/{of['A']['id']}/impact"
    found = await catalog.read(path)
    assert [(row["title"], row["depth"]) for row in found["items"]] == [
        *(("B1", 1), ("B2", 1), ("C1", 2), ("C2", 2), ("C3", 2), ("C4", 2))
    ]
    assert [[test["verdict"] for test in row["tests"]] for row in found["items"][2:4]] == [["failed"], ["passed"]]
    assert [(row["depth"], row["requirements"], row["relations"], row["tests"]) for row in found["totals"]] == [
        *((0, 1, 0, 0), (1, 2, 2, 0), (2, 4, 4, 4))
    ]
    assert (found["total"], found["becomes_suspect"]["relations"]["total"]) == (6, 2)
    assert (await catalog.read(path, depth=1))["total"] == 2

    up = await catalog.read(f"/requirements/{of['C1']['id']}/impact", direction="up")
    assert [(row["title"], len(row["via"])) for row in up["items"]] == [("B1", 1), ("A", 1)]
    question = up["becomes_suspect"]
    assert (question["relations"]["total"], question["links"]["total"]) == (1, 1)
    assert question["relations"]["items"][0]["parent"]["title"] == "B1"

    await levels.relate("C1", "C3", "related")
    assert (await catalog.read(f"/requirements/{of['C3']['id']}/impact"))["total"] == 0
    related = await catalog.read(f"/requirements/{of['C3']['id']}/impact", types="related,refines")
    assert [row["title"] for row in related["items"]] == ["C1"]


async def test_a_change_is_followed_no_further_than_32_relations(levels: Levels) -> None:
    path = f"/requirements/{levels.of['A']['id']}/impact"
    assert problem(await levels.catalog.get(path, depth=33), 422)["errors"][0]["code"] == "too_deep"
    assert (await levels.catalog.read(path, depth=32))["total"] == 6
    problem(await levels.catalog.get(f"/requirements/{uuid4()}/impact"), 404, "requirement_not_found")


async def test_the_tree_has_roots_and_their_children_page_by_page(levels: Levels, viewer: Any) -> None:
    catalog, of = levels.catalog, levels.of
    await levels.run(C1="failed", C2="passed", C3="passed", C4="passed")
    top = await catalog.read("/reports/trace-tree", limit=500)
    (row,) = (row for row in top["items"] if row["module"] == levels.module)
    assert (row["title"], row["children"], row["tests"], row["verdict"]) == ("A", 2, 0, "uncovered")
    assert (row["rolled"]["verdict"], row["rolled_coverage"], row["suspect_relations"]) == (
        "failed",
        "covered_below",
        0,
    )

    first = await catalog.read("/reports/trace-tree", parent=of["A"]["external_id"], limit=1)
    assert (first["total"], first["parent"]["title"], first["items"][0]["title"]) == (2, "A", "B1")
    second = await catalog.read("/reports/trace-tree", parent=of["A"]["id"], limit=1, after=first["next_after"])
    assert (second["items"][0]["title"], second["next_after"]) == ("B2", None)
    problem(await catalog.get("/reports/trace-tree", parent="none such"), 404, "requirement_not_found")
    refused = problem(await catalog.get("/reports/trace-tree", parent=of["A"]["id"], format="csv"), 422)
    assert refused["errors"][0]["code"] == "contradiction"

    ok(await catalog.patch(f"/requirements/{of['A']['id']}", {"description": "Something else."}))
    top = await catalog.read("/reports/trace-tree", limit=500)
    (row,) = (row for row in top["items"] if row["module"] == levels.module)
    assert row["suspect_relations"] == 2


@pytest.mark.parametrize("form", ["csv", "xlsx", "html"])
async def test_the_tree_as_a_document_sets_in_what_stands_below(levels: Levels, form: str) -> None:
    await levels.relate("C1", "B2")
    response = await levels.catalog.get("/reports/trace-tree", format=form)
    assert response.status_code == 200
    assert "trace-tree-" in response.headers["content-disposition"]
    if form == "xlsx":
        assert response.content.startswith(b"PK")
        return
    text = response.content.decode("utf-8-sig")
    names = ["A", "B1", "C1", "C2", "B2", "C1", "C3", "C4"]
    places = [text.index(f"{names[0]}-{levels.module}")]
    for name in names[1:]:
        places.append(text.index(f"{name}-{levels.module}", places[-1] + 1))
    assert places == sorted(places)
    assert f"\u2003\u2003C1-{levels.module}" in text
    assert f"\u2003B1-{levels.module}" in text


async def test_reports_tell_what_rolls_up_where_it_is_asked_for(levels: Levels) -> None:
    catalog = levels.catalog
    await levels.run(C1="failed", C2="passed", C3="passed", C4="passed")
    await levels.relate("C1", "B2")
    of = {"module": levels.module}

    rows = (await catalog.read("/reports/verification", **of, rolled=True))["items"]
    assert {row["title"]: (row["verdict"], row["rolled"]["verdict"]) for row in rows}["B2"] == ("uncovered", "failed")
    plain = (await catalog.read("/reports/verification", **of))["items"]
    assert plain == [{name: row[name] for name in plain[0]} for row in rows]
    assert "rolled" not in plain[0]

    rows = (await catalog.read("/reports/traceability-matrix", **of, rolled=True))["items"]
    assert [[one["title"] for one in row["parents"]] for row in rows if row["title"] == "C1"] == [["B1", "B2"]]
    assert {row["title"]: row["rolled_verdict"] for row in rows}["C2"] == "passed"
    plain = (await catalog.read("/reports/traceability-matrix", **of))["items"]
    assert plain == [{name: row[name] for name in plain[0]} for row in rows]
    assert "parents" not in plain[0]
    for report, form in (
        *(("traceability-matrix", form) for form in ("csv", "html")),
        *(("verification", form) for form in ("csv", "html", "markdown")),
    ):
        document = await catalog.get(f"/reports/{report}", **of, rolled=True, format=form)
        assert document.status_code == 200
        assert "rolled" in document.text.lower()
        assert document.text.count("failed") >= 4, report

    (figures,) = (
        row for row in (await catalog.read("/reports/coverage-by-module"))["items"] if row["module"] == levels.module
    )
    assert (figures["coverage"], figures["rolled_coverage"]) == (4 / 7, 1.0)


async def test_a_gate_asks_for_what_is_verified_with_all_below(levels: Levels) -> None:
    catalog, of = levels.catalog, {"module": levels.module, "require_run": True}
    await levels.run(C1="passed", C2="passed", C3="passed", C4="passed")
    gate = await catalog.read("/reports/gate", **of, min_rolled_verified=100, min_verified=100)
    assert {rule["rule"]: (rule["actual"], rule["passed"]) for rule in gate["rules"]} == {
        "min_rolled_verified": (100, True),
        "min_verified": (57.14, False),
        "require_run": (True, True),
    }
    await levels.run(C1="failed")
    (rule,) = (await catalog.read("/reports/gate", module=levels.module, min_rolled_verified=100))["rules"]
    assert (rule["actual"], rule["passed"]) == (57.14, False)
    assert {item["title"] for item in rule["items"]} == {"A", "B1", "C1"}
