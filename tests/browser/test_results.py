"""Results at the page: what runs say of requirements and test cases, and what people say by hand."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from acceptance.client import Traceline, ok

from . import axe
from .session import PageOf, in_new_project

FIRST = """<testsuite name="doors">
  <testcase classname="doors" name="[TC-CLOSE] close"/><testcase classname="doors" name="open"/>
</testsuite>"""
SECOND = """<testsuite name="doors">
  <testcase classname="doors" name="[TC-CLOSE] close[wide]" time="0.4"><failure message="expected 2 doors, found 3">
    doors.py:12 AssertionError</failure></testcase>
  <testcase classname="doors" name="open" test_id="TC-NONE"/>
</testsuite>"""
CORNERS = """(canvas, [size, columns]) => {
    const [left, top] = canvas.dataset.origin.split(" ").map(Number);
    const {data} = canvas.getContext("2d").getImageData(left, top + 4, columns * size, 1);
    return Array.from({length: columns}, (_, at) => [...data.slice(4 * (at * size + 4), 4 * (at * size + 5))]);
}"""
"""The colours of the cells of the first row, beside their shapes."""
HELD_REPORT = """() => {
    const report = `<testsuite name="pytest"><testcase classname="doors" name="test_LIFT-7_close"/>
        <testcase classname="doors" name="test_open"/></testsuite>`;
    const held = new DataTransfer();
    held.items.add(new File([report], "report.xml"));
    return held;
}"""
"""A report of pytest as somebody holds it over the page, of a test that names its test case and one that does not."""


@pytest.fixture(scope="module")
def doors(admin: Traceline) -> Traceline:
    """A project with a requirement whose only test case has just failed, and a test that nobody traces."""
    within = in_new_project(admin, visibility="open")
    requirement = within.create_requirement(title="Doors close", external_id="REQ-CLOSE")
    test_case = within.create_test_case(title="Close a door", external_id="TC-CLOSE")
    within.create_link(requirement["id"], test_case["id"])
    for name, report in {"Monday": FIRST, "Tuesday": SECOND}.items():
        params = {"name": name, "run": name, "commit": f"{name}-commit"}
        run = ok(within.post("/test-results", content=report, params=params))["run"]
        ok(within.post(f"/test-runs/{run['id']}/complete"))
    return within


def test_a_failure_leads_from_its_run_to_the_test_case_and_a_person_mends_it(page_of: PageOf, doors: Traceline) -> None:
    page = page_of("admin", f"~/p/{doors.project}").page
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("u")
    page.get_by_role("link", name="Tuesday", exact=True).click()
    expect(page.get_by_role("heading", name="Tuesday")).to_be_focused()
    page.get_by_text("Remarks about its files: 1").click()
    expect(page.get_by_text("Results name test cases that do not exist: TC-NONE.")).to_be_visible()
    page.get_by_text("Newly failed", exact=True).click()
    page.get_by_text("expected 2 doors, found 3").click()
    expect(page.get_by_text("doors.py:12 AssertionError")).to_be_visible()
    expect(page.get_by_text("Failed with: [TC-CLOSE] close[wide]")).to_be_visible()
    expect(page.get_by_text("open", exact=True)).to_have_count(0)
    assert axe.violations(page) == []
    page.get_by_role("link", name="TC-CLOSE").click()
    page.locator("summary").filter(has_text="Results").click()
    results = page.get_by_role("region", name="Results")
    verdict = results.get_by_text("Failed").first
    expect(verdict).to_be_visible()
    page.get_by_role("button", name="Record a result").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Notes").fill("Mended the hinge")
    dialog.get_by_label("Environment").fill("hall")
    assert axe.violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(results.get_by_role("link", name=re.compile("main · hall"))).to_be_visible()


def test_test_cases_are_run_by_hand_with_a_key_a_step(page_of: PageOf, admin: Traceline) -> None:
    within = in_new_project(admin, visibility="open")
    steps = {"1": "Open the door", "2": "Close the door"}
    cases = [
        within.create_test_case(external_id=f"HAND-{number}", title=f"Door {number}", steps=steps) for number in (1, 2)
    ]
    page = page_of("admin", f"~/p/{within.project}/results").page
    page.get_by_role("link", name="Run by hand").click()
    expect(page.get_by_role("heading", name="2 test cases")).to_be_visible()
    page.get_by_label("Environment").fill("hall")
    assert axe.violations(page) == []
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Door 1")).to_be_focused()
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 step has no mark")).to_be_visible()
    page.keyboard.press("f")
    page.keyboard.press("n")
    page.get_by_label("Note on this test case").fill("It squeaks")
    page.keyboard.press("Enter")
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Door 2")).to_be_focused()
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Finished")).to_be_visible()
    expect(page.get_by_role("button", name="Run again what failed or was blocked")).to_be_visible()
    results = [ok(within.get(f"/test-cases/{case['id']}/results"))["items"][0] for case in cases]
    assert [(one["status"], one["message"], one["run"]["environment"]) for one in results] == [
        ("failed", "It squeaks\nStep 2 failed: Close the door", "hall"),
        ("blocked", "Step 1 blocked: Open the door", "hall"),
    ]


def test_a_run_says_that_it_is_not_whole_and_a_long_branch_is_told_whole_on_a_narrow_screen(
    page_of: PageOf, admin: Traceline
) -> None:
    within = in_new_project(admin, visibility="open")
    branch = f"feature/{'y' * 80}"
    cut = FIRST.replace("<testsuite", '<testsuite tests="90"')
    params = {"branch": branch, "lane": "ci/unit", "commit": "a"}
    run = ok(within.post("/test-results", content=cut, params=params))["run"]
    page = page_of("viewer", f"~/p/{within.project}/results/{run['id']}", width=320).page
    expect(page.get_by_text("Incomplete: the tests are not those that were planned")).to_be_visible()
    expect(page.get_by_role("list", name="Lanes")).to_contain_text("ci/unit")
    line = page.get_by_text(branch)
    expect(line).to_be_visible()
    assert line.evaluate("line => line.scrollWidth <= line.clientWidth")


def test_a_requirement_says_what_its_verdict_comes_from(page_of: PageOf, doors: Traceline) -> None:
    (requirement,) = ok(doors.get("/requirements"))["items"]
    page = page_of("viewer", f"~/p/{doors.project}/requirements/{requirement['id']}?tab=results", width=320).page
    panel = page.get_by_role("region", name="Results")
    expect(panel.get_by_text("1 of 1 test case ran")).to_be_visible()
    expect(panel.get_by_role("link", name="TC-CLOSE")).to_be_visible()
    expect(panel.get_by_text("expected 2 doors, found 3").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert axe.violations(page) == []


def test_the_list_and_the_matrix_say_verdicts_in_words_and_shapes(page_of: PageOf, doors: Traceline) -> None:
    doors.create_requirement(title="Doors stay open", external_id="REQ-OPEN")
    visit = page_of("viewer", f"~/p/{doors.project}/requirements?search=doors")
    page = visit.page
    row = page.get_by_role("row").filter(has_text="REQ-CLOSE")
    expect(row.get_by_text(re.compile("Failed|Flaky|Passed"))).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="REQ-OPEN").get_by_text("Without a test")).to_be_visible()
    assert len({url for url in visit.requests if "/reports/verification" in url and "ids=" in url}) == 1
    assert axe.violations(page) == []
    visit.open(f"/p/{doors.project}/test-cases?search=close")
    row = page.get_by_role("row").filter(has_text="TC-CLOSE")
    expect(row.get_by_text(re.compile("Failed|Flaky|Passed"))).to_be_visible()
    page = page_of("viewer", f"~/p/{doors.project}/matrix?at=0,0&as=table").page
    expect(page.get_by_role("rowheader", name=re.compile(r"REQ-CLOSE .*\((Failed|Flaky|Passed)\)"))).to_be_visible()
    expect(page.get_by_role("list", name="Legend").get_by_text("Before a requirement")).to_be_visible()
    assert axe.violations(page) == []


def test_the_map_shows_verdicts_in_colours_and_words_also_where_readers_have_colours_of_their_own(
    page_of: PageOf, admin: Traceline
) -> None:
    within = in_new_project(admin, visibility="open")
    requirement = within.create_requirement(external_id="REQ-MAP")
    ends = {
        "M-1": ("Passed", ""),
        "M-2": ("Failed", "<failure/>"),
        "M-3": ("Skipped", "<skipped/>"),
        "M-4": ("Not run", ""),
    }
    for name in ends:
        within.create_link(requirement["id"], within.create_test_case(external_id=name, module="map")["id"])
    cases = [f'<testcase classname="map" name="[{name}] t">{inside}</testcase>' for name, (_, inside) in ends.items()]
    ok(within.post("/test-results", content=f'<testsuite name="map">{"".join(cases[:3])}</testsuite>'))

    page = page_of("viewer", f"~/p/{within.project}/matrix?at=0,0&zoom=20", forced_colors="active").page
    page.get_by_role("group", name="Cells show").get_by_text("Results").click()
    status = page.locator("main p[role=status]")
    expect(status).to_contain_text("M-1")
    expect(status).to_contain_text("Passed")
    page.get_by_role("application").focus()
    page.keyboard.press("}")
    expect(status).to_contain_text("M-2")
    expect(status).to_contain_text(": Failed")
    painted = page.locator("canvas").evaluate(CORNERS, [20, len(ends)])
    assert len({tuple(colour) for colour in painted}) == 3, "skipped and not run look the same"
    expect(page.get_by_role("list", name="Legend")).to_contain_text("Not run")
    assert axe.violations(page) == []
    page.keyboard.press("t")
    cells = page.get_by_role("table").locator("tbody td")
    expect(cells).to_have_text([re.compile(f". {words}$") for words, _ in ends.values()])
    assert axe.violations(page) == []


def test_lists_are_narrowed_by_what_results_say(page_of: PageOf, doors: Traceline) -> None:
    doors.create_requirement(title="Doors creak", external_id="REQ-CREAK")
    page = page_of("viewer", f"~/p/{doors.project}/requirements?search=doors").page
    expect(page.get_by_role("row").filter(has_text="REQ-CLOSE")).to_be_visible()
    page.get_by_role("button", name="Verdict", exact=True).click()
    page.get_by_label("Without a test", exact=True).check()
    assert axe.violations(page) == []
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Verdict: Without a test")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="REQ-CLOSE")).to_have_count(0)
    expect(page.get_by_role("row").filter(has_text="REQ-CREAK")).to_be_visible()
    page.get_by_role("search").get_by_role("link", name="Export").click()
    expect(page.get_by_text("Verdict: uncovered")).to_be_visible()
    page = page_of("viewer", f"~/p/{doors.project}/test-cases?verdict=!not_run&sort=title").page
    expect(page.get_by_role("button", name="Verdict: not Not run")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="TC-CLOSE")).to_be_visible()


def test_a_pass_of_long_ago_is_listed_as_stale(page_of: PageOf, doors: Traceline) -> None:
    doors.create_test_case(title="Oil a door", external_id="TC-OIL")
    long_ago = (datetime.now(UTC) - timedelta(days=20)).isoformat()
    report = FIRST.replace("TC-CLOSE", "TC-OIL").replace("close", "oil")
    ok(doors.post("/test-results", content=report, params={"started_at": long_ago, "environment": "yard"}))
    page = page_of("viewer", f"~/p/{doors.project}/results").page
    page.get_by_role("tab", name="Out-of-date test cases").click()
    row = page.get_by_role("tabpanel").get_by_role("listitem").filter(has_text="TC-OIL")
    expect(row.get_by_text("Its last pass is more than 14 days old.")).to_be_visible()
    assert axe.violations(page) == []


def test_a_run_that_ends_is_seen_at_once(page_of: PageOf, admin: Traceline) -> None:
    within = in_new_project(admin, visibility="open")
    visit = page_of("viewer", f"~/p/{within.project}/results")
    expect(visit.page.get_by_text("No tests have run yet.")).to_be_visible()
    visit.wait_for(lambda: any("/api/v1/events" in url for url in visit.requests))
    ok(within.post("/test-results", content=FIRST, params={"name": "Nightly"}))
    expect(visit.page.get_by_role("link", name="Nightly")).to_be_visible()


def test_a_test_that_nobody_traces_gets_its_test_case_by_keyboard(page_of: PageOf, admin: Traceline) -> None:
    within = in_new_project(admin, visibility="open")
    within.create_test_case(external_id="TC-CLOSE")
    test_case = within.create_test_case(title="Open a door", external_id="TC-OPEN")
    ok(within.post("/test-results", content=FIRST))
    page = page_of("admin", f"~/p/{within.project}/results?tab=tests").page
    page.get_by_role("button", name="Choose a test case for open").focus()
    page.keyboard.press("Enter")
    page.keyboard.type("Open a door")
    expect(page.get_by_role("option", name="TC-OPEN")).to_be_visible()
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("Every test that CI runs has a test case.")).to_be_visible()
    assert ok(within.get(f"/test-cases/{test_case['id']}/results"))["verdict"] == "passed"


def test_a_renamed_test_is_merged_with_what_it_was_by_keyboard(page_of: PageOf, doors: Traceline) -> None:
    test_case = doors.create_test_case(title="Lock a door", external_id="TC-LOCK")
    named = '<properties><property name="test_case" value="TC-LOCK"/></properties>'
    for name, inside in [("locks the door", named), *[("locks the doors", "")] * 3]:
        test = f'<testcase classname="locks" name="{name}">{inside}</testcase>'
        report = f'<testsuite name="locks">{test}</testsuite>'
        ok(doors.post("/test-results", content=report, params={"branch": "locks"}))
    page = page_of("reviewer", f"~/p/{doors.project}/results?tab=tests&show=renamed").page
    page.get_by_role("button", name="Merge locks the door into locks the doors").focus()
    assert axe.violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("No test looks like the new name of another.")).to_be_visible()
    (now,) = ok(doors.get("/automated-tests", params={"test_case_id": test_case["id"]}))["items"]
    assert now["name"] == "locks the doors"


def test_an_admin_changes_the_rules_of_the_gate_and_keeps_a_policy(page_of: PageOf, admin: Traceline) -> None:
    within = in_new_project(admin, visibility="open")
    within.create_requirement(title="Doors close", external_id="REQ-CLOSE", priority="low")
    covered, test_case = within.create_requirement(title="Doors lock", priority="high"), within.create_test_case()
    within.create_link(covered["id"], test_case["id"])
    ok(within.post("/test-results", content=FIRST))  # without a run no gate is open
    visit = page_of("admin", f"~/p/{within.project}/results?tab=gate", width=320)
    page = visit.page
    expect(page.get_by_text(re.compile(r"\bReady to release"))).to_be_visible()
    page.get_by_role("button", name="Change the rules").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("One rule on each line").fill("max_uncoverd 0")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("There is no rule 'max_uncoverd'")).to_be_visible()
    visit.complaints.clear()  # Chromium tells of the 422
    dialog.get_by_label("One rule on each line").fill("max_uncovered 0 priority=!low")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("cannot exclude")).to_be_visible()
    dialog.get_by_label("One rule on each line").fill("max_uncovered 0")
    ok(within.patch(f"/projects/{within.project}", json={"description": "Of somebody else, meanwhile"}))
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("Somebody has changed the project meanwhile")).to_be_visible()
    visit.complaints.clear()  # of the 412
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Change the rules").click()
    dialog.get_by_label("One rule on each line").fill("max_uncovered 0")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Not ready to release")).to_be_visible()
    expect(page.get_by_role("link", name="REQ-CLOSE")).to_be_visible()
    page.get_by_role("button", name="New policy").click()
    dialog.get_by_label("Name").fill("release")
    dialog.get_by_label("One rule on each line").fill("max_uncovered 0 priority=critical,high\nmax_failed 0")
    assert axe.violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("2 of 2 rules hold")).to_be_visible()
    expect(page.get_by_text("max_uncovered 0 priority=critical,high")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="New policy").click()
    dialog.get_by_label("Name").fill("release")
    dialog.get_by_label("One rule on each line").fill("max_uncovered 5")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("There is already a policy release")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete the policy").click()
    page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Not ready to release")).to_be_visible()


def test_the_dashboard_leads_to_the_requirements_behind_a_verdict(page_of: PageOf, doors: Traceline) -> None:
    doors.create_requirement(title="Doors are red", external_id="REQ-RED")
    page = page_of("viewer", f"~/p/{doors.project}").page
    summary = page.get_by_role("region", name="Requirements by what their tests say")
    summary.get_by_role("link", name="Without a test").click()
    expect(page.get_by_role("row").filter(has_text="REQ-RED")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="REQ-CLOSE")).to_have_count(0)
    page.go_back()
    summary.get_by_role("link", name="ready to release").click()
    page.get_by_role("tab", name="Verdicts").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Verification report as CSV").click()
    assert download.value.suggested_filename.endswith(".csv")


def test_a_person_accepts_a_failure_and_retires_a_missing_test_by_keyboard(page_of: PageOf, admin: Traceline) -> None:
    within = in_new_project(admin, visibility="open")
    requirement = within.create_requirement(external_id="REQ-KNOWN")
    cases = {name: within.create_test_case(external_id=name) for name in ("TC-FAILS", "TC-GONE")}
    for case in cases.values():
        within.create_link(requirement["id"], case["id"])
    fails = '<testcase classname="doors" name="[TC-FAILS] close"><failure message="stuck"/></testcase>'
    gone = '<testcase classname="doors" name="[TC-GONE] open"/>'
    for commit, inside in {"one": fails + gone, "two": fails}.items():
        params = {"commit": commit, "lane": "ci/unit", "run": commit, "shard": "1/1"}
        ok(within.post("/test-results", content=f'<testsuite name="doors">{inside}</testsuite>', params=params))

    visit = page_of("admin", f"~/p/{within.project}/test-cases/{cases['TC-FAILS']['id']}?tab=results")
    page = visit.page
    accept = page.get_by_role("button", name=re.compile("Accept this failure of .*close"))
    accept.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Accept this failure")
    expect(dialog.get_by_label("Why it is known and accepted")).to_be_focused()
    page.keyboard.type("The supplier mends it.")
    assert axe.violations(page) == []
    dialog.get_by_label("Address of the issue").focus()
    page.keyboard.type("https://issues.example.com/7")
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    panel = page.get_by_role("region", name="Results")
    expect(panel.get_by_text(re.compile("accepted until .*: The supplier mends it.")).first).to_be_visible()
    assert axe.violations(page) == []

    visit.open(f"/p/{within.project}/results?tab=accepted")
    expect(page.get_by_role("link", name="https://issues.example.com/7")).to_be_visible()
    assert axe.violations(page) == []
    page.get_by_role("button", name=re.compile("No longer accept")).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("No failure is accepted.")).to_be_visible()

    visit.open(f"/p/{within.project}/results?tab=tests&show=missing")
    expect(page.get_by_text("Not in the last whole run of ci/unit on main")).to_be_visible()
    page.get_by_role("button", name=re.compile("Retire .*open")).focus()
    page.keyboard.press("Enter")
    page.keyboard.type("The door is gone.")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Whole runs have had each test that a test case counts on.")).to_be_visible()
    (test,) = within.items("/automated-tests", retired=True)
    assert test["retired"][0]["note"] == "The door is gone."


def test_tests_are_connected_by_an_example_of_their_runner_and_a_report_is_tried(
    page_of: PageOf, admin: Traceline
) -> None:
    within = in_new_project(admin)
    within.create_test_case(title="Close a door", external_id="LIFT-7")
    page = page_of("admin", f"~/p/{within.project}/results").page
    page.get_by_text("No tests have run yet.").get_by_role("link", name="Connect your tests").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Connect your tests")
    expect(page.get_by_role("region", name="test_login.py")).to_contain_text('record_property("test_case", "LIFT-7")')
    page.get_by_role("button", name=re.compile("Your runner")).press("Enter")
    page.get_by_role("option", name="Go", exact=True).click()
    expect(page.get_by_role("region", name="login_test.go")).to_contain_text("func Test_LIFT_7_logs_in")
    sending = page.get_by_role("region", name="In the pipeline, or in a shell")
    expect(sending).to_contain_text(f"traceline results report.jsonl --project {within.project}")
    expect(page).to_have_url(re.compile(r"/results/connect\?runner=go"))
    assert axe.violations(page) == []

    page.get_by_role("heading", level=1).dispatch_event("drop", {"dataTransfer": page.evaluate_handle(HELD_REPORT)})
    outcome = page.get_by_role("region", name="Send a report")
    expect(outcome).to_contain_text("1 of 2 tests counts for a test case.")
    expect(outcome).to_contain_text("1 test has no test case")
    expect(outcome).to_contain_text("Among them: test_open")
    expect(outcome.get_by_role("link", name="Connect your tests")).to_have_attribute(
        "href", re.compile(r"/results/connect\?runner=pytest$")
    )
    assert axe.violations(page) == []
