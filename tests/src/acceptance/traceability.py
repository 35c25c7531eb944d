"""Traceline's own requirements against its own tests: `python -m acceptance.traceability REPORT.xml TRACEABILITY.html`.

It starts a Traceline, imports what the tests are to prove, sends the report of the tests by the command line as a
pipeline does, writes the traceability report, and ends with the exit code of the gate.
"""

import os
import subprocess
import sys
from pathlib import Path

from acceptance.client import Traceline
from acceptance.process import RunningTraceline, fresh_folder
from acceptance.program import ADMIN_EMAIL, ADMIN_PASSWORD

RECORD = Path(__file__).parents[2] / "traceability"
RULES = ("max_failed=0", "max_uncovered=0", "require_run=true")


def main(report: Path, document: Path) -> int:
    """Return the exit code of the gate, or of the first command that failed."""
    commands = (
        ("import", str(RECORD / "requirements.csv"), "--kind", "requirements", "--apply"),
        ("import", str(RECORD / "test_cases.csv"), "--kind", "test_cases", "--apply"),
        ("results", str(report), "--run", "make-test", "--branch", "main", "--link", "--complete"),
        ("gate", "--branch", "main", *(word for rule in RULES for word in ("--rule", rule))),
    )
    with fresh_folder() as place, RunningTraceline(place, AUTO_SUGGESTIONS_ENABLED="false") as running:
        ours = {name: value for name, value in os.environ.items() if not name.startswith(("TRACELINE_", "GITHUB_"))}
        ours |= {"TRACELINE_URL": running.base_url}
        ours |= {"TRACELINE_EMAIL": ADMIN_EMAIL, "TRACELINE_PASSWORD": ADMIN_PASSWORD}
        for words in commands:
            command = [sys.executable, "-m", "traceline_cli.main", *words]
            done = subprocess.run(command, env=ours, check=False, stdout=subprocess.PIPE, text=True)
            # Not where the page has it: who reads this finds nothing there any more.
            sys.stdout.writelines(one for one in done.stdout.splitlines(True) if not one.startswith(running.base_url))
            if done.returncode != 0:
                return done.returncode
            if words[0] == "results":
                _write(running.base_url, document)
    return 0


def _write(base_url: str, document: Path) -> None:
    with Traceline(base_url) as anyone:
        admin = anyone.logged_in(ADMIN_EMAIL, ADMIN_PASSWORD)
        response = admin.get("/reports/verification", params={"format": "html", "branch": "main"})
        response.raise_for_status()
        document.write_bytes(response.content)
    sys.stdout.write(f"The traceability report of these tests is {document}.\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
