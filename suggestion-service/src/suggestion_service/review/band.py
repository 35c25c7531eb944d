"""The display bands: what a score says in a word, where scores mean the same in every record."""

from enum import StrEnum


class Band(StrEnum):
    """Of a hybrid score: 0.90 to 1.00, 0.75 to 0.89, 0.60 to 0.74, below 0.60."""

    VERY_HIGH = "very_high"
    HIGH = "high"
    MODERATE = "moderate"
    LOW = "low"


# A hybrid score is a probability. A cosine is none: of the pairs from 0.3 to 0.4 one project means 8 in 100, another
# 58, and no bounds that are right for five projects are right for a sixth.
BAND = (
    "CASE WHEN s.suggestion_method <> 'hybrid' THEN NULL"
    f" WHEN s.similarity_score >= 0.9 THEN '{Band.VERY_HIGH}' WHEN s.similarity_score >= 0.75 THEN '{Band.HIGH}'"
    f" WHEN s.similarity_score >= 0.6 THEN '{Band.MODERATE}' ELSE '{Band.LOW}' END"
)
"""The band of `suggestions s`, in SQL; NULL where the method has none."""
