"""Sentences name numbers, fields and things as people do."""

import pytest

from notification_service.wording import listed, named


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
