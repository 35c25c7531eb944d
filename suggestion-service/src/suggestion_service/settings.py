"""The settings of suggestion-service."""

from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

from chassis.core.settings import PublisherSettings


class EmbeddingSettings(BaseSettings):
    """With EMBEDDINGS_ENABLED hybrid scores are made of embeddings, too, which workers compute in the background.

    EMBEDDINGS_MODEL is a folder or a name; without it the model is the one that the extra `embeddings` brings.
    """

    model_config = SettingsConfigDict(extra="ignore", frozen=True)

    embeddings_enabled: bool = False
    embeddings_model: str | None = Field(default=None, min_length=1)


class Settings(EmbeddingSettings, PublisherSettings):
    """AUTO_SUGGESTIONS_* say whether and how items are scored in the background, and are a run's defaults; a project
    may say otherwise.

    A run sets the algorithm of the background, too, until the setting is changed: one queue has one scale. A worker
    keeps the corpora of idle projects in at most about SUGGESTIONS_CORPUS_MEMORY_MB megabytes.
    """

    auto_suggestions_enabled: bool = True
    auto_suggestions_algorithm: Literal["tfidf", "keyword", "hybrid"] = "tfidf"
    auto_suggestions_threshold: float = Field(default=0.3, ge=0, le=1, allow_inf_nan=False)
    suggestions_corpus_memory_mb: int = Field(default=512, ge=1)
