"""What can be said of the images without building them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from contracts import routes

FOLDER = Path(__file__).parents[1]
ROOT = FOLDER.parents[1]
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
FINAL_STAGE = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
LOCKED = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
SERVICES = ["gateway", *(service.name for service in routes.SERVICES)]


def needed_by(service: str) -> set[str]:
    """The names of the packages that the image of a service asks for."""
    projects = [ROOT / folder / "pyproject.toml" for folder in ("chassis", service)]
    done = subprocess.run(
        [sys.executable, FOLDER / "dependencies.py", *projects], capture_output=True, text=True, check=True
    )
    return {re.split(r"[^\w-]", line, maxsplit=1)[0] for line in done.stdout.splitlines()}


def test_the_program_is_not_root_and_gets_the_signals() -> None:
    assert re.findall(r"^USER (.*)$", FINAL_STAGE, re.MULTILINE) == ["10001:10001"]
    assert re.findall(r"^CMD (.*)$", FINAL_STAGE, re.MULTILINE)[0].startswith('["sh", "-c", "exec python ')
    assert "\nSTOPSIGNAL SIGTERM\n" in FINAL_STAGE


def test_it_says_whether_it_is_well() -> None:
    assert re.search(r"^HEALTHCHECK .*/livez", FINAL_STAGE, re.MULTILINE)


@pytest.mark.parametrize("service", SERVICES)
def test_an_image_needs_nothing_that_is_not_locked(service: str) -> None:
    assert needed_by(service) <= LOCKED


def test_the_extra_for_embeddings_is_pinned_where_make_and_the_image_read_it() -> None:
    pinned = {
        name
        for lock in ("embeddings.lock", "torch.lock")
        for name in re.findall(r"^([a-z0-9-]+)==", (ROOT / "suggestion-service" / lock).read_text(), re.MULTILINE)
    }
    project = tomllib.loads((ROOT / "suggestion-service/pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]["embeddings"]) <= pinned
    for lock in ("embeddings.lock", "torch.lock"):
        assert f"--requirement suggestion-service/{lock}" in (ROOT / "Makefile").read_text()
        assert f"--requirement ${{SERVICE}}/{lock}" in DOCKERFILE
    assert pinned.isdisjoint(LOCKED), "each version is said in one place"


@pytest.mark.parametrize("service", SERVICES)
def test_only_the_service_that_scores_carries_what_scoring_needs(service: str) -> None:
    assert ({"cffi", "numpy", "pystemmer"} <= needed_by(service)) == (service == "suggestion-service")


@pytest.mark.parametrize("service", ["chassis", *SERVICES])
def test_what_an_image_is_made_of_is_sent_to_the_builder(service: str) -> None:
    # Negated lines bring back what `*` takes away; as Docker does, the last line that matches counts.
    sent = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert any(Path(service).match(line[1:]) for line in sent)
