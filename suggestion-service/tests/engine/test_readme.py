"""The example of the README adds up, by the code that scores."""

import re
from pathlib import Path

import numpy as np

from suggestion_service.engine import CALIBRATIONS
from suggestion_service.engine.ranking.certainty import Evidence
from suggestion_service.engine.ranking.metadata import nothing_known

README = Path(__file__).parents[2] / "README.md"
LIKENESS, OF_REQUIREMENT, OF_TEST_CASE = 0.43, 0.36, 0.30
INFORMATION, SHARE = 9.2, 0.55


def test_the_example_of_a_score_says_what_the_code_makes_of_its_figures() -> None:
    (example,) = re.findall(r"\*For example\* .*?\n\n", README.read_text(), re.DOTALL)
    said = " ".join(example.split())
    calibration = CALIBRATIONS["tfidf"]
    evidence = Evidence(np.array([INFORMATION]), np.array([SHARE]), np.array([True]))
    neighbours = np.array([OF_REQUIREMENT]), np.array([OF_TEST_CASE])
    scored = calibration.scores(np.array([LIKENESS]), *neighbours, evidence.certainty, nothing_known(1))
    csls, certainty, score = (float(column[0]) for column in (scored.csls, scored.certainty, scored.score))
    alone = float(np.exp(-(calibration.intercept + calibration.slope * csls)))
    most = -float(np.log(np.exp(-certainty) - np.exp(-4.8)))
    for figures in (
        f"intercept {calibration.intercept:g}, slope {calibration.slope:g}",
        f"the cosine {LIKENESS:.2f}",
        f"on average {OF_REQUIREMENT:.2f} and {OF_TEST_CASE:.2f} alike",
        f"{2 * LIKENESS:.2f} - {OF_REQUIREMENT:.2f} - {OF_TEST_CASE:.2f} = {csls:.2f}",
        f"exp(-({calibration.intercept:g} + {calibration.slope:g} x {csls:.2f})) = {alone:.3f}",
        f"terms of {INFORMATION:g} nats, which is {SHARE:.2f} of",
        f"0.1 + {0.1 * INFORMATION:.2f} + 5 x {SHARE:.2f}^4 = {most:.2f}",
        f"exp(-{most:.2f}) + exp(-4.8) = {np.exp(-certainty):.3f}, which is exp(-{certainty:.2f})",
        f"1 / (1 + {alone:.3f} + {np.exp(-certainty):.3f}) = {score:.2f}, `high`",
    ):
        assert figures in said
