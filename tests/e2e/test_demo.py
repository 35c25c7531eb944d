"""What a newcomer sees after ``make demo``."""

from pathlib import Path

from acceptance.client import Json, Traceline
from acceptance.process import RunningTraceline
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD
from acceptance.waiting import eventually


def test_the_demo_project_is_loaded_once_and_coverage_rises_with_accepted_suggestions(place: Path) -> None:
    with RunningTraceline(place, ["embedded", "--demo"]) as running:
        eventually(lambda: "Log in as" in running.output, "the greeting", seconds=60)
        assert f"Traceline is running at {running.base_url}" in running.output
        with Traceline(running.base_url) as anyone:
            admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
            before = summary(admin)
            assert before["total_requirements"] >= 60
            assert before["total_test_cases"] >= 90
            assert before["suspect_links"] == 1
            assert 0.3 < before["coverage"] < 0.6

            pending = admin.read("/suggestions", status="pending", sort="score:desc")
            assert pending["total"] >= 10
            assert all(suggestion["suggestion_reason"] for suggestion in pending["items"])
            best = [suggestion["id"] for suggestion in pending["items"][:10]]
            assert admin.post("/suggestions/bulk-review", json={"action": "accept", "ids": best}).status_code == 200
            after = summary(admin)
            assert after["total_links"] == before["total_links"] + 10
            assert after["coverage"] > before["coverage"]

        running.stop()
        running.start()
        eventually(lambda: "The demo project is there already." in running.output, "the second greeting", seconds=60)
        with Traceline(running.base_url) as anyone:
            assert summary(anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)) == after


def summary(user: Traceline) -> Json:
    report: Json = user.read("/reports/traceability-matrix", limit=1)["summary"]
    return report
