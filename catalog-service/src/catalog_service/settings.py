"""What catalog-service reads from its environment."""

from pydantic import Field

from chassis.settings import ServiceSettings


class Settings(ServiceSettings):
    """Settings of catalog-service."""

    coverage_drop_threshold: float = Field(default=0.8, ge=0, le=1, allow_inf_nan=False)
