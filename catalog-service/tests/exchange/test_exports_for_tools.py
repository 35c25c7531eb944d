"""GET /exports with a mapping: tables for other tools, which are read again as what they were."""

import csv
from io import BytesIO, StringIO
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_service.exchange import registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Item, Link
from catalog_service.exchange.tabular.presets import load_presets
from catalog_service.exchange.writing.mapped.people import guard

PRESETS = {preset.name: preset for preset in load_presets() if not preset.name.startswith("plain")}
STEPS = {"1": "Open the page\nExpected: It is shown", "2": "Press Enter <b> & wait", "3": "Leave\nExpected: One is out"}


async def export(catalog: Any, name: str, **query: Any) -> httpx.Response:
    response: httpx.Response = await catalog.get("/exports", mapping=name, **query)
    assert response.status_code == 200, response.text
    return response


def rows(response: httpx.Response) -> list[list[str]]:
    return list(csv.reader(StringIO(response.content.decode("utf-8-sig"))))


async def a_record(catalog: Any) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """Create a requirement with two test cases, one of them without steps and without an id of its own."""
    module = catalog.word()
    requirement = await catalog.requirement(
        module=module,
        external_id=catalog.word(),
        tags=["asil-b"],
        priority="critical",
        description="All doors.\nAlways.",
    )
    test_cases = [
        await catalog.test_case(module=module, external_id=catalog.word(), steps=STEPS, tags=["web"], priority="low"),
        await catalog.test_case(module=module, external_id=None, priority="high"),
    ]
    for test_case in test_cases:
        await catalog.link(requirement, test_case)
    return module, requirement, test_cases


@pytest.mark.parametrize("form", ["csv", "xlsx"])
@pytest.mark.parametrize("name", PRESETS)
async def test_a_table_for_a_tool_is_read_again_as_what_it_was(catalog: Any, name: str, form: str) -> None:
    """By the preset itself; what it is known by stands in its header, too."""
    preset = PRESETS[name]
    module, requirement, test_cases = await a_record(catalog)
    response = await export(catalog, name, module=module, format=form)
    file = BytesIO(response.content)
    known = registry.recognise(file, f"table.{form}", None)
    assert known.inspect is not None
    looked = known.inspect(file, ReadOptions(file_name=f"table.{form}"))
    assert looked.mapping is not None
    records = list(known.read(file, ReadOptions(file_name=f"table.{form}", mapping={"preset": name})))
    items = [record for record in records if isinstance(record, Item)]
    sent = [requirement] if preset.mapping["kind"] == "requirements" else test_cases
    assert {item.fields["external_id"] for item in items} == {item["external_id"] or item["id"] for item in sent}
    assert [item.problems for item in items] == [[] for _ in items]
    for item in sent:
        (found,) = [one for one in items if one.fields["external_id"] == (item["external_id"] or item["id"])]
        for field in ("title", "description", "priority", "module", "tags", "steps"):
            rule = preset.mapping["fields"].get(field)
            if rule is not None and (isinstance(rule, list) or "constant" not in rule):
                assert (found.fields.get(field) or None) == (item[field] or None), field
    if preset.mapping.get("links"):
        ends = {
            (link.requirement.get("external_id"), link.test_case.get("external_id"))
            for link in records
            if isinstance(link, Link)
        }
        assert ends == {(requirement["external_id"], item["external_id"] or item["id"]) for item in test_cases}


async def test_what_a_table_has_no_place_for_is_said(catalog: Any) -> None:
    module, _, _ = await a_record(catalog)
    await catalog.test_case(module=module, external_id=catalog.word(), type="security", custom_metadata={"rig": "A"})
    response = await export(catalog, "azure-devops", module=module)
    said = response.headers["warning"]
    assert said.startswith('299 - "Not in this file, which has no place for it: type other than functional of 1, ')
    assert "links of 2" in said
    assert "further data of 1" in said
    assert "preconditions" not in said
    assert "position" not in said
    assert "warning" not in (await export(catalog, "plain", module=catalog.word(), kind="requirements")).headers


async def test_the_steps_of_a_test_case_stand_as_its_tool_has_them(catalog: Any) -> None:
    module, _, (test_case, _) = await a_record(catalog)
    header, first, *further = rows(await export(catalog, "azure-devops", module=module))
    named = [dict(zip(header, row, strict=True)) for row in (first, *further)]
    (at,) = [at for at, row in enumerate(named) if row["ID"] == test_case["external_id"]]
    assert (named[at]["Work Item Type"], named[at]["Step Action"]) == ("Test Case", "")
    steps = [(row["ID"], row["Test Step"], row["Step Action"], row["Step Expected"]) for row in named[at + 1 : at + 4]]
    assert steps == [
        ("", "1", "Open the page", "It is shown"),
        ("", "2", "Press Enter &lt;b&gt; &amp; wait", ""),
        ("", "3", "Leave", "One is out"),
    ]
    plain = rows(await export(catalog, "plain", module=module, kind="test_cases"))
    (row,) = [dict(zip(plain[0], row, strict=True)) for row in plain[1:] if row[0] == test_case["external_id"]]
    assert row["Steps"] == "1. Open the page\n2. Press Enter <b> & wait\n3. Leave"
    assert row["Expected results"] == "1. It is shown\n2. \n3. One is out"


async def test_a_saved_mapping_is_read_backwards(catalog: Any) -> None:
    """Columns that it names by their position stand there, and what is behind a prefix is written without it."""
    module, requirement, _ = await a_record(catalog)
    fields = {
        "external_id": {"column": "Key"},
        "title": {"column": 3},
        "priority": {"column": "Prio", "values": {"must": "critical", "*": "low"}},
        "tags": {"column": "Labels", "split": ";"},
    }
    name = catalog.word()
    content = {
        "version": 1,
        "kind": "requirements",
        "external_id_prefix": requirement["external_id"][:4],
        "fields": fields,
    }
    saved = await catalog.post("/imports/mappings", {"name": name, "mapping": content})
    assert saved.status_code == 201, saved.text
    header, row = rows(await export(catalog, name, module=module, format="csv"))
    assert header == ["Key", "Prio", "Title", "Labels"]
    assert row == [requirement["external_id"][4:], "must", requirement["title"], "asil-b"]


@pytest.mark.parametrize(
    ("query", "place", "code"),
    [
        ({"mapping": "nowhere"}, "mapping", "mapping_not_found"),
        ({"mapping": "traceline"}, "mapping", "mapping_not_writable"),
        ({"mapping": "jira", "format": "json"}, "format", "contradiction"),
        ({"mapping": "jira", "kind": "test_cases"}, "kind", "contradiction"),
        ({"mapping": "plain"}, "kind", "contradiction"),
    ],
)
async def test_what_cannot_be_written_is_refused(catalog: Any, query: dict[str, str], place: str, code: str) -> None:
    response = await catalog.get("/exports", **query)
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert (error["pointer"], error["code"]) == (f"/query/{place}", code)


@pytest.mark.parametrize(
    "text", ["- a bullet", "* a bullet", "| a | b |", "a - b", "-", "'quoted'", "1\n- 2", "mail@example.com", "3 + 4"]
)
def test_what_no_program_runs_stays_as_it_is(text: str) -> None:
    assert guard(text) == text


@given(
    st.text(alphabet=" \t\"';\n\r", max_size=3),
    st.sampled_from("=+@＝＋＠") | st.sampled_from(["-1", "-a", "－9", "-(1)"]),
)
def test_no_cell_begins_with_a_formula(before: str, formula: str) -> None:
    for text in (before + formula + "cmd|' /C calc'!A0", f"x;{formula}1", f"x\n{before.strip()}{formula}"):
        assert guard(text) != text
