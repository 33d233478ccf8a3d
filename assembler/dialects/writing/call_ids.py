"""Makes call ids that Chat and Mistral accept. Each depends only on the old id, so call and answer agree."""

from __future__ import annotations

import hashlib
import re
import string

from assembler.conversation.messages.dicts import CALL_ID_LIMIT

_ID = re.compile(r"[a-zA-Z0-9]{9}")
"""A call id. `Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9`: models before tokenizer v13."""
_ALPHABET = string.digits + string.ascii_letters


def legal_id(call_id: str, limit: int = CALL_ID_LIMIT) -> str:
    """The id if it is short enough, else one made from its hash."""
    return call_id if len(call_id) <= limit else f"call_{hashlib.sha256(call_id.encode()).hexdigest()[: limit - 5]}"


def make_nine_characters(call_id: str) -> str:
    """The id if it is nine letters and digits, else one made from its hash.

    Two ids collide once in 62**9 / 2 pairs.
    """
    if _ID.fullmatch(call_id):
        return call_id
    number = int.from_bytes(hashlib.sha256(call_id.encode()).digest())
    letters: list[str] = []
    for _ in range(9):
        number, place = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[place])
    return "".join(letters)
