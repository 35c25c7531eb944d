"""What a suggestion says it was made by, for each algorithm of the engine."""

from suggestion_service.engine import Algorithm

METHODS: dict[Algorithm, str] = {
    "tfidf": "semantic_similarity",
    "keyword": "keyword_match",
    "hybrid": "hybrid",
}
