"""What an operator would apply, as kustomize renders it, beside the schemas and the rules that it must keep."""

import re
from functools import cache
from pathlib import Path

import pytest

from manifests.objects import Manifests, texts
from manifests.rendering import (
    FOLDER,
    CannotRender,
    components,
    kubectl,
    overlays,
    render,
    render_component,
    render_keys,
)
from manifests.rules import OF_A_WHOLE, OF_EACH_PART, OF_PRODUCTION, Rule
from manifests.schemas import NEWEST, OLDEST, mistakes

OVERLAYS = {folder.name: folder for folder in overlays()}
RULES = {rule.__name__: rule for rule in (*OF_EACH_PART, *OF_A_WHOLE)}
PRODUCTION_RULES = {rule.__name__: rule for rule in OF_PRODUCTION}


@cache
def rendered(overlay: str) -> Manifests:
    return Manifests(render(OVERLAYS[overlay]), render_keys(overlay))


def test_there_is_one_to_try_out_and_one_to_run() -> None:
    assert {"dev", "production"} <= set(OVERLAYS)


@pytest.mark.parametrize("kubernetes", [OLDEST, NEWEST])
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_object_of_an_overlay_is_valid(overlay: str, kubernetes: str) -> None:
    assert list(mistakes(rendered(overlay).objects, kubernetes)) == []


def test_the_oldest_kubernetes_is_the_one_that_the_readme_names() -> None:
    assert f"Needs Kubernetes {OLDEST.removesuffix('.0')} or newer" in (FOLDER / "README.md").read_text()


@pytest.mark.parametrize("component", components(), ids=lambda folder: folder.name)
def test_every_component_renders_upon_the_base_is_valid_and_keeps_the_rules(component: Path) -> None:
    manifests = Manifests(render_component(component))
    assert list(mistakes(manifests.objects)) == []
    assert [said for rule in OF_EACH_PART for said in rule(manifests)] == []


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_keeps_the_rule(overlay: str, rule: Rule) -> None:
    assert list(rule(rendered(overlay))) == []


@pytest.mark.parametrize("rule", PRODUCTION_RULES.values(), ids=PRODUCTION_RULES)
def test_production_keeps_the_rule(rule: Rule) -> None:
    assert list(rule(rendered("production"))) == []


def test_without_a_kubectl_the_pinned_one_is_taken_and_without_that_a_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotRender, match="`make check` installs one"):
        kubectl(tmp_path)
    pinned = tmp_path / "kubectl"
    pinned.touch(mode=0o755)
    assert kubectl(tmp_path) == str(pinned)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_every_exception_of_checkov_has_its_reason(overlay: str) -> None:
    exceptions = [
        text
        for each in rendered(overlay).objects
        for place, text in texts(each)
        if re.search(r"checkov\.io/skip\d+$", place)
    ]
    assert exceptions
    assert [each for each in exceptions if not re.fullmatch(r"CKV2?_K8S_\d+=\w+( \S+){4,}\.", each)] == []
