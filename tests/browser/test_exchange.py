"""Import and export: a file is looked at, planned, seen by rows and applied; what a list shows goes out."""

import csv
import json
import re
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from playwright.sync_api import Page, expect

from acceptance import texts
from acceptance.client import Json, Traceline, ok

from . import axe
from .session import PageOf, in_new_project
from .visit import Visit

MAPPING: Json = {
    "version": 1,
    "kind": "requirements",
    "fields": {
        "external_id": {"column": "ID"},
        "title": {"column": "Title"},
        "description": {"column": "Text"},
        "priority": {"column": "Priority"},
        "module": {"column": "Module"},
        "type": {"constant": "functional"},
    },
}

HELD = """() => {
    const held = new DataTransfer();
    held.items.add(new File([JSON.stringify({ traceline_exchange: 1 }).slice(0, -1)], "broken.json"));
    return held;
}"""
"""What somebody holds over the page who drags a file that was cut off."""


def table(module: str, *priorities: str) -> str:
    """Return a CSV file of requirements of a module, one of each priority."""
    rows = [
        f"{module}-{n};Doors of car {n} close;The doors of car {n} close within {n} s.;{priority};{module}"
        for n, priority in enumerate(priorities, 1)
    ]
    return "\n".join(["ID;Title;Text;Priority;Module", *rows, ""])


def planned(reviewer: Traceline, content: str, **options: Any) -> Json:
    """Send a file to be planned; return the import."""
    form = {"file": ("doors.csv", content, "text/csv"), "mapping": (None, json.dumps(MAPPING))}
    job: Json = ok(reviewer.post("/imports", files=form, params=options))
    assert job["status"] == "planned", job
    return job


def apply_button(page: Page, count: int) -> Any:
    changes = "1 change" if count == 1 else f"{count} changes"
    return page.get_by_role("button", name=f"Apply {changes}")


def taken(visit: Visit, part: str) -> None:
    """Take what the console said of a refusal that was meant to happen."""
    assert any(part in said for said in visit.complaints), visit.complaints
    visit.complaints[:] = [said for said in visit.complaints if part not in said]


def chosen(page: Page, name: str, content: str | bytes) -> None:
    """Choose a file by the keyboard."""
    data = content.encode() if isinstance(content, str) else content
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").press("Enter")
    chooser.value.set_files({"name": name, "mimeType": "text/csv", "buffer": data})
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def workbook(**sheets: list[list[str]]) -> bytes:
    """Return a workbook with these rows in its sheets."""
    book, file = openpyxl.Workbook(), BytesIO()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file.getvalue()


def choose_by_keyboard(page: Page, label: str, option: str) -> None:
    """Choose an option of a list that a button opens."""
    page.get_by_role("button", name=re.compile(label)).press("Enter")
    wanted = page.get_by_role("option", name=option, exact=True)
    expect(wanted).to_be_visible()
    expect(page.get_by_role("listbox", name=label)).to_be_focused()
    while wanted.get_attribute("data-active") is None:
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")


def test_a_workbook_is_in_the_record_with_its_links_after_four_acts(page_of: PageOf, reviewer: Traceline) -> None:
    word = texts.word()
    requirements = [["Req No.", "Feature", "Prio", "Owner"], [f"{word}-R1", "Doors", "Must", "Kim"]]
    tests = [["Test ID", "Name of the test"], [f"{word}-T1", "Try the doors"], [f"{word}-T2", "Try again"]]
    marks = [["Requirement", f"{word}-T1", f"{word}-T2"], [f"{word}-R1", "x", ""]]
    page = page_of("reviewer", "/imports").page
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    chosen(page, "book.xlsx", workbook(Cover=[["Doors"]], Reqs=requirements, Tests=tests, RTM=marks))
    tabs = page.get_by_role("tablist", name="Sheets")
    expect(tabs.get_by_role("tab")).to_have_text(
        ["CoverLeft out", "ReqsRequirements", "TestsTest cases", "RTMA matrix of links"]
    )
    expect(page.get_by_role("region", name="Reqs").get_by_role("cell", name="Doors", exact=True)).to_be_visible()
    expect(page.get_by_text("'Owner' has no field here. Keep it with each item")).to_be_visible()
    coming = page.get_by_role("region", name="What comes of it")
    expect(coming).to_contain_text("Tests: test cases, 2 rows. RTM: a matrix of links, 1 row.")
    assert axe.violations(page) == []

    page.keyboard.press("Control+Enter")
    expect(page).to_have_url(re.compile(r"/imports/[0-9a-f-]{36}$"))
    expect(page.get_by_text("Every row can be applied.")).to_be_visible()
    expect(page.get_by_text("Tests: 2 test cases.")).to_be_visible()
    expect(page.get_by_text("3 items are compared with the other side afterwards; suggestions follow.")).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("a")
    expect(page.get_by_text("4 changes are in the project.")).to_be_visible()
    (made,) = reviewer.items("/requirements", external_id=f"{word}-R1")
    assert len(reviewer.items("/links", requirement_id=made["id"])) == 1


def test_columns_and_values_are_chosen_above_the_table_by_keyboard(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    rows = [f"{module}-{n},Doors {n},They close.,{urgency},{module}" for n, urgency in enumerate(("Now", "Later"))]
    page = page_of("reviewer", "/imports").page
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    chosen(page, "doors.csv", "\n".join(["Key,Summary,Text,How soon,Area", *rows]))
    table = page.get_by_role("region", name="The table of the file")
    becomes = table.get_by_role("combobox", name="What How soon becomes")
    expect(table.get_by_role("combobox", name="What Summary becomes")).to_have_value("requirements/title")
    becomes.select_option("Priority")
    expect(table.get_by_role("columnheader", name="How soon")).to_contain_text("You chose it.")
    expect(table.get_by_role("cell", name="Now")).to_contain_text("✕ ")
    table.get_by_role("combobox", name="What Area becomes").select_option("Module")
    table.get_by_role("button", name="2 values").press("Enter")
    values = page.get_by_role("dialog", name="What the values of How soon become")
    values.get_by_role("combobox", name="What “Now” becomes").select_option("critical")
    values.get_by_role("combobox", name="What “Later” becomes").select_option("low")
    page.keyboard.press("Escape")
    expect(table.get_by_text("✕ ")).to_have_count(0)

    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Every row can be applied.")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("2 changes are in the project.")).to_be_visible()
    made = reviewer.items("/requirements", module=module)
    assert {one["external_id"]: one["priority"] for one in made} == {f"{module}-0": "critical", f"{module}-1": "low"}


def test_a_sheet_of_another_role_is_proposed_anew_and_keeps_what_fits(page_of: PageOf) -> None:
    visit = page_of("reviewer", "/imports")
    page = visit.page
    word = texts.word()
    rows = [["Test ID", "Title", "Owner", "Estimate"], [f"{word}-T", "Try the doors", "Lee", "5"]]
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    chosen(page, "book.xlsx", workbook(Tests=rows))
    table = page.get_by_role("region", name="Tests")
    table.get_by_role("combobox", name="What Owner becomes").select_option("Module")
    table.get_by_role("combobox", name="What Title becomes").select_option("Preconditions")
    choose_by_keyboard(page, "Its rows are", "Requirements")
    expect(table.get_by_role("combobox", name="What Owner becomes")).to_have_value("requirements/module")
    lost = "What you set is not taken over, as it does not fit here: Title → Preconditions"
    expect(page.get_by_role("status").filter(has_text=lost)).to_be_visible()
    page.get_by_role("button", name="As proposed").press("Enter")
    expect(table.get_by_role("combobox", name="What Title becomes")).to_have_value("test_cases/title")
    expect(table.get_by_role("combobox", name="What Owner becomes")).to_have_value("(rest)")
    choose_by_keyboard(page, "Its rows are", "A matrix of links")
    expect(page.get_by_text("'Tests' is no matrix")).to_be_visible()
    taken(visit, "422")


def test_a_column_without_a_field_becomes_one_of_the_project(page_of: PageOf, admin: Traceline) -> None:
    within = in_new_project(admin)
    content = "ID,Title,Owner\nR-1,Doors close,Kim\nR-2,Doors open,Lee\n"
    page = page_of("admin", f"~/p/{within.project}/imports").page
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    chosen(page, "doors.csv", content)
    expect(page.get_by_text("“Owner” has no field here. Keep it with each item, or make it a field.")).to_be_visible()
    page.get_by_role("button", name="Make it a field: Owner").press("Enter")
    expect(page.get_by_text("Applying it makes a field of the project: Owner, person.")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Applying it makes fields of the project: Owner (person).")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("2 changes are in the project.")).to_be_visible()
    assert [field["name"] for field in within.read("/fields")["fields"]] == ["Owner"]
    (made,) = within.items("/requirements", external_id="R-1")
    assert made["custom_metadata"]["fields"] == {"owner": "Kim"}


def test_a_plan_that_does_not_have_all_of_its_file_says_so(page_of: PageOf, reviewer: Traceline) -> None:
    word = texts.word()
    content = f"ID,Title,Parent\n{word}-1,Doors,\n{word}-2,Close,{word}-1\n{word}-3,Open,{word}-1\n"
    job = ok(reviewer.post("/imports", files={"file": ("doors.csv", content, "text/csv")}))
    page = page_of("reviewer", f"/imports/{job['id']}").page
    expect(page.get_by_text("Every row can be applied. But the file has more than that")).to_be_visible()
    said = "2 relations between requirements are kept as further data; Traceline does not make them yet."
    expect(page.get_by_role("region", name="What is not taken")).to_have_text(re.compile(f"{re.escape(said)}\\s*$"))
    assert axe.violations(page) == []


def test_a_plan_is_read_row_by_row_and_applied_by_keyboard(page_of: PageOf, admin: Traceline) -> None:
    module = texts.word()
    within = in_new_project(admin)
    job = planned(within, table(module, "high", "Hihg", "low"))
    page = page_of("admin", f"~/p/{within.project}/imports/{job['id']}").page
    expect(page.get_by_role("heading", level=1)).to_have_text("doors.csv")
    expect(page.get_by_text("1 row cannot be applied as it is.")).to_be_visible()
    problem = page.get_by_role("region", name="What is wrong")
    expect(problem).to_contain_text("Did you mean high?")
    expect(problem).to_contain_text("first in row 3")

    page.get_by_role("row", name="Requirements").get_by_role("link", name="1", exact=True).press("Enter")
    expect(page).to_have_url(re.compile(r"/rows\?kind=requirement&action=error"))
    grid = page.get_by_role("grid", name="Rows")
    expect(grid.get_by_role("row", name=f"{module}-2")).to_be_visible()
    expect(grid.locator("[data-index]")).to_have_count(1)
    grid.focus()
    page.keyboard.press("Space")
    row = page.get_by_role("complementary", name="Row")
    expect(row).to_contain_text("It says: Hihg")
    assert axe.violations(page) == []
    page.get_by_role("link", name="The import").press("Enter")
    with page.expect_download() as download:
        page.get_by_role("link", name="Refused rows as CSV").press("Enter")
    assert "Hihg" in download.value.path().read_text("utf-8")

    expect(page.get_by_text("Apply leaves it out; what is wrong stands below.")).to_be_visible()
    page.keyboard.press("a")
    expect(page.get_by_text("2 changes are in the project.")).to_be_visible()
    assert {one["external_id"] for one in within.items("/requirements", module=module)} == {
        f"{module}-1",
        f"{module}-3",
    }


def test_who_may_not_import_exports(page_of: PageOf, reviewer: Traceline) -> None:
    job = planned(reviewer, table(texts.word(), "high"))
    page = page_of("viewer", f"/imports/{job['id']}").page
    expect(page.get_by_role("heading", level=1)).to_have_text("doors.csv")
    expect(page.get_by_role("row", name="Requirements")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^(Apply|Cancel)"))).to_have_count(0)
    expect(page.get_by_role("navigation").get_by_role("link", name="Import")).to_have_count(0)
    page.get_by_role("link", name="All imports").click()
    expect(page.get_by_role("heading", name="Reviewers and admins import")).to_be_visible()
    assert axe.violations(page) == []
    page.get_by_role("link", name="Export instead").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Export")
    assert axe.violations(page) == []


def test_what_a_list_shows_goes_out_as_a_file(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    requirement = reviewer.create_requirement(module=module, custom_metadata={"rig": "A"})
    reviewer.create_requirement(module=texts.word())
    page = page_of("viewer", f"/requirements?module={module}").page
    page.get_by_role("main").get_by_role("link", name="Export").click()
    expect(page.get_by_text(f"Module: {module}")).to_be_visible()
    page.get_by_text("Other programs: without them").click()
    page.get_by_label("NDJSON").check()
    with page.expect_download() as download:
        page.get_by_role("main").get_by_role("link", name="Export").press("Enter")
    head, *lines = map(json.loads, download.value.path().read_text("utf-8").splitlines())
    assert head["profile"] == "plain"
    assert [line["title"] for line in lines if line["kind"] == "requirement"] == [requirement["title"]]
    page.get_by_label("CSV").check()
    page.get_by_role("button", name="Table for").click()
    page.get_by_role("option", name="Jira issues").click()
    expect(page.get_by_role("status").filter(has_text="no place for it: further data of 1")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("main").get_by_role("link", name="Export").press("Enter")
    (row,) = csv.DictReader(StringIO(download.value.path().read_text("utf-8-sig")))
    assert (row["Issue Type"], row["Summary"]) == ("Story", requirement["title"])


@pytest.mark.long
def test_deletions_are_asked_for_by_their_number(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    old = [reviewer.create_requirement(module=module) for _ in range(2)]
    job = planned(reviewer, table(module, "high"), missing="delete", scope=f"module:{module}")
    page = page_of("reviewer", f"/imports/{job['id']}", theme="dark").page
    expect(page.get_by_role("row", name="Requirements")).to_contain_text("2")
    apply_button(page, 3).click()
    dialog = page.get_by_role("alertdialog", name="Delete 2 items that the file does not have?")
    expect(dialog.get_by_role("button", name="Apply 3 changes")).to_be_disabled()
    assert axe.violations(page) == []
    dialog.get_by_label("Type 2 to delete").fill("2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("3 changes are in the project.")).to_be_visible()
    (made,) = reviewer.items("/requirements", module=module)
    assert made["id"] not in {one["id"] for one in old}


@pytest.mark.long
def test_a_plan_of_before_is_shown_anew_and_not_applied(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    requirement = reviewer.create_requirement(external_id=f"{module}-1", module=module)
    job = planned(reviewer, table(module, "high"))
    visit = page_of("reviewer", f"/imports/{job['id']}")
    page = visit.page
    expect(apply_button(page, 1)).to_be_visible()
    ok(reviewer.patch(f"/requirements/{requirement['id']}", json={"title": "Changed by somebody else"}))
    apply_button(page, 1).click()
    expect(page.get_by_text("Others changed the record after this plan was made.").first).to_be_visible()
    assert reviewer.read(f"/requirements/{requirement['id']}")["title"] == "Changed by somebody else"
    visit.complaints = [said for said in visit.complaints if "409" not in said]


@pytest.mark.long
def test_an_import_is_cancelled(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    job = planned(reviewer, table(module, "high"))
    page = page_of("reviewer", f"/imports/{job['id']}").page
    page.get_by_role("button", name="Cancel import").click()
    expect(page.get_by_text("This import was cancelled.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Apply"))).to_have_count(0)
    page.get_by_role("link", name="All imports").click()
    page.get_by_role("button", name="State").click()
    page.get_by_role("checkbox", name="Cancelled").check()
    page.keyboard.press("Escape")
    expect(page.get_by_role("row").filter(has_text="Cancelled").first).to_be_visible()
    expect(page.get_by_role("row").filter(has_text=re.compile("Cancelled.*New"))).to_have_count(0)  # nothing is
    assert reviewer.items("/requirements", module=module) == []


@pytest.mark.long
def test_a_file_that_is_dropped_and_is_none_says_what_is_wrong(page_of: PageOf) -> None:
    visit = page_of("reviewer", "/imports", theme="dark", width=320)
    page = visit.page
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    held = page.evaluate_handle(HELD)
    page.get_by_role("heading", level=1).dispatch_event("drop", {"dataTransfer": held})  # beside the box for it
    expect(page.get_by_role("alert").first).to_contain_text("cut off")
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    taken(visit, "422")
    page.get_by_role("button", name="Choose another file").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Import")


@pytest.mark.long
def test_a_file_that_is_written_to_meanwhile_is_chosen_again(page_of: PageOf, tmp_path: Path) -> None:
    page, file = page_of("reviewer", "/imports").page, tmp_path / "doors.csv"
    choose = page.locator("input[type=file]")
    file.write_text("")
    choose.set_input_files(file)
    expect(page.get_by_text("doors.csv is empty")).to_be_visible()
    file.write_text(table(texts.word(), "high"))
    choose.set_input_files(file)
    start = page.get_by_role("button", name="Plan the import")
    expect(start).to_be_visible()
    file.write_text(table(texts.word(), "high", "low"))
    start.click()
    expect(page.get_by_role("alert").get_by_text("doors.csv has changed")).to_be_visible()


@pytest.mark.long
def test_what_a_file_does_not_say_of_itself_can_be_said(page_of: PageOf, reviewer: Traceline) -> None:
    module = texts.word()
    visit = page_of("reviewer", "/imports", width=320)
    page = visit.page
    entry = {"title": "Doors close", "description": "They close.", "module": module, "priority": "high"}
    chosen(page, "doors.json", json.dumps([{**entry, "type": "functional", "external_id": f"{module}-1"}]))
    expect(page.get_by_role("alert").first).to_contain_text("does not say whether it is a requirement")
    assert axe.violations(page) == []
    page.get_by_role("group", name="Each object of the file is").get_by_text("A test case").click()
    expect(page.get_by_role("region", name="How the first rows are read")).to_contain_text("Doors close")
    page.get_by_role("button", name="Plan the import").click()
    apply_button(page, 1).click()
    expect(page.get_by_text("1 change is in the project.")).to_be_visible()
    assert [made["external_id"] for made in reviewer.items("/test-cases", module=module)] == [f"{module}-1"]
    taken(visit, "422")


@pytest.mark.long
def test_the_encoding_of_a_file_that_cannot_be_read_can_be_named(page_of: PageOf) -> None:
    visit = page_of("reviewer", "/imports", theme="dark")
    page = visit.page
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    content = "ID,Title\nR-1,Prüfung der Türöffnung äöü\n".encode()[:-3] + b"\xff\n"
    chooser.value.set_files({"name": "doors.csv", "mimeType": "text/csv", "buffer": content})
    expect(page.get_by_role("alert").filter(has_text="name the encoding")).to_be_visible()
    page.get_by_text("Separator, encoding and saved settings").click()
    page.get_by_label("Encoding").fill("cp1252")
    expect(page.get_by_role("region", name="The table of the file")).to_contain_text("ÿ")
    taken(visit, "422")


@pytest.mark.long
def test_a_mapping_is_saved_and_used_again(page_of: PageOf, reviewer: Traceline) -> None:
    module, name = texts.word(), texts.words(2)
    content = f"Key,Summary,Text,Area\n{module}-1,Doors close,They close.,{module}\n"
    page = page_of("reviewer", "/imports").page
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    chosen(page, "doors.csv", content)
    page.get_by_role("combobox", name="What Area becomes").select_option("Module")
    page.get_by_text("Separator, encoding and saved settings").click()
    page.get_by_role("button", name="Save settings").click()
    page.get_by_label("Name of the settings").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").get_by_text("saved. Everybody can use them.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile(f"{name}.*Read it|Read it.*{name}"))).to_be_visible()

    page.reload()
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    chosen(page, "doors.csv", content)
    page.get_by_text("Separator, encoding and saved settings").click()
    page.get_by_role("button", name=re.compile("As proposed")).click()
    page.get_by_role("option", name=name).click()
    expect(page.get_by_role("combobox", name="What Area becomes")).to_have_value("requirements/module")
    assert axe.violations(page) == []


@pytest.mark.long
def test_only_an_admin_is_offered_to_restore_and_is_told_what_that_is(
    page_of: PageOf, reviewer: Traceline, admin: Traceline
) -> None:
    reviewer.create_requirement()
    content = reviewer.get("/exports?format=ndjson").text
    for person, is_offered in ((reviewer, False), (admin, True)):
        page = page_of(person, "/imports").page
        expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
        chosen(page, "record.ndjson", content)
        page.get_by_text("What happens to what is there already").click()
        page.get_by_role("button", name=re.compile("Fields that the file does not name")).click()
        expect(page.get_by_role("option", name="Are emptied")).to_be_visible()
        restore = page.get_by_role("option", name=re.compile("^Restore"))
        expect(restore).to_have_count(int(is_offered))
    restore.click()
    expect(page.get_by_text("Restoring writes IDs, versions and times")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize(("theme", "width"), [("light", 320), ("dark", 1366)])
def test_every_state_can_be_used_by_everybody(page_of: PageOf, reviewer: Traceline, theme: str, width: int) -> None:
    module = texts.word()
    job = planned(reviewer, table(module, "high", "Hihg"))

    def check(page: Page) -> None:
        assert axe.violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    page = page_of("reviewer", "/imports", theme=theme, width=width).page
    expect(page.get_by_role("grid", name="Imports")).to_be_visible()
    check(page)
    chosen(page, "doors.csv", table(module, *["high"] * 30))
    expect(page.get_by_role("region", name="The table of the file")).to_be_visible()
    page.get_by_text("What happens to what is there already").click()
    page.get_by_text("Separator, encoding and saved settings").click()
    check(page)
    page.get_by_role("button", name="Settings as JSON").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page)

    page = page_of("reviewer", f"/imports/{job['id']}", theme=theme, width=width).page
    page.get_by_role("link", name="Show all rows").click()
    expect(page.get_by_role("grid", name="Rows")).to_be_visible()
    check(page)
    page.get_by_role("gridcell", name=f"{module}-2").or_(page.get_by_role("gridcell", name="3")).first.click()
    expect(page.get_by_role("complementary", name="Row")).to_be_visible()
    check(page)

    page = page_of("viewer", "/exports?kind=requirements&module=Doors", theme=theme, width=width).page
    expect(page.get_by_text("Module: Doors")).to_be_visible()
    check(page)
