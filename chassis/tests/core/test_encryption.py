"""What is encrypted at rest is readable by its key, for its place, unchanged."""

import secrets

import pytest

from chassis.core.encryption import Cipher, NotReadable

PLAIN = b"a private key"
SECRET = secrets.token_hex(32)


def test_only_the_same_key_reads_it_for_the_same_place() -> None:
    encrypted = Cipher(SECRET).encrypt(PLAIN, "keys/1")
    assert PLAIN not in encrypted
    assert Cipher(SECRET).decrypt(encrypted, "keys/1") == PLAIN
    for cipher, place in ((Cipher(secrets.token_hex(32)), "keys/1"), (Cipher(SECRET), "keys/2")):
        with pytest.raises(NotReadable):
            cipher.decrypt(encrypted, place)


def test_the_same_text_is_never_encrypted_the_same() -> None:
    cipher = Cipher(SECRET)
    assert cipher.encrypt(PLAIN, "keys/1") != cipher.encrypt(PLAIN, "keys/1")


@pytest.mark.parametrize("at", range(0, 1 + 12 + len(PLAIN) + 16, 5))
def test_whatever_byte_is_changed_it_is_not_readable(at: int) -> None:
    encrypted = bytearray(Cipher(SECRET).encrypt(PLAIN, "keys/1"))
    encrypted[at] ^= 1
    with pytest.raises(NotReadable):
        Cipher(SECRET).decrypt(bytes(encrypted), "keys/1")


@pytest.mark.parametrize("length", [0, 1, 12, 13, 20])
def test_what_is_cut_is_not_readable(length: int) -> None:
    with pytest.raises(NotReadable):
        Cipher(SECRET).decrypt(Cipher(SECRET).encrypt(PLAIN, "keys/1")[:length], "keys/1")


def test_what_an_earlier_secret_encrypted_is_read_and_told_from_what_the_first_has() -> None:
    later = secrets.token_hex(32)
    encrypted, both = Cipher(SECRET).encrypt(PLAIN, "keys/1"), Cipher(later, SECRET)
    assert both.opened(encrypted, "keys/1") == (PLAIN, False)
    renewed = both.encrypt(PLAIN, "keys/1")
    assert Cipher(later).decrypt(renewed, "keys/1") == PLAIN
    assert both.opened(renewed, "keys/1") == (PLAIN, True)
    with pytest.raises(NotReadable):
        both.opened(encrypted, "keys/2")
    assert both.has_earlier
    assert not Cipher(SECRET).has_earlier
