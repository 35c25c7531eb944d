"""Which tests may be new names of tests that are gone."""

from datetime import UTC, datetime, timedelta

from catalog_service.executions.renames import NamedTest, pairs

from .conftest import Results, junit

_START = datetime(2026, 11, 1, tzinfo=UTC)


def _test(number: int, name: str, day: int, class_name: str = "Orders", file: str = "") -> NamedTest:
    at = _START + timedelta(days=day)
    return NamedTest(number, class_name, "", file, name, at, at)


def test_each_of_many_is_paired_with_the_one_that_it_is_most_like() -> None:
    gone = [_test(number, f"testOrder{number}IsRejected", 0) for number in range(5000)]
    later = [_test(5000 + number, f"test_order{number}_is_refused", 1) for number in range(5000)]
    assert pairs(gone, later) == {5000 + number: number for number in range(5000)}


def test_half_of_the_words_are_the_same() -> None:
    gone = [_test(1, "opens the left door", 0)]
    later = [
        _test(2, "opens left doors", 1),
        _test(3, "opens all windows twice", 1),
        _test(4, "the left door opens", -1),
    ]
    assert pairs(gone, later) == {2: 1}


def test_of_equals_the_last_one_is_taken() -> None:
    gone = [_test(1, "opens door", 0), _test(2, "opens door a", 1), _test(3, "opens door b", 1)]
    assert pairs(gone, [_test(4, "opens door c", 2)]) == {4: 2}


def test_tests_of_another_class_or_file_are_others() -> None:
    gone = [_test(1, "opens door", 0), _test(2, "closes door", 0, class_name="", file="a.py")]
    others = [_test(3, "opens doors", 1, class_name="Doors"), _test(4, "closes doors", 1, class_name="", file="b.py")]
    same = _test(5, "closes doors", 1, class_name="", file="a.py")
    assert pairs(gone, [*others, same]) == {5: 2}


async def test_a_class_whose_tests_are_all_renamed_at_once(results: Results) -> None:
    word, numbers = results.catalog.word(), range(60)
    await results.post(junit(*((f"{word} order {n} is rejected", "passed") for n in numbers)), branch=word)
    for run in range(3):
        cases = ((f"{word} order {n} is refused", "passed") for n in numbers)
        await results.post(junit(*cases, (f"run {run}", "passed")), branch=word)
    found = await results.catalog.read("/automated-tests", search=word, suspected_rename=True, limit=500)
    former = {
        test["id"]: test["name"]
        for test in (await results.catalog.read("/automated-tests", search=word, limit=500))["items"]
    }
    assert {test["name"]: former[test["suspected_rename"]] for test in found["items"]} == {
        f"{word} order {n} is refused": f"{word} order {n} is rejected" for n in numbers
    }
