"""Replaces names, ids and texts in recorded answers, before they are attached to a bug report.

The answers are those of the platform, the remote service. The file for a bug report is called a
*bundle*; it must not contain anything private. The parts by which an answer is read stay unchanged:
its shape, field names that the program knows, figures and times in such fields, and status words
(`bundle_words` says which those are). Everything else is replaced, and the same word or id always
by the same substitute (`substitutes`).

A body is processed in two passes: first its names are collected, then values are replaced.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from msgspec.structs import replace

from agentco_tui.api.bundle_words import (
    CODE_FIELDS,
    MEDIA_TYPES,
    NAME_FIELDS,
    PATH_SEGMENTS,
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
from agentco_tui.api.substitutes import HUMPS, WORDS, Substitutes
from agentco_tui.reading.field_names import fold, is_secret
from agentco_tui.reading.json_body import looks_like_html
from agentco_tui.reading.values.status_word import snake_case

NOWHERE: Final = "https://platform.invalid"
"""The origin that replaces the one in every address."""

_RUNS: Final = re.compile(r"[^\W\d_]+|\d+")
_GRADE: Final = re.compile(r"[pPsS]\d")  # a priority such as P1
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
_JSON_NUMBER: Final = re.compile(r"-?\d+(\.\d+)?")
_MOST_NAME_WORDS: Final = 5
"""A text with more words in a name field is a sentence, not a name."""
_LONGEST_STATUS: Final = 60
"""Characters of a text that may be a status."""
_LEAST_PRIVATE: Final = 6
"""Characters of the shortest number that can identify someone; a shorter one may be equal to a
harmless figure by chance."""
_MOST_FIGURE_DIGITS: Final = 2
"""Digits in a field name such as oauth2_token or p90_latency; an id has more."""
_MASK: Final = "****"


class Pseudonyms:
    """Replaces everything private in the answers of one bundle."""

    def __init__(
        self,
        root: str,
        kept: Iterable[str] = (),
        words: Iterable[str] = (),
        *,
        key: bytes | None = None,
    ) -> None:
        """`root` is the platform's address, without a slash at its end.

        `kept` are field names and statuses that the user has declared for this platform (the
        mapping of the profile), which reading needs unchanged. `words` are other names of fields,
        segments of paths, and values by which the platform's answers are read. `key` as for
        `Substitutes`.
        """
        self._root = root
        self._substitutes = Substitutes(key)
        self._kept = _folded_parts(kept)
        self._words = frozenset(words)
        self._names_of_words = _folded_parts(self._words)
        self._names: set[str] = set()
        """The words of all names that were found so far, in lower case."""
        self._private_figures: set[str] = set()
        """The longer numbers found in private fields, as JSON writes them, without a sign."""

    def alter(self, answer: Recorded, body: bytes) -> tuple[Recorded, bytes]:
        """The answer and its body, with everything private in them replaced."""
        headers = {name: self._header(name, value) for name, value in answer.headers.items()}
        failure = answer.failure
        if failure is not None:
            error_class, sent, _ = failure
            failure = (error_class, sent, "the words of the error were left out")
        text = self._body(body.decode("utf-8", "replace"))
        target = self.target(answer.target)
        altered = replace(answer, target=target, headers=headers, failure=failure)
        return altered, text.encode()

    def target(self, text: str) -> str:
        """A request's method and address, such as "GET /api/tasks/t1", with the id replaced."""
        method, _, path = text.partition(" ")
        return f"{method} {self.address(path)}"

    def address(self, text: str) -> str:
        """A path with its query, or a whole URL, with ids and unknown words replaced."""
        origin = ""
        path = text.removeprefix(self._root)
        if text.startswith(("http://", "https://")):
            origin = NOWHERE
            path = re.sub(r"^https?://[^/]*", "", path)
        path, mark, query = path.partition("?")
        segments = [self._path_segment(segment) for segment in path.split("/")]
        pairs = [
            (self._field_name(name), self._query_value(name, value))
            for name, value in parse_qsl(query, keep_blank_values=True)
        ]
        return origin + "/".join(segments) + mark + urlencode(pairs, quote_via=quote, safe="")

    def _path_segment(self, segment: str) -> str:
        if segment in PATH_SEGMENTS or segment in self._words:
            return segment
        return quote(self._substitutes.identifier(unquote(segment)), safe="")

    def _query_value(self, name: str, value: str) -> str:
        if name in ("from", "to") and _TIME.fullmatch(value):
            return value
        return self._string(name, "", value, may_show=True)

    def _header(self, name: str, value: str) -> str:
        if name == "content-type":
            media_type, _, parameters = value.partition(";")
            charset = "; charset=utf-8" if "utf-8" in parameters.casefold() else ""
            return self._replace_unknown_words(media_type, MEDIA_TYPES) + charset
        if "<" in value:
            value = re.sub(r"<([^>]*)>", lambda link: f"<{self.address(link[1])}>", value)
            return re.sub(r"; (?!rel=)[^,;]*", "", value)
        if value.strip().startswith(("{", "[")):
            return self._body(value)
        field = name.removeprefix("x-").removeprefix("pagination-")
        return self._string(field, "", value, may_show=True)

    def _body(self, text: str) -> str:
        try:
            body = json.loads(text)
            self._learn("", body, is_in_private_field=False)
            return json.dumps(self._value("", "", body, may_show=True))
        except (ValueError, RecursionError):
            start = "<html>" if looks_like_html(text.encode()) else ""
            return start + self._substitutes.text(text)

    # ---- first pass: which words are names

    def _learn(self, field: str, value: Any, *, is_in_private_field: bool) -> None:
        """Collect the names, the numeric ids and the private numbers of a body.

        All of it is read before any of it is replaced: a word of a verb that is someone's name
        elsewhere must be replaced, too.
        """
        if isinstance(value, dict):
            is_private_object = is_in_private_field or says_private(value)
            for name, inner in value.items():
                is_private_field = is_private_object or is_private(name)
                self._learn(name, inner, is_in_private_field=is_private_field)
            return
        if isinstance(value, list):
            for inner in value:
                self._learn(field, inner, is_in_private_field=is_in_private_field)
            return
        if value is None or isinstance(value, bool):
            return
        if is_in_private_field:
            self._learn_private_figure(value if isinstance(value, str) else json.dumps(value))
        if is_id(field) and isinstance(value, str | int):
            if str(value).isdecimal():
                self._substitutes.number(str(value))
        elif isinstance(value, str) and _is_name_field(field):
            self._learn_name(value)

    def _learn_private_figure(self, text: str) -> None:
        if len(text) >= _LEAST_PRIVATE and _FIGURE.fullmatch(text):
            self._private_figures.add(text.lstrip("+-"))

    def _learn_name(self, name: str) -> None:
        parts = word_parts(name)
        if len(parts) <= _MOST_NAME_WORDS:
            # "Task Agent" must not make names of the words that all platforms use.
            self._names.update(part for part in parts if part not in known_fields())

    # ---- second pass: what is shown, and what is replaced

    def _value(self, field: str, parent: str, value: Any, may_show: bool) -> Any:
        """A JSON value with everything private in it replaced.

        `field` is its name, `parent` that of the object around it. `may_show`: figures below it are
        shown if the program knows their fields.
        """
        if isinstance(value, dict):
            return self._object(field, value, may_show)
        if isinstance(value, list):
            return [self._value(field, parent, inner, may_show) for inner in value]
        if isinstance(value, str):
            return self._string(field, parent, value, may_show)
        if isinstance(value, bool) or value is None:
            return value
        return self._number(field, parent, value, may_show)

    def _object(self, field: str, value: Mapping[str, Any], may_show: bool) -> dict[str, Any]:
        altered: dict[str, Any] = {}
        may_show_object = may_show and not says_private(value)
        # An object of objects may be a map whose keys are ids.
        is_map = len(value) > 1 and all(isinstance(inner, dict) for inner in value.values())
        for name, inner in value.items():
            is_known = self._is_known_field(name)
            if is_known:
                new_name = name
            elif is_map:
                new_name = self._substitutes.identifier(name)
            else:
                new_name = self._field_name(name)
            while new_name in altered:
                new_name += "_"
            # What is in an object of unknown name is not known to be harmless.
            is_readable = is_known or is_map or _holds_rows(inner) or not isinstance(inner, dict)
            may_show_inner = may_show_object and is_readable and not is_private(name)
            altered[new_name] = self._value(name, field, inner, may_show_inner)
        return altered

    def _is_known_field(self, name: str) -> bool:
        folded = fold(name)
        is_declared = folded in self._kept or folded in self._names_of_words
        return is_declared or (name.isascii() and folded in known_fields())

    def _field_name(self, name: str) -> str:
        """A field's name with substitutes for the words that the program does not know."""
        if self._is_known_field(name):
            return name
        return self._replace_unknown_words(name, vocabulary())

    def _string(self, field: str, parent: str, text: str, may_show: bool) -> str:
        if is_secret(field):
            return _MASK
        if text.startswith(("http://", "https://", "/api/")):
            return self.address(text)
        if is_id(field):
            return self._substitutes.identifier(text)
        if text in ("true", "false"):
            return text
        if _FIGURE.fullmatch(text) or _TIME.fullmatch(text):
            is_shown = may_show and self._is_figure_field(field, parent)
            if is_shown and not self._is_private_figure(text):
                return text
            return self._substitutes.text(text)
        if len(text) <= _LONGEST_STATUS:
            if _is_code_field(field) or _is_code_field(parent):
                return self._status(text)
            is_status = snake_case(text) in status_words() or text in self._words
            if may_show and is_status and not _is_name_field(field):
                return text
        return self._substitutes.text(text)

    def _number(self, field: str, parent: str, value: float, may_show: bool) -> float:
        text = json.dumps(value)
        if is_id(field) and text.isdecimal():
            return int(self._substitutes.number(text))
        is_figure_field = _is_code_field(field) or self._is_figure_field(field, parent)
        if may_show and is_figure_field and not self._is_private_figure(text):
            return value
        number_class = type(value)
        without_exponent = re.sub(r"[eE].*", "", text)
        altered = self._substitutes.text(without_exponent).lstrip("0")
        return number_class(altered) if _JSON_NUMBER.fullmatch(altered) else number_class(0)

    def _is_figure_field(self, field: str, parent: str) -> bool:
        return fold(field) in self._kept or is_figure(field, parent)

    def _is_private_figure(self, figure: str) -> bool:
        return figure.lstrip("+-") in self._private_figures

    def _status(self, text: str) -> str:
        """A status, a verb or a type: unchanged if all of it is one known word.

        Otherwise each word is replaced that the program does not know, or that is a name elsewhere.
        """
        is_declared = fold(text) in self._kept or text in self._words
        if is_declared or snake_case(text) in status_words():
            return text
        return self._replace_unknown_words(text, vocabulary())

    # ---- words

    def _replace_unknown_words(self, text: str, allowed: frozenset[str]) -> str:
        """A text in which only allowed words that are no names stay."""

        def replace_word(match: re.Match[str]) -> str:
            word = match[0]
            if match["id"] is None:
                return self._replace_unknown_humps(word, allowed)
            if _GRADE.fullmatch(word) or self._is_word_with_figure(word, allowed):
                return word
            return self._substitutes.word(match)

        return WORDS.sub(replace_word, text)

    def _replace_unknown_humps(self, word: str, allowed: frozenset[str]) -> str:
        humps = HUMPS.split(word)
        shown = ""
        for hump in humps:
            # The A of SourceA is no word of its own, but the end of what may be a name.
            is_single_letter = len(hump) == 1 and len(humps) > 1
            if is_single_letter or not self._may_show(hump, allowed):
                shown += self._substitutes.letters(hump)
            else:
                shown += hump
        return shown

    def _is_word_with_figure(self, word: str, allowed: frozenset[str]) -> bool:
        """Whether a word has one short figure, and otherwise only words that may be shown."""
        runs = _RUNS.findall(word)
        figures = [run for run in runs if run[0].isdecimal()]
        if len(figures) != 1 or len(figures[0]) > _MOST_FIGURE_DIGITS:
            return False
        humps = [hump for run in runs if run not in figures for hump in HUMPS.split(run)]
        return all(self._may_show(hump, allowed) for hump in humps)

    def _may_show(self, word: str, allowed: frozenset[str]) -> bool:
        folded = word.casefold()
        is_allowed = folded in allowed or folded.removesuffix("s") in allowed
        return is_allowed and folded not in self._names


def _folded_parts(names: Iterable[str]) -> set[str]:
    """The folded names of fields, of a name with dots each part."""
    return {fold(part) for name in names for part in re.split(r"[.\[\]]+", name)}


def _is_name_field(field: str) -> bool:
    return fold(field).endswith(NAME_FIELDS)


def _is_code_field(field: str) -> bool:
    return fold(field).endswith(CODE_FIELDS)


def _holds_rows(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(row, dict) for row in value)
