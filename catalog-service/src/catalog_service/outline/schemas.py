"""The outline as the API takes and gives it."""

from typing import Annotated, Any, Final
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from catalog_service.items.bounds import Section
from catalog_service.sections.positions import FORM

MOST_MOVED: Final = 1000
_ID: Final = "7f0c2f9e-6a0e-4a54-9d39-3f1d1f6f0a11"
_PLACE: Final[dict[str, Any]] = {
    "id": _ID,
    "section": ["3 Doors"],
    "position": "065f2c8e31a40/065f2c8e31a41",
    "from_position": "065f2c8e31a48",
}
Position = Annotated[str, Field(pattern=f"^{FORM.pattern}$", max_length=3000)]


class Place(BaseModel):
    """Where an item goes back to, unless it has been moved from `from_position` since."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: UUID
    section: Section
    position: Position
    from_position: Position


class Undo(BaseModel):
    """The body of the move that puts everything back."""

    places: list[Place]


class Move(BaseModel):
    """Which items go where, in this order: `before` or `after` another, or to the end of a `section`.

    To undo a move, send the `undo` of its answer.
    """

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"ids": [_ID], "section": ["3 Doors"]}]})

    ids: Annotated[list[UUID], Field(max_length=MOST_MOVED)] = []
    before: UUID | None = None
    after: UUID | None = None
    section: Annotated[Section | None, Field(description="Titles from the top; [] is none.")] = None
    places: Annotated[list[Place], Field(max_length=MOST_MOVED, description="What `undo` of a move says.")] = []

    @model_validator(mode="after")
    def _says_where(self) -> "Move":
        where = [self.before, self.after, self.section]
        if self.places:
            if self.ids or any(one is not None for one in where):
                raise ValueError("places say where each goes: leave ids, before, after and section out.")
            return self
        if not self.ids:
            raise ValueError("Name the ids of what is to be moved.")
        if self.before is not None and self.after is not None:
            raise ValueError("Say before or after which item, not both.")
        if all(one is None for one in where):
            raise ValueError("Say where they go: before or after an item, or to the end of a section.")
        if {self.before, self.after} & set(self.ids):
            raise ValueError("What is moved cannot go before or after itself: name another item.")
        return self


class Moved(BaseModel):
    """Where an item is now."""

    id: UUID
    section: list[str]
    position: str
    etag: str


class MoveAnswer(BaseModel):
    """What was moved, in order, and the body of the move that undoes it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "moved": 1,
                    "items": [
                        {
                            "id": _ID,
                            "section": ["3 Doors"],
                            "position": "065f2c8e31a40/065f2c8e31a49",
                            "etag": '"6b1f-1-65f2c8e31a4a"',
                        }
                    ],
                    "undo": {"places": [_PLACE]},
                }
            ]
        }
    )

    moved: int
    items: list[Moved]
    undo: Undo


class SectionRead(BaseModel):
    """A section: what is in it itself, and with all sections below it."""

    section: Annotated[list[str], Field(description="Titles from the top.")]
    position: Annotated[str, Field(description="What positions of its items begin with.")]
    section_text: str | None
    items: int
    items_below: int


class Sections(BaseModel):
    """The sections of one kind of item, in the order of the outline; those that hold nothing are left out."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "sections": [
                        {
                            "section": ["3 Doors"],
                            "position": "065f2c8e31a40/",
                            "section_text": None,
                            "items": 4,
                            "items_below": 9,
                        }
                    ],
                    "without_section": 2,
                }
            ]
        }
    )

    sections: list[SectionRead]
    without_section: int
