"""Files of real tools, all formats together: each is taken for what it is, and read without an end of the reader."""

import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from exchange_samples import FOLDER, samples

from catalog_service.exchange import registry
from catalog_service.exchange.formats import ReadOptions
from catalog_service.exchange.records import Item

FORMATS = {
    "csv": "csv", "xlsx": "xlsx", "needs-json": "needs", "strictdoc": "strictdoc", "gherkin": "gherkin",
    "openfasttrace": "openfasttrace", "testlink": "testlink", "testrail-xml": "testrail", "zephyr-xml": "zephyr",
}  # fmt: skip
"""The format of the files of a folder; those of ReqIF and Doorstop are archives, too."""


@pytest.mark.parametrize("path", samples(*(f"{folder}/**/*.*" for folder in FORMATS), "reqif/*"))
@pytest.mark.parametrize("is_named", [True, False], ids=["named", "nameless"])
def test_each_is_taken_for_what_it_is_whatever_its_name(path: Path, is_named: bool) -> None:
    if path.suffix == ".sgra":
        return  # a grammar, which holds no requirement
    content = BytesIO(path.read_bytes())
    folder = path.relative_to(FOLDER).parts[0]
    expected = FORMATS.get(folder) or path.suffix[1:]
    known = registry.recognise(content, path.name if is_named else None, None)
    assert known.name == expected
    found = [record for record in known.read(content, ReadOptions(file_name=path.name)) if isinstance(record, Item)]
    assert found


@pytest.mark.parametrize("path", samples("doorstop/*"))
def test_a_packed_tree_of_doorstop_is_one(path: Path) -> None:
    content = BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for file in sorted(path.rglob("*")):
            archive.write(file, file.relative_to(path).as_posix())
    known = registry.recognise(content, "reqs.zip", None)
    assert known.name == "doorstop"
    found = [record for record in known.read(content, ReadOptions()) if isinstance(record, Item)]
    assert len(found) == len([*path.rglob("*.yml"), *path.rglob("*.md")]) - len([*path.rglob(".doorstop.yml")])
    assert not [item for item in found if item.problems]
