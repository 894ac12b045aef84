"""Answers with other names, ids and texts in the place of their own, for a bug report.

What our own tables know stays as it is, since it decides how an answer is read: shape, the names
of fields, figures and times under these, words of status. All else is replaced. A word or an id
becomes the same other one wherever it stands.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from msgspec.structs import replace

from agentco_tui.api.bundle_words import (
    MEDIA_TYPES,
    NAME_FIELDS,
    PLAIN_FIELDS,
    SEGMENTS,
    is_figure,
    is_id,
    is_private,
    known_fields,
    says_private,
    status_words,
    vocabulary,
    word_parts,
)
from agentco_tui.api.recording_format import Recorded
from agentco_tui.reading.field_names import fold, is_secret
from agentco_tui.reading.json_body import looks_like_html
from agentco_tui.reading.values.status_word import fold_word

NOWHERE: Final = "https://platform.invalid"

_WORDS: Final = re.compile(r"(?P<id>(?=\w*\d)(?=\w*[^\W\d])\w+)|[^\W\d_]+|\d+")
_RUNS: Final = re.compile(r"[^\W\d_]+|\d+")
_GRADE: Final = re.compile(r"[pPsS]\d")  # a priority such as P1
_HUMPS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TIME: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ][\d:.,]+( ?Z|[+-]\d\d:?\d\d)?)?|\d{1,2}:\d\d(:\d\d)?"
    r"|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT"
)
_FIGURE: Final = re.compile(
    # With one kind of point before the last: four figures with points between are an IP address.
    r"([A-Z]{3} ?)?[-+]?[$€£]?"
    r"(\d{1,3}([, '’\u00a0\u202f]\d{3})+([.,]\d+)?|\d{1,3}(\.\d{3})+,\d+|\d+([.,]\d+)?)"
    r"([eE][-+]?\d+)?( ?[%$€£]| ?[A-Z]{3})?"
)
_MOST_NAME_WORDS: Final = 5  # of a text that is taken for a name
_LETTERS: Final = "bdfgklmnprst", "aeiou"
_LONGEST_STATUS: Final = 60
_LEAST_PRIVATE: Final = 6
"""Characters of the shortest number that can identify someone; a shorter one is a figure elsewhere
by chance."""
_FIRST_NUMBER: Final = 100_000_000
"""The numbers that stand in the place of ids of digits begin here, so that they are all as long."""


def _is_name(field: str) -> bool:
    return fold(field).endswith(NAME_FIELDS)


class Pseudonyms:
    """Of one bundle: nobody can tell from it what stood in their place."""

    def __init__(self, root: str, kept: Iterable[str] = ()) -> None:
        """`root` is the platform's address, without a slash at its end; `kept` are the names of
        fields and the statuses that the profile's mapping tells: the bundle is read by them.
        """
        self._root = root
        self._secret = os.urandom(16)
        self._kept = {fold(part) for name in kept for part in re.split(r"[.\[\]]+", name)}
        self._names = set[str]()
        """The words of all names that were met, in lower case."""
        self._numbers = dict[str, str]()
        """What stands in the place of each id of digits."""
        self._taken = set[int]()
        self._private_figures = set[str]()
        """The longer numbers that stand below a private name somewhere, as JSON has them."""

    def alter(self, answer: Recorded, body: bytes) -> tuple[Recorded, bytes]:
        """The answer to be written in the place of this one."""
        headers = {name: self._header(name, value) for name, value in answer.headers.items()}
        failure = answer.failure and (*answer.failure[:2], "the words of the error were left out")
        text = self._body(body.decode("utf-8", "replace"))
        target = self.target(answer.target)
        altered = replace(answer, target=target, headers=headers, failure=failure)
        return altered, text.encode()

    def target(self, text: str) -> str:
        method, _, path = text.partition(" ")
        return f"{method} {self.address(path)}"

    def address(self, text: str) -> str:
        """A path with its query, or a whole address."""
        start, path = "", text.removeprefix(self._root)
        if text.startswith(("http://", "https://")):
            start, path = NOWHERE, re.sub(r"^https?://[^/]*", "", path)
        path, mark, query = path.partition("?")
        segments = [
            each if each in SEGMENTS else quote(self._identifier(unquote(each)), safe="")
            for each in path.split("/")
        ]
        pairs = [
            (self._field_name(name), self._query_value(name, value))
            for name, value in parse_qsl(query, keep_blank_values=True)
        ]
        return start + "/".join(segments) + mark + urlencode(pairs, quote_via=quote, safe="")

    def _query_value(self, name: str, value: str) -> str:
        if name in ("from", "to") and _TIME.fullmatch(value):
            return value
        return self._value(name, "", value, is_shown=True)

    def _header(self, name: str, value: str) -> str:
        if name == "content-type":
            media_type, _, parameters = value.partition(";")
            charset = "; charset=utf-8" if "utf-8" in parameters.casefold() else ""
            return self._in_words(media_type, MEDIA_TYPES) + charset
        if "<" in value:
            value = re.sub(r"<([^>]*)>", lambda link: f"<{self.address(link[1])}>", value)
            return re.sub(r"; (?!rel=)[^,;]*", "", value)
        if value.strip().startswith(("{", "[")):
            return self._body(value)
        return self._value(name.removeprefix("x-").removeprefix("pagination-"), "", value, True)

    def _body(self, text: str) -> str:
        try:
            body = json.loads(text)
            self._learn("", body, is_private_part=False)
            return json.dumps(self._altered("", "", body, is_shown=True))
        except (ValueError, RecursionError):
            start = "<html>" if looks_like_html(text.encode()) else ""
            return start + self._text(text)

    # ---- which words are names

    def _learn(self, field: str, value: Any, *, is_private_part: bool) -> None:
        """Note the names, the ids of digits and the private numbers in an answer, before any of it
        is altered: a word of a verb that is somebody's name is replaced as the name is.
        """
        if isinstance(value, dict):
            is_private_part = is_private_part or says_private(value)
            for name, each in value.items():
                self._learn(name, each, is_private_part=is_private_part or is_private(name))
            return
        if isinstance(value, list):
            for each in value:
                self._learn(field, each, is_private_part=is_private_part)
            return
        if is_private_part and not isinstance(value, bool) and value is not None:
            text = value if isinstance(value, str) else json.dumps(value)
            if len(text) >= _LEAST_PRIVATE and _FIGURE.fullmatch(text):
                self._private_figures.add(text.lstrip("+-"))
        if is_id(field) and isinstance(value, str | int) and not isinstance(value, bool):
            if str(value).isdecimal():
                self._number(str(value))
        elif isinstance(value, str) and _is_name(field):
            parts = word_parts(value)
            if len(parts) <= _MOST_NAME_WORDS:
                # "Task Agent" makes no name of what every platform calls its records.
                self._names.update(part for part in parts if part not in known_fields())

    # ---- what is shown, and what stands in the place of the rest

    def _altered(self, field: str, parent: str, value: Any, is_shown: bool) -> Any:
        """A value of JSON; `is_shown`: the figures below it are, if our tables have their names."""
        if isinstance(value, dict):
            return self._altered_object(field, value, is_shown)
        if isinstance(value, list):
            return [self._altered(field, parent, each, is_shown) for each in value]
        if isinstance(value, str):
            return self._value(field, parent, value, is_shown)
        if isinstance(value, bool) or value is None:
            return value
        return self._altered_number(field, parent, value, is_shown)

    def _altered_object(
        self, field: str, value: Mapping[str, Any], is_shown: bool
    ) -> dict[str, Any]:
        altered = dict[str, Any]()
        is_shown = is_shown and not says_private(value)
        is_map = len(value) > 1 and all(isinstance(each, dict) for each in value.values())
        for name, each in value.items():
            is_known = self._is_known(name)
            other = name if is_known else self._map_key(name) if is_map else self._field_name(name)
            while other in altered:
                other += "_"
            is_list = isinstance(each, list) and any(isinstance(one, dict) for one in each)
            leads_on = is_known or is_map or is_list or not isinstance(each, dict)
            shows = is_shown and leads_on and not is_private(name)
            altered[other] = self._altered(name, field, each, shows)
        return altered

    def _is_known(self, name: str) -> bool:
        folded = fold(name)
        return folded in self._kept or (name.isascii() and folded in known_fields())

    def _map_key(self, name: str) -> str:
        return self._identifier(name)

    def _field_name(self, name: str) -> str:
        """A field's name, of which each word that our tables don't have is replaced."""
        return name if self._is_known(name) else self._in_words(name, vocabulary())

    def _value(self, field: str, parent: str, text: str, is_shown: bool) -> str:
        if is_secret(field):
            return "****"
        if text.startswith(("http://", "https://", "/api/")):
            return self.address(text)
        if is_id(field):
            return self._identifier(text)
        if text in ("true", "false"):
            return text
        if _FIGURE.fullmatch(text) or _TIME.fullmatch(text):
            shows = is_shown and self._is_figure(field, parent) and not self._is_private(text)
            return text if shows else self._text(text)
        if len(text) <= _LONGEST_STATUS:
            if fold(field).endswith(PLAIN_FIELDS) or fold(parent).endswith(PLAIN_FIELDS):
                return self._status(text)
            if is_shown and fold_word(text) in status_words() and not _is_name(field):
                return text
        return self._text(text)

    def _altered_number(self, field: str, parent: str, value: float, is_shown: bool) -> float:
        text = json.dumps(value)
        if is_id(field) and text.isdecimal():
            return int(self._number(text))
        is_plain = fold(field).endswith(PLAIN_FIELDS)
        shows = is_shown and (is_plain or self._is_figure(field, parent))
        if shows and not self._is_private(text):
            return value
        altered = self._text(re.sub(r"[eE].*", "", text)).lstrip("0")
        return type(value)(altered) if re.fullmatch(r"-?\d+(\.\d+)?", altered) else type(value)(0)

    def _is_figure(self, field: str, parent: str) -> bool:
        return fold(field) in self._kept or is_figure(field, parent)

    def _is_private(self, figure: str) -> bool:
        return figure.lstrip("+-") in self._private_figures

    def _status(self, text: str) -> str:
        """A word of status, a verb or a type: each part that our tables don't have is replaced,
        and so is one that is a name elsewhere, unless all of the text is one known word.
        """
        if fold_word(text) in status_words() or fold(text) in self._kept:
            return text
        return self._in_words(text, vocabulary())

    def _identifier(self, text: str) -> str:
        return self._number(text) if text.isdecimal() else self._text(text)

    def _number(self, digits: str) -> str:
        """Another number in the place of an id of digits, for each id another one."""
        if digits not in self._numbers:
            drawn = int.from_bytes(self._noise(digits)[:4], "big") % (9 * _FIRST_NUMBER)
            while _FIRST_NUMBER + drawn in self._taken:
                drawn = (drawn + 1) % (9 * _FIRST_NUMBER)
            self._taken.add(_FIRST_NUMBER + drawn)
            self._numbers[digits] = str(_FIRST_NUMBER + drawn)
        return self._numbers[digits]

    def _in_words(self, text: str, allowed: frozenset[str]) -> str:
        """A text in which only these words stay that are nobody's name."""

        def altered(word: re.Match[str]) -> str:
            if word["id"] is None:
                return self._hump_by_hump(word[0], allowed)
            # Names of fields may have a figure: oauth2_token, p90_latency. Ids have more.
            runs = _RUNS.findall(word[0])
            digits = [run for run in runs if run[0].isdecimal()]
            has_one_figure = len(digits) == 1 and len(digits[0]) <= 2
            letters = [part for run in runs if run not in digits for part in _HUMPS.split(run)]
            are_known = all(self._may_show(part.casefold(), allowed) for part in letters)
            if has_one_figure and (are_known or _GRADE.fullmatch(word[0])):
                return word[0]
            return self._word(word)

        return _WORDS.sub(altered, text)

    def _hump_by_hump(self, text: str, allowed: frozenset[str]) -> str:
        return "".join(
            part if self._may_show(part.casefold(), allowed) else self._letters(part)
            for part in _HUMPS.split(text)
        )

    def _may_show(self, word: str, allowed: frozenset[str]) -> bool:
        is_allowed = word in allowed or word.removesuffix("s") in allowed
        return is_allowed and word not in self._names

    def _text(self, text: str) -> str:
        return _WORDS.sub(self._word, text)

    def _word(self, word: re.Match[str]) -> str:
        """Letters for letters and digits for digits; another id for what has both."""
        if word["id"]:
            return "id_" + self._noise(word[0]).hex()[:10]
        if word[0] in self._numbers:
            return self._numbers[word[0]]
        return "".join(self._letters(part) for part in _HUMPS.split(word[0]))

    def _noise(self, text: str) -> bytes:
        """The same bytes for the same word, in any case."""
        seed = text.casefold().encode("utf-8", "surrogatepass")
        return blake2b(seed, key=self._secret).digest()

    def _letters(self, text: str) -> str:
        """Another word: no digit stays as it was, and of the letters not the first."""
        noise = self._noise(text)
        made = ""
        for at, char in enumerate(text):
            drawn = noise[at % len(noise)] + at // len(noise)
            if char.isdecimal():
                made += str((int(char) + 1 + drawn % 9) % 10)
                continue
            letters = _LETTERS[at % 2].replace(char.casefold(), "") or _LETTERS[at % 2]
            other = letters[drawn % len(letters)]
            made += other.upper() if char.isupper() else other
        return made
