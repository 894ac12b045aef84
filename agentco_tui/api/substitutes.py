"""Makes substitutes for private words and numbers: random, but the same one for the same word.

They are used in a *bundle*, the file with recorded answers that is attached to a bug report (see
`pseudonyms`).
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b
from typing import Final

WORDS: Final = re.compile(r"(?P<id>(?=\w*\d)(?=\w*[^\W\d])\w+)|[^\W\d_]+|\d+")
"""An id (letters and digits together), or a run of letters, or one of digits."""
HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word begins in a name such as `agentId` or `HTTPError`."""
_LETTERS: Final = ("bdfgklmnprst", "aeiou")
"""Consonants and vowels, which alternate in a substitute."""
_FIRST_NUMBER: Final = 100_000_000
"""The smallest substitute for an id of digits, so that all have the same length."""
_COUNT_OF_NUMBERS: Final = 9 * _FIRST_NUMBER
"""How many such substitutes there are."""
_ID_LENGTH: Final = 10
"""Hexadecimal digits of the substitute for another id."""


class Substitutes:
    """The substitutes of one bundle."""

    def __init__(self, key: bytes | None = None) -> None:
        """`key` is random if not given. Without it, no word can be found from its substitute.

        It is never written anywhere.
        """
        self._key = os.urandom(16) if key is None else key
        self._numbers: dict[str, str] = {}
        """The substitute for each id of digits."""
        self._used_numbers: set[int] = set()

    def text(self, text: str) -> str:
        """A text with a substitute for each word and number; the signs between them stay."""
        return WORDS.sub(self.word, text)

    def word(self, match: re.Match[str]) -> str:
        """The substitute for a match of `WORDS`."""
        word = match[0]
        if match["id"]:
            return "id_" + self._random_bytes(word).hex()[:_ID_LENGTH]
        if word in self._numbers:
            return self._numbers[word]
        return "".join(self.letters(part) for part in HUMPS.split(word))

    def identifier(self, text: str) -> str:
        """The substitute for an id."""
        if text.isdecimal():
            return self.number(text)
        return self.text(text)

    def number(self, digits: str) -> str:
        """The substitute for an id of digits. Two ids never get the same one."""
        if digits not in self._numbers:
            random_number = int.from_bytes(self._random_bytes(digits)[:4], "big")
            offset = random_number % _COUNT_OF_NUMBERS
            while offset in self._used_numbers:
                offset = (offset + 1) % _COUNT_OF_NUMBERS
            self._used_numbers.add(offset)
            self._numbers[digits] = str(_FIRST_NUMBER + offset)
        return self._numbers[digits]

    def letters(self, word: str) -> str:
        """A word of the same length and case: every character differs where it can.

        A letter differs unless its alphabet has no other; a digit always differs.
        """
        random_bytes = self._random_bytes(word)
        substitute = ""
        for index, char in enumerate(word):
            # Longer words than there are random bytes use each byte again, shifted.
            random_number = random_bytes[index % len(random_bytes)] + index // len(random_bytes)
            if char.isdecimal():
                substitute += _other_digit(int(char), random_number)
                continue
            alphabet = _LETTERS[index % 2]
            letters = alphabet.replace(char.casefold(), "") or alphabet
            letter = letters[random_number % len(letters)]
            substitute += letter.upper() if char.isupper() else letter
        return substitute

    def _random_bytes(self, word: str) -> bytes:
        """The same bytes for the same word in any case."""
        seed = word.casefold().encode("utf-8", "surrogatepass")
        return blake2b(seed, key=self._key).digest()


def _other_digit(digit: int, random_number: int) -> str:
    step = 1 + random_number % 9
    return str((digit + step) % 10)
