"""Sentences name numbers, fields and things as people do."""

import pytest

from notification_service.wording import listed, named, percent


@pytest.mark.parametrize(
    ("share", "shown"),
    [(0.0, "0%"), (0.8, "80%"), (0.57, "57%"), (2 / 3, "66.7%"), (0.9999, "99.9%"), (1.0, "100%")],
)
def test_a_share_is_shown_to_a_tenth_of_a_percent(share: float, shown: str) -> None:
    assert percent(share) == shown


@pytest.mark.parametrize(
    ("share", "threshold", "shown"), [(0.79999, 0.8, "79.9%"), (2 / 3, 0.8, "66.7%"), (0.8, 0.8, "80%")]
)
def test_a_share_below_a_threshold_is_never_shown_as_reaching_it(share: float, threshold: float, shown: str) -> None:
    assert percent(share, below=threshold) == shown


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ([], "nothing"),
        (["title"], "title"),
        (["title", "custom_metadata"], "title and custom metadata"),
        (["a", "b", "c"], "a, b and c"),
    ],
)
def test_fields_are_listed_as_people_list_them(fields: list[str], shown: str) -> None:
    assert listed(fields) == shown


def test_an_item_without_an_external_id_is_named_by_its_title() -> None:
    assert named("test_case", "Fail") == "the test case “Fail”"
    assert named("test_case", "Fail", "TC-1") == "the test case TC-1 “Fail”"
