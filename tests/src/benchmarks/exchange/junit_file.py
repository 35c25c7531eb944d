"""A report as a large test run writes it: short names, no messages, 130 bytes a test case."""

from pathlib import Path

_CASES_OF_A_CLASS = 200


def write(path: Path, cases: int, run: int = 0) -> None:
    """Write a report of so many test cases; what they took differs from run to run."""
    with path.open("w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n')
        for first in range(0, cases, _CASES_OF_A_CLASS):
            numbers = range(first, min(first + _CASES_OF_A_CLASS, cases))
            of_class = f"org.example.shop.module{first // 20_000}.Class{first // _CASES_OF_A_CLASS}Test"
            file.write(f'<testsuite name="{of_class}" tests="{len(numbers)}" failures="0">\n')
            for number in numbers:
                name, took = f"refuses_an_order_of_the_kind_{number}_twice", (number * 7 + run) % 1000
                file.write(f'  <testcase classname="{of_class}" name="{name}" time="0.{took:03}"/>\n')
            file.write("</testsuite>\n")
        file.write("</testsuites>\n")
