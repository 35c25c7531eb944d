"""Badges as pictures."""

import re

import pytest
from lxml import etree

from catalog_service.executions.badges import draw_gate, draw_share


@pytest.mark.parametrize(
    ("count", "total", "said"),
    [(0, 0, "no requirements"), (0, 3, "0 %"), (2, 3, "66 %"), (1999, 2000, "99 %"), (2000, 2000, "100 %")],
)
def test_a_share_is_rounded_down_so_that_what_lacks_is_seen(count: int, total: int, said: str) -> None:
    badge = etree.fromstring(draw_share("verified", count, total))
    assert badge.get("aria-label") == f"verified: {said}"
    assert badge.xpath("string(*[local-name()='title'])") == f"verified: {said}"


def test_what_is_whole_looks_otherwise_than_what_lacks() -> None:
    colours = [re.findall("#[0-9a-f]{6}", draw_share("coverage", count, 100))[1] for count in (100, 99, 79)]
    colours.append(re.findall("#[0-9a-f]{6}", draw_share("coverage", 0, 0))[1])
    assert len(set(colours)) == 4


def test_a_gate_passes_or_does_not() -> None:
    assert "gate: passes" in draw_gate(passed=True)
    assert "gate: does not pass" in draw_gate(passed=False)
