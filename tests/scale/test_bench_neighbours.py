"""The benchmark of what a member's requests cost others, over two routes: that says nothing about speed."""

import pytest

from acceptance.process import fresh_folder
from benchmarks import neighbours


@pytest.mark.long
@pytest.mark.parametrize(("bar", "kept"), [(1e9, True), (0.0, False)])
def test_each_route_is_a_row_and_what_breaks_the_bar_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, bar: float, kept: bool
) -> None:
    monkeypatch.setattr(neighbours, "BAR", bar)
    with fresh_folder() as place:
        assert neighbours.main(place, r"^(GET /version|POST /requirements many tags)") is kept
    printed = capsys.readouterr().out
    rows = [line for line in printed.splitlines() if line.startswith(("GET /version", "POST /requirements"))]
    assert len(rows) == (2 if kept else 4), printed
    assert all(row.endswith(" *") is not kept for row in rows)
    assert "x200" in rows[0]
    assert "x201" in rows[1]
    assert printed.splitlines()[-1] == f"{2 if kept else 0} of 2 keep the bar."
