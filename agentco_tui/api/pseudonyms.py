"""Answers with other names, ids and texts in the place of their own, for a bug report.

What decides how an answer is read stays as it is, to the last blank: shape, names of fields,
numbers, times, words of status. A name, id or text becomes the same other one wherever it stands.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from functools import cache, partial
from hashlib import blake2b
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from msgspec.structs import replace

from agentco_tui.api.recording import Recorded
from agentco_tui.reading.field_names import fold, is_secret, word_set
from agentco_tui.reading.json_body import looks_like_html
from agentco_tui.reading.kinds import mappable

NOWHERE: Final = "https://platform.invalid"
REPORT: Final = "REPORT doctor"
"""The target under which a bundle has what `doctor` found, as JSON."""

_TOKENS: Final = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[^"]+|"', re.DOTALL)
_WORDS: Final = re.compile(r"[^\W\d_]+|\d+")
_BARE: Final = re.compile(r"[^\W\d_]+|(?<![\d.])\d{10,}(?![\d.])")
_LITERALS: Final = ("true", "false", "null", "e", "E")
_FIELD: Final = re.compile(r"[_@$]?[a-z]+(?:[_-][a-z]+|[A-Z][a-z]+)*")
_TOLD: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ][\d:.,]+( ?Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(:\d\d)?"  # times
    r"|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT"
    r"|[-+]?[$€£]?\d{1,9}([.,]\d{1,12})*( ?%| [A-Z]{3})?|true|false"  # figures
)
_PLAIN_WORD: Final = re.compile(r"[A-Za-z]+([._-][A-Za-z]+){0,4}|[pP]\d")
_PLAIN: Final = (
    *("status", "state", "priority", "severity", "level", "type", "kind", "currency", "period"),
    *("action", "event", "verb", "outcome", "unit", "code", "interval", "format"),
)
"""How the folded names of fields end whose words mean the same everywhere."""
_IDS: Final = ("id", "ids", "uuid", "guid", "cursor", "token", "key", "ref", "slug", "after")
_NAMED: Final = (
    *("name", "names", "agent", "company", "actor", "owner", "assignee", "by", "user", "member"),
)
_ID: Final = re.compile(r"(?=.*\d)([A-Za-z]{1,12}[_-])?[A-Za-z0-9_-]{6,}")
_SEGMENTS: Final = word_set(
    "api companies company agents tasks activity budget alerts trace approve clone export"
)
_KEPT_HEADERS: Final = ("content-type", "date", "age", "retry-after", "ratelimit", "x-rate")
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
        self._names, self._counts = dict[str, str](), Counter[str]()
        self._ids, self._taken = dict[str, str](), set[str]()

    def alter(self, answer: Recorded, body: bytes) -> tuple[Recorded, bytes]:
        """The answer to be written in the place of this one."""
        if answer.target == REPORT:
            return answer, body
        method, _, path = answer.target.partition(" ")
        headers = {
            name: told if name.startswith(_KEPT_HEADERS) else self._header(told)
            for name, told in answer.headers.items()
            if name != "etag"
        }
        error = answer.error and (*answer.error[:2], "the words of the error were left out")
        altered = replace(
            answer, target=f"{method} {self.address(path)}", headers=headers, error=error
        )
        text = body.decode("utf-8", "surrogateescape")
        start = "<html>" if looks_like_html(body) else ""
        return altered, (start + self._json(text, path)).encode("utf-8", "surrogateescape")

    def id(self, text: str) -> str:
        """Another id of the same shape; a short number stays, for JSON's numbers do."""
        if not text or (text.isdigit() and len(text) < 10):
            return text
        if text not in self._ids:
            start = re.match(r"[A-Za-z]{1,6}_(?=.)", text)
            kept, rest = (start[0], text[start.end() :]) if start else ("", text)
            others = (kept + self._shaped(rest, turn) for turn in range(100))
            found = next((other for other in others if other not in self._taken), None)
            self._ids[text] = found or f"{kept}{self._shaped(rest, 0)}{len(self._ids)}"
            self._taken.add(self._ids[text])
        return self._ids[text]

    def address(self, text: str) -> str:
        """A path with its query, or a whole address."""
        start, path = "", text.removeprefix(self._root)
        if text.startswith(("http://", "https://")):
            start, path = NOWHERE, re.sub(r"^https?://[^/]*", "", path)
        path, mark, query = path.partition("?")
        segments = (
            each if not each or each in _SEGMENTS else quote(self.id(unquote(each)), safe="")
            for each in path.split("/")
        )
        pairs = [(name, self._value(name, told)) for name, told in parse_qsl(query, True)]
        return start + "/".join(segments) + mark + urlencode(pairs, quote_via=quote, safe="")

    def _header(self, told: str) -> str:
        if "<" in told:
            told = re.sub(r"<([^>]*)>", lambda link: f"<{self.address(link[1])}>", told)
            return re.sub(r"; (?!rel=)[^,;]*", "", told)
        return self._json(told, "") if told[:1] in "{[" else self.id(told)

    def _json(self, text: str, path: str) -> str:
        field, parts = "", list[str]()
        for token in _TOKENS.finditer(text):
            inner = token[1]
            if inner is None:
                parts.append(_BARE.sub(partial(self._bare, fold(field)), token[0]))
                continue
            try:
                value = json.loads(f'"{inner}"', strict=False)
            except ValueError:
                value = re.sub(r"\w", "x", inner)
            if token[2] is not None:
                field, value = value, self._field(value)
            else:
                value = self._value(field, value, path)
            parts.append(json.dumps(value, ensure_ascii=inner.isascii()) + (token[2] or ""))
        return "".join(parts)

    def _bare(self, field: str, word: re.Match[str]) -> str:
        """What stands between the texts: a long number may be an id, a word is no part of JSON."""
        if word[0].isdigit():
            return self.id(word[0]) if field.endswith(_IDS) else word[0]
        return word[0] if word[0] in _LITERALS else "x" * len(word[0])

    def _field(self, name: str) -> str:
        """A field's name as it is; a map may have names or ids in their place."""
        if fold(name) in known_fields():
            return name
        is_name = name.casefold() in self._names or name in self._ids
        return name if _FIELD.fullmatch(name) and not is_name else self._value("name", name)

    def _value(self, field: str, text: str, path: str = "") -> str:
        name = fold(field)
        if not text.strip():
            return text
        if is_secret(field):
            return "****"
        if text.startswith(("http://", "https://", "/api/")):
            return self.address(text)
        is_id = name.endswith(_IDS) or text in self._ids or _ID.fullmatch(text)
        if _TOLD.fullmatch(text) and not is_id:
            return text
        if name.endswith(_PLAIN) and len(text) <= 40 and _PLAIN_WORD.fullmatch(text):
            return text
        if is_id and " " not in text:
            return self.id(text)
        if name.endswith(_NAMED) and len(text) <= 200:
            return self._name(name, text, path)
        return _WORDS.sub(lambda word: self._shaped(word[0], 0), text)

    def _name(self, field: str, text: str, path: str) -> str:
        known = text.casefold()
        if known not in self._names:
            there = f"{field} {path}".replace("companies", "company")
            noun = next((each for each in ("agent", "company", "task") if each in there), "name")
            self._counts[noun] += 1
            self._names[known] = f"{noun} {self._counts[noun]}"
        return self._names[known]

    def _shaped(self, text: str, turn: int) -> str:
        """Letters for letters and digits for digits, the same ones for the same text."""
        seed = f"{turn}:{text.casefold()}".encode("utf-8", "surrogatepass")
        noise = blake2b(seed, key=self._secret).digest()
        made = ""
        for at, char in enumerate(text):
            drawn = noise[at % len(noise)] + at // len(noise)
            if char.isdigit():
                char = str(drawn % 10 if made else 1 + drawn % 9)  # noqa: PLW2901
            elif char.isalpha():
                letters = _LETTERS[at % 2]
                letter = letters[drawn % len(letters)]
                char = letter.upper() if char.isupper() else letter  # noqa: PLW2901
            made += char
        return made
