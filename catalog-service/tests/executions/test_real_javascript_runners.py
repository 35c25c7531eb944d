"""Node.js, Vitest, Jest, Mocha and Playwright Test themselves: one identity a test by each of their reporters."""

from pathlib import Path

import pytest

from .conftest import Results
from .real_runners import NODE, Runner, check

_CART = """
describe("shop", () => {
  describe("cart", () => {
    it("NAME", () => {
      throw new Error("no")
    })
  })
  it("opens", () => {})
})
"""
_NAMES = ("[KEY] locks", "[KEY] locks twice")

RUNNERS = {
    "node": Runner(
        {"test/a.test.mjs": f'import {{ describe, it }} from "node:test"\n{_CART}'},
        [str(NODE), "--test", "--test-reporter=junit", "--test-reporter-destination=junit.xml"],
        ["junit.xml"],
        _NAMES,
    ),
    "vitest": Runner(
        {
            "test/a.test.js": f'import {{ describe, it }} from "vitest"\n{_CART}',
            "vitest.config.mjs": """
const ctrf = ["@d2t/vitest-ctrf-json-reporter", { outputDir: ".", outputFile: "ctrf.json" }]
const allure = ["allure-vitest/reporter", { resultsDir: "allure" }]
export default {
  test: {
    reporters: ["junit", "tap-flat", ctrf, allure],
    outputFile: { junit: "junit.xml" },
  },
}
""",
        },
        ["sh", "-c", "node node_modules/vitest/vitest.mjs run > flat.tap"],
        ["junit.xml", "flat.tap", "ctrf.json", "allure"],
        _NAMES,
    ),
    "jest": Runner(
        {
            "test/a.test.js": _CART,
            "jest.config.cjs": """
module.exports = {
  roots: ["<rootDir>/test"],
  reporters: [
    ["jest-junit", { outputDirectory: ".", outputName: "junit.xml", addFileAttribute: "true" }],
    ["jest-ctrf-json-reporter", { outputDir: ".", outputFile: "ctrf.json" }],
  ],
}
""",
        },
        [str(NODE), "node_modules/jest/bin/jest.js", "--runInBand"],
        ["junit.xml", "ctrf.json"],
        _NAMES,
    ),
    "mocha": Runner(
        {
            "test/a.test.js": _CART,
            "all.cjs": """
const { spawnSync } = require("node:child_process")
const mocha = "node_modules/mocha/bin/mocha.js"
const options = { xunit: "output=junit.xml", "mocha-ctrf-json-reporter": "outputDir=.,outputFile=ctrf.json" }
for (const [reporter, option] of Object.entries(options)) {
  spawnSync(process.execPath, [mocha, "--reporter", reporter, "--reporter-options", option, "test/a.test.js"])
}
""",
        },
        [str(NODE), "all.cjs"],
        ["junit.xml", "ctrf.json"],
        _NAMES,
    ),
    "playwright": Runner(
        {
            "e2e/shop/a.spec.js": f'const {{ test: it }} = require("@playwright/test")\n{_CART}'.replace(
                "desc", "it.desc"
            ),
            "playwright.config.cjs": """
module.exports = {
  testDir: "e2e",
  projects: [{ name: "chromium" }],
  workers: 1,
  reporter: [
    ["junit", { outputFile: "junit.xml" }],
    ["json", { outputFile: "own.json" }],
    ["playwright-ctrf-json-reporter", { outputDir: ".", outputFile: "ctrf.json" }],
    ["allure-playwright", { resultsDir: "allure" }],
  ],
}
""",
        },
        [str(NODE), "node_modules/@playwright/test/cli.js", "test", "--config", "playwright.config.cjs"],
        ["junit.xml", "own.json", "ctrf.json", "allure"],
        _NAMES,
    ),
}


@pytest.mark.parametrize("runner", RUNNERS.values(), ids=RUNNERS)
async def test_a_test_is_the_same_by_each_reporter(results: Results, runner: Runner, tmp_path: Path) -> None:
    await check(results, runner, tmp_path)
