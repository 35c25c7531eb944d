"""The display bands: what a score says in a word. Scores of all methods are of one scale."""

from enum import StrEnum


class Band(StrEnum):
    """Of a score: 0.90 to 1.00, 0.75 to 0.89, 0.60 to 0.74, below 0.60."""

    VERY_HIGH = "very_high"
    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"


BAND = (
    f"CASE WHEN s.similarity_score >= 0.9 THEN '{Band.VERY_HIGH}' WHEN s.similarity_score >= 0.75 THEN '{Band.HIGH}'"
    f" WHEN s.similarity_score >= 0.6 THEN '{Band.MODERATE}' ELSE '{Band.LOW}' END"
)
"""The band of `suggestions s`, in SQL."""
