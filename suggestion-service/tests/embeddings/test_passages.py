"""What a model reads of an item."""

import pytest

from suggestion_service.embeddings.passages import passages, whole_text
from suggestion_service.engine import MOST_SENTENCES, ItemText, sentences
from suggestion_service.engine.text.sentences import LONGEST_SENTENCE


def of(text: str) -> list[str]:
    return list(sentences(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The pump stops. The lamp burns!  Who is there?", ["The pump stops.", "The lamp burns!", "Who is there?"]),
        ("Use a port, e.g. COM1, vs. LPT1 etc. as given", ["Use a port, e.g. COM1, vs. LPT1 etc. as given"]),
        ("Version 1.2.3 is set; see file.txt for more", ["Version 1.2.3 is set;", "see file.txt for more"]),
        ('He said "stop." Then it stopped.', ['He said "stop."', "Then it stopped."]),
        ("See Dr. J. Smith. 2. Open the door.", ["See Dr. J. Smith.", "2. Open the door."]),
        ("泵停止。灯在晚上亮。", ["泵停止。", "灯在晚上亮。"]),
    ],
)
def test_prose_is_cut_at_the_ends_of_its_sentences(text: str, expected: list[str]) -> None:
    assert of(text) == expected


def test_list_items_and_steps_stand_alone_without_their_marks() -> None:
    text = "Steps:\n1. Open the door\n2) Close it\n- with care\n  * and a key\n# Result\na) It is shut"
    assert of(text) == ["Steps:", "Open the door", "Close it", "with care", "and a key", "Result", "It is shut"]


def test_wrapped_lines_are_one_sentence_and_short_lines_are_not() -> None:
    wrapped = "The request body for the operation should be a resource containing\nSINGLE parameters\nand no others"
    assert of(wrapped) == [wrapped.replace("\n", " ")]
    assert of("Log in\nOpen the page\nLog out") == ["Log in", "Open the page", "Log out"]


def test_a_blank_line_ends_a_sentence() -> None:
    assert of("the first part\n\nthe second part") == ["the first part", "the second part"]


def test_signs_and_marks_alone_are_no_sentence() -> None:
    assert of("##\n---\n... ! \n1.\n🙂🙂🙂") == []


def test_an_endless_sentence_comes_in_pieces_at_words() -> None:
    pieces = of("pump " * 200)
    assert len(pieces) == 3
    assert all(len(piece) <= LONGEST_SENTENCE and set(piece.split()) == {"pump"} for piece in pieces)


def test_a_text_of_a_megabyte_has_as_many_passages_as_any_long_one() -> None:
    for text in ("The pump stops. " * 70_000, "x" * 1_000_000, "word " * 200_000):
        assert len(passages(ItemText(title="Pump", description=text))) == MOST_SENTENCES


def test_an_item_says_its_title_once() -> None:
    assert passages(ItemText(title="The pump stops", description="The pump stops. Then it rests.")) == [
        "The pump stops.",
        "Then it rests.",
    ]
    assert whole_text(ItemText(title="The PUMP", description="the pump stops")) == "the pump stops"
    assert passages(ItemText(title="Pump", description="It stops.")) == ["Pump", "It stops."]


def test_everything_that_a_test_case_says_is_read_in_the_order_of_doing_it() -> None:
    item = ItemText(
        title="Pump",
        description="It stops.",
        steps={"1": "Fill the tank. Wait", "2": "Look"},
        preconditions="The tank is empty",
        postconditions="The pump is still",
    )
    expected = ["Pump", "It stops.", "The tank is empty", "Fill the tank.", "Wait", "Look", "The pump is still"]
    assert passages(item) == expected
    assert whole_text(item) == "Pump\nIt stops.\nThe tank is empty\nFill the tank. Wait\nLook\nThe pump is still"


def test_an_item_without_words_has_no_passages() -> None:
    assert passages(ItemText(title="", description=" \n ")) == []
    assert whole_text(ItemText(title=" ", description="")) == ""
