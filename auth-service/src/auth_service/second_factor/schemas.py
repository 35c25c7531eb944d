"""What the second factor looks like on the wire."""

from typing import Annotated

from pydantic import BaseModel, Field, SecretStr

Code = Annotated[
    SecretStr,
    Field(min_length=6, max_length=64, description="Of the phone; or a recovery code.", examples=["492039"]),
]
_Password = Annotated[SecretStr, Field(max_length=128)]


class SecondFactor(BaseModel):
    """Whether somebody has a second factor."""

    is_active: bool
    is_required: bool = Field(description="By REQUIRE_SECOND_FACTOR, for this account.")
    recovery_codes_left: int


class Beginning(BaseModel):
    """Who wants a second factor shows first that they know the password."""

    password: _Password


class Begun(BaseModel):
    """What a phone needs to know. It counts once a code of it is confirmed."""

    secret: str = Field(description="Shown this once.", examples=["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"])
    uri: str = Field(description="The same for an app.", examples=["otpauth://totp/Traceline:kim%40example.com?..."])
    qr: str = Field(
        description="The same as a QR code: an SVG, as a `data:` address.", examples=["data:image/svg+xml,..."]
    )


class Confirmation(BaseModel):
    """A code that the phone shows."""

    code: Annotated[SecretStr, Field(min_length=6, max_length=64, examples=["492039"])]


class RecoveryCodes(BaseModel):
    """Codes for when the phone is away; each works once."""

    recovery_codes: list[str] = Field(description="Shown this once.", examples=[["3f2k-9xw7-q1ab-7m2c"]])


class Proof(BaseModel):
    """The password, and a code."""

    password: _Password
    code: Code
