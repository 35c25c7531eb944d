"""What rows of lists tell beside their items."""

from pydantic import BaseModel, Field
from pydantic.config import JsonDict

TAGGED_EXAMPLE: JsonDict = {"etag": '"c0a4-1-6508e3c4d2b40"'}


class Tagged(BaseModel):
    """What a row of a list tells beside the item."""

    etag: str = Field(description="The ETag of the item as it is read by its id: for `If-Match`.")
