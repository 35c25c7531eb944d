"""What is said of a file that is no JSON, by whichever parser reads it."""

from io import BytesIO

import ijson
import orjson
import pytest

from catalog_service.exchange.broken_json import NO_JSON, broken_json, reason_of

MISTAKES = [
    (b'[\n"\xff"]', "bytes are not UTF-8", "bytes are not UTF-8"),
    (b'[\n"\\udc00"]', "half a surrogate pair", "half a surrogate pair"),
    (b'[\n"a\nb"]', "(write \\n)", "(write \\n)"),
    (b'[\n"\\x"]', "(write two)", "(write two)"),
    (b'[\n"\\u12g4"]', "(write two)", "(write two)"),
    (b"[\n1e999]", "too large; write it as a text", "too large; write it as a text"),
    (b"[\n1 /* one */]", "no comments", "a comma or the closing bracket is missing"),
    (b"[\n1] 2", "something follows its end", "something follows its end"),
    (b'[\n{"a" 1}]', "the colon", "the colon"),
    (b'[\n{"a":1 "b":2}]', "a comma or the closing bracket", "a comma or the closing bracket"),
    (b"[\n1,]", "something is no value", "a comma after the last member"),
    (b"[\n{1:2}]", "a name in double quotes", "a name in double quotes"),
    (b"[\n1.]", "a number is not written as JSON has it", "a number is not written as JSON has it"),
    (b"[\nNone]", "something is no value", "something is no value"),
]


@pytest.mark.parametrize(("content", "words", "words_of_a_line"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_said_in_words_of_those_who_write_json(content: bytes, words: str, words_of_a_line: str) -> None:
    with pytest.raises(NO_JSON) as refused:
        list(ijson.items(BytesIO(content), "item", use_float=True))
    problem = broken_json(BytesIO(content), 0, refused.value)
    assert words in problem.message
    assert (problem.code, problem.line) == ("unreadable_file", 2)
    with pytest.raises(orjson.JSONDecodeError) as of_line:
        orjson.loads(content)
    assert words_of_a_line in reason_of(of_line.value)


def test_a_line_that_is_nested_too_deep_is_said_to_be() -> None:
    with pytest.raises(orjson.JSONDecodeError) as refused:
        orjson.loads("[" * 100_000)
    assert reason_of(refused.value) == "it is nested too deep"
