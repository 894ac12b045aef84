"""Answers with other names, ids and texts in the place of their own, for a bug report.

What decides how an answer is read stays as it is: shape, names of fields, numbers, times, words of
status. A word or an id becomes the same other one wherever it stands.
"""

from __future__ import annotations

import json
import os
import re
from functools import cache
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from msgspec.structs import replace

from agentco_tui.api.recording import Recorded
from agentco_tui.reading.field_names import fold, is_secret, word_set
from agentco_tui.reading.json_body import looks_like_html
from agentco_tui.reading.kinds import mappable

NOWHERE: Final = "https://platform.invalid"

_WORDS: Final = re.compile(r"(?P<id>(?=\w*\d)(?=\w*[^\W\d])\w+)|[^\W\d_]+|\d+")
_FIELD: Final = re.compile(r"[_@$]?[a-z]+(?:[_-][a-z]+|[A-Z][a-z]+)*")
_TOLD: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ][\d:.,]+( ?Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(:\d\d)?"  # times
    r"|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT"
    r"|[-+]?[$€£]?\d+([.,]\d+)*( ?%| [A-Z]{3})?|true|false"  # figures, and ids of digits
)
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]+([._-][A-Za-z]+){0,4}|[pP]\d")
_PLAIN: Final = (
    *("status", "state", "priority", "severity", "level", "type", "kind", "currency", "period"),
    *("action", "event", "verb", "outcome", "unit", "code", "interval", "format"),
)
"""How the folded names of fields end whose words mean the same everywhere."""
_SEGMENTS: Final = word_set(
    "api companies company agents tasks activity budget alerts trace approve clone export"
)
_LETTERS: Final = "bdfgklmnprst", "aeiou"


@cache
def known_fields() -> frozenset[str]:
    """The folded names under which anything is read."""
    fields = (field for kind in mappable().values() for field in kind.table.fields)
    names = (name for field in fields for name, _ in field.sourced())
    return frozenset(fold(part) for name in names for part in name.split("."))


class Pseudonyms:
    """Of one bundle: nobody can tell from it what stood in their place."""

    def __init__(self, root: str) -> None:
        """`root` is the platform's address, without a slash at its end."""
        self._root, self._secret = root, os.urandom(16)

    def alter(self, answer: Recorded, body: bytes) -> tuple[Recorded, bytes]:
        """The answer to be written in the place of this one."""
        headers = {
            name: told if name == "content-type" else self._header(told)
            for name, told in answer.headers.items()
        }
        failure = answer.failure and (*answer.failure[:2], "the words of the error were left out")
        target = self.target(answer.target)
        altered = replace(answer, target=target, headers=headers, failure=failure)
        return altered, self._body(body.decode("utf-8", "replace")).encode()

    def target(self, text: str) -> str:
        method, _, path = text.partition(" ")
        return f"{method} {self.address(path)}"

    def address(self, text: str) -> str:
        """A path with its query, or a whole address."""
        start, path = "", text.removeprefix(self._root)
        if text.startswith(("http://", "https://")):
            start, path = NOWHERE, re.sub(r"^https?://[^/]*", "", path)
        path, mark, query = path.partition("?")
        segments = (
            each if each in _SEGMENTS else quote(self._value("", unquote(each)), safe="")
            for each in path.split("/")
        )
        pairs = [(name, self._value(name, told)) for name, told in parse_qsl(query, True)]
        return start + "/".join(segments) + mark + urlencode(pairs, quote_via=quote, safe="")

    def _header(self, told: str) -> str:
        if "<" in told:
            told = re.sub(r"<([^>]*)>", lambda link: f"<{self.address(link[1])}>", told)
            return re.sub(r"; (?!rel=)[^,;]*", "", told)
        return self._body(told)

    def _body(self, text: str) -> str:
        try:
            return json.dumps(self._walked("", json.loads(text)))
        except (ValueError, RecursionError):
            start = "<html>" if looks_like_html(text.encode()) else ""
            return start + self._text(text)

    def _walked(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            walked = dict[str, Any]()
            is_map = len(value) > 1 and all(isinstance(each, dict) for each in value.values())
            for name, each in value.items():
                other = self._field(name, is_map)
                while other in walked:
                    other += "_"
                walked[other] = self._walked(name, each)
            return walked
        if isinstance(value, list):
            return [self._walked(field, each) for each in value]
        return self._value(field, value) if isinstance(value, str) else value

    def _field(self, name: str, is_map: bool) -> str:
        """A field's name as it is; a map of records may have names or ids in their place."""
        is_field = fold(name) in known_fields() or (not is_map and _FIELD.fullmatch(name))
        return name if is_field else self._text(name)

    def _value(self, field: str, text: str) -> str:
        if is_secret(field):
            return "****"
        if text.startswith(("http://", "https://", "/api/")):
            return self.address(text)
        if _TOLD.fullmatch(text):
            return text
        is_plain = fold(field).endswith(_PLAIN) and len(text) <= 40
        return text if is_plain and _PLAIN_WORD.fullmatch(text) else self._text(text)

    def _text(self, text: str) -> str:
        return _WORDS.sub(self._word, text)

    def _word(self, word: re.Match[str]) -> str:
        """Letters for letters and digits for digits; another id for what has both."""
        text = word[0]
        seed = text.casefold().encode("utf-8", "surrogatepass")
        noise = blake2b(seed, key=self._secret).digest()
        if word["id"]:
            return "id_" + noise.hex()[:10]
        made = ""
        for at, char in enumerate(text):
            drawn = noise[at % len(noise)] + at // len(noise)
            letters = _LETTERS[at % 2]
            other = str(drawn % 10) if char.isdigit() else letters[drawn % len(letters)]
            made += other.upper() if char.isupper() else other
        return made
