"""What this service reads from its environment."""

from chassis.core.settings import ServiceSettings


class Settings(ServiceSettings):
    """Nothing beyond what every service reads."""
