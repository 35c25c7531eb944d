"""The laws of the imports are of every service: who is not named there may import whom they like."""

import tomllib
from pathlib import Path

from contracts.routes import SERVICES

TOOLS = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
PACKAGES = {service.package for service in SERVICES}


def test_every_law_that_is_of_services_names_all_of_them() -> None:
    laws = TOOLS["importlinter"]
    named = {"root_packages": laws["root_packages"]} | {
        f"{law['name']}: {part}": members
        for law in laws["contracts"]
        for part, members in law.items()
        if isinstance(members, list) and len(PACKAGES.intersection(members)) > 1
    }
    assert len(named) > 6
    assert {where: missing for where, members in named.items() if (missing := PACKAGES - set(members))} == {}


def test_types_are_checked_across_all_services() -> None:
    assert {f"{service.name}/src" for service in SERVICES} <= set(TOOLS["mypy"]["mypy_path"].split(":"))
