"""Parses what a terminal sends, so that nothing in it ends the program or is mistaken for keys.

Seen with Textual 8.2.8's parser: kitty key events with sub-parameters (`CSI 121;1:3u`, a release),
code points that don't exist, sizes of no pixels and bytes that are no UTF-8 end the thread that
reads the keys. Replies of the terminal that it doesn't know (OSC, DCS, APC, PM and SOS strings,
`CSI ? ... c`) become one key for each character. A paste that never ends swallows all keys.

So sequences are found here by their grammar (ECMA-48 5.4 and 8.3, xterm's ctlseqs, kitty's keyboard
protocol). Textual's parser is given only single whole sequences that it is known to understand.
Everything else is dropped and logged. The text is in one of three states: in a paste, in a string
(an OSC, DCS, APC, PM or SOS reply, which is skipped), or else in the *ground* state.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Callable
from time import monotonic
from typing import Final

from textual import constants, events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._keyboard_protocol import FUNCTIONAL_KEYS
from textual._xterm_parser import XTermParser
from textual.message import Message

from agentco_tui.text.patterns import lazy_pattern

PATIENCE: Final = 1.0
"""Seconds without input after which an unfinished sequence, string or paste is ended."""
LONGEST_STRING: Final = 5.0
"""Seconds after which an endless string is ended though input goes on: those are keys by now."""
LONGEST_SEQUENCE: Final = 128  # characters of the longest sequence that can mean anything
LARGEST_PASTE: Final = 65_536  # characters of a paste that are kept
LARGEST_SCREEN: Final = 1_000  # columns or rows; larger sizes are not believed

PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"

_TOKEN: Final = lazy_pattern(
    r"""(?P<text>[^\x1b\x80-\x9f\ud800-\udfff]+)
    |(?P<odd>[\x80-\x9f]|[\ud800-\udfff]+)
    |(?P<unfinished>
        \x1b(?:\[(?!\d+\$)(?:M.{0,2}|\[|[0-?]*[ -/]*)|O[0-9;]*|[\]P_^X]\x1b?)?\Z)
    |(?P<string>\x1b[\]P_^X])(?:[^\x00-\x1f]|(?=\x1b\\|\x07))
    |(?P<sequence>
        \x1b(?:\[(?:M...|\[.|\d+\$|[0-?]*[ -/]*[@-~])|O[0-9;]*[ -/:<-~]
        |[^\x1b\x80-\x9f\ud800-\udfff\[O\]P_^X]))
    |(?P<broken>\x1b(?:\[[0-?]*[ -/]*|O[0-9;]*|[\]P_^X]?))""",
    re.DOTALL | re.VERBOSE,
)
_STRING_ENDS: Final = {
    "]": lazy_pattern("\x07|\x1b\\\\|\x9c|\udc9c"),
    "[": lazy_pattern(r"(?:\x1b\[[0-?]*[ -/]*)?[@-~]"),
}
"""What ends an OSC ("]"), and a control sequence that is too long to be kept ("["). Other strings
end with ST, the string terminator, only."""
_ST: Final = lazy_pattern("\x1b\\\\|\x9c|\udc9c")
_EIGHT_BIT: Final = "\x8f\x90\x98\x9b\x9d\x9e\x9f"
"""C1 controls that begin a sequence or a string: one character for ESC and another one. They come
as UTF-8, or as a byte that is no UTF-8."""
# Characters that are removed from pasted text.
_NO_TEXT: Final = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

# A key by its number, modifiers, kind of event (3: a release), text and final character.
_KEY: Final = lazy_pattern(
    r"\x1b\[(\d{0,7})(?::[\d:]*)?(?:;(\d{0,3})(?::(\d?)[\d:]*)?(?:;([\d:]*))?)?([u~ABCDEFHPQRS])"
)
_OTHER_KEY: Final = lazy_pattern(r"\x1b\[27;(\d{1,3});(\d{1,7})~")
_REPORT: Final = lazy_pattern(r"\x1b\[(?:[IO]|<\d{1,4};-?\d{1,6};-?\d{1,6}[Mm]|\?\d{1,5};\d\$y)")
"""A report of the focus, of the mouse, or of a mode."""
_SIZE: Final = lazy_pattern(
    r"\x1b\[48;(\d{1,6})(?::[\d:]*)?;(\d{1,6})(?::[\d:]*)?;(\d{1,6})(?::[\d:]*)?;(\d{1,6})(?::[\d:]*)?t"
)
# The position of the cursor, which looks like F3 with modifiers.
_CURSOR: Final = lazy_pattern(r"\x1b\[\d+;\d+R")
_LIKE_KEY: Final = lazy_pattern(r"\x1b(?:\[[\d;:]*[~uA-HPQSZ]|O.)")
"""A sequence that only a key sends; the terminal's own answers have other forms."""
_LET_GO: Final = lazy_pattern(r"\x1b\[\d*[\d:]*;\d*:3[\d;:]*.")
"""The release of a key in kitty's protocol."""

_log = logging.getLogger(__name__)


def as_expected() -> bool:
    """Whether Textual's own parser, on which this one builds, works as in 8.2.8."""
    found = InputParser().feed("a\x1b[A\x1b[<0;1;1M")
    return [getattr(event, "key", "") for event in found] == ["a", "up", ""]


class InputParser:
    """Takes the place of Textual's parser, with the two methods that a driver calls."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._textual = XTermParser()
        self._clock = clock
        self._held = ""
        """The beginning of a sequence at the end of the input."""
        self._string = ""
        """The introducer of the string that is being skipped; "" outside of a string."""
        self._paste: str | None = None
        """The pasted text so far; None outside of a paste."""
        self._last_input = 0.0
        """When there was input last."""
        self._string_began = 0.0
        self._last_logged = -PATIENCE
        self._dropped_keys = 0

    @property
    def wait(self) -> float | None:
        """Seconds until `tick` may have something to do, should nothing come; None for never."""
        if 0 < len(self._held) <= 2:
            return 0.02
        is_unfinished = self._held or self._string or self._paste is not None
        return 0.1 if is_unfinished else None

    @property
    def is_within_key(self) -> bool:
        """Whether what was read last may be the beginning of a key, or of a paste."""
        return bool(self._held) or self._paste is not None

    def take_dropped_keys(self) -> int:
        """Return how many keys and pastes were dropped since the last call.

        Those are unknown and repeated keys, bytes that are no text, and each beginning of a paste.
        """
        dropped_keys = self._dropped_keys
        self._dropped_keys = 0
        return dropped_keys

    def feed(self, data: str) -> list[Message]:
        """Return the messages for some input; "" ends the input.

        Bytes that are no UTF-8 are lone surrogates ("surrogateescape").
        """
        found: list[Message] = []
        self._last_input = self._clock()
        rest, end, _ = data.partition(PASTE_ENDS)
        if end and "\x1b" not in rest and not self._string:
            # The rest of a paste that `tick` ended too early: none of it may become keys.
            self._paste = self._paste or ""
        text = self._held + data
        self._held = ""
        at = 0
        while at < len(text):
            if self._paste is not None:
                at = self._in_paste(text, at, found)
            elif self._string:
                at = self._in_string(text, at)
            else:
                text, at = self._in_ground(text, at, found)
        return found

    def tick(self) -> list[Message]:
        """Return the messages that are due without new input: ends what has waited too long."""
        found: list[Message] = []
        now = self._clock()
        idle = now - self._last_input
        if self._paste is not None:
            if idle >= PATIENCE:
                self._held = ""
                self._drop("the end of a paste, which never came")
                self._end_paste(found)
        elif self._string:
            if idle >= PATIENCE or now - self._string_began >= LONGEST_STRING:
                self._held = self._string = ""
        elif self._held and idle >= (PATIENCE if len(self._held) > 2 else constants.ESCAPE_DELAY):
            held = self._held
            self._held = ""
            self._alone(held, found)
        return found

    # ---- in each state: returns the position up to which the text was handled

    def _in_ground(self, text: str, at: int, found: list[Message]) -> tuple[str, int]:
        here = _TOKEN.match(text, at)
        assert here is not None
        token, end = here.group(), here.end()
        match here.lastgroup:
            case "text":
                for character in token:
                    self._take(character, found)
            case "odd":
                code = ord(token[0]) & 0xFF
                if len(token) == 1 and chr(code) in _EIGHT_BIT:
                    return f"\x1b{chr(code - 0x40)}{text[end:]}", 0
                # This may be the rest of a UTF-8 character, which looks like a control.
                self._dropped_keys += 1
                self._drop(token)
            case "unfinished" if len(token) > LONGEST_SEQUENCE:
                self._begin_string("[")
            case "unfinished":
                self._held = token
            case "string":
                self._begin_string(token[1])
                return text, at + 2
            case "sequence" if token == PASTE_BEGINS:
                self._dropped_keys += 1  # perhaps nothing is in it
                self._paste = ""
            case "sequence" if known := self._known(token):
                self._take(known, found)
            case "sequence" if len(token) != 2:
                if _LIKE_KEY.fullmatch(token) and not _LET_GO.fullmatch(token):
                    self._dropped_keys += 1
                self._drop(token)
            case _:
                self._alone(token, found)
        return text, end

    def _begin_string(self, introducer: str) -> None:
        self._string = introducer
        self._string_began = self._last_input
        self._drop(f"\x1b{introducer}")

    def _in_string(self, text: str, at: int) -> int:
        """Skip a string, and return the position after it.

        An ESC that does not begin the end of the string is skipped, too: what follows was sent by
        the terminal, and is no key.
        """
        end = _STRING_ENDS.get(self._string, _ST).search(text, at)
        if end:
            self._string = ""
            return end.end()
        if text[-1] == "\x1b":
            self._held = "\x1b"
        return len(text)

    def _in_paste(self, text: str, at: int, found: list[Message]) -> int:
        """Keep pasted text, and return the position after it.

        An end of a paste that is followed by another one was itself pasted.
        """
        assert self._paste is not None
        next_one = text.find(PASTE_BEGINS, at)
        end = text.find(PASTE_ENDS, at)
        end = max(end, text.rfind(PASTE_ENDS, at, next_one if next_one >= 0 else len(text)))
        stop = end if end >= 0 else len(text)
        begun = text.rfind("\x1b", max(at, stop - len(PASTE_ENDS)))
        if end < 0 <= begun and PASTE_ENDS.startswith(text[begun:]):
            stop = begun
            self._held = text[begun:]
        self._paste += _NO_TEXT.sub("", text[at:stop])[: LARGEST_PASTE - len(self._paste)]
        if end < 0:
            return len(text)
        self._end_paste(found)
        return end + len(PASTE_ENDS)

    def _end_paste(self, found: list[Message]) -> None:
        pasted = self._paste
        self._paste = None
        if pasted:
            found.append(events.Paste(pasted))

    # ---- what it means

    def _take(self, sequence: str, found: list[Message]) -> None:
        """Add Textual's messages for a complete sequence that it is known to understand."""
        try:
            found.extend(self._textual.feed(sequence))
        except Exception as error:
            # The thread that reads the keys must go on, whatever they are.
            self._textual = XTermParser()
            self._drop(sequence, error)

    def _alone(self, begun: str, found: list[Message]) -> None:
        """Add the keys for an ESC after which nothing else came: escape, or a key with alt."""
        if begun == "\x1b":
            found.append(events.Key("escape", "\x1b"))
        elif len(begun) == 2:
            found.extend(self._textual._sequence_to_key_events(begun[1], alt=True))
        else:
            self._drop(begun)

    def _known(self, sequence: str) -> str:
        """A sequence in the form that Textual's parser understands; "" if it means nothing."""
        if key := _KEY.fullmatch(sequence):
            return self._pressed(key)
        if size := _SIZE.fullmatch(sequence):
            # A new size of the terminal, which some report unasked, in cells and in pixels.
            rows, columns, height, width = map(int, size.groups())
            if 0 < columns <= LARGEST_SCREEN and 0 < rows <= LARGEST_SCREEN:
                # Without pixels there is nothing to divide a mouse report by.
                return f"\x1b[48;{rows};{columns};{height or rows};{width or columns}t"
            return ""
        known = sequence in ANSI_SEQUENCES_KEYS or _REPORT.fullmatch(sequence)
        return sequence if known else ""

    def _pressed(self, match: re.Match[str]) -> str:
        """The sequence of a pressed key, with its number, modifiers and text.

        "" for a key that was released or repeated, which the program does not request.
        """
        sequence = match.group()
        if other := _OTHER_KEY.fullmatch(sequence):  # xterm's modifyOtherKeys
            number, modifiers, kind, text, final = other[2], other[1], "", "", "u"
        else:
            number, modifiers, kind, text, final = match.groups(default="")
        if kind not in ("", "1") or int(modifiers or 0) > 256 or _CURSOR.fullmatch(sequence):
            return ""
        if not all(_can_be_text(int(code or 0)) for code in text.split(":")):
            text = ""
        code = int(number or 1)
        is_text = final == "u" and (text or _can_be_text(code))
        if not is_text and f"{code}{final}" not in FUNCTIONAL_KEYS:
            # The number is that of no character, though Textual would make a key of it.
            return ""
        fields = ";".join((number, modifiers, text)).rstrip(";")
        return f"\x1b[{fields}{final}"

    def _drop(self, what: str, error: Exception | None = None) -> None:
        """Log what was dropped.

        Only its beginning, and at most one line a second, because a terminal may send any amount,
        and the text may come from the user's clipboard.
        """
        if self._last_input - self._last_logged >= PATIENCE:
            _log.info("dropped from the terminal: %.24r", what, exc_info=error)
            self._last_logged = self._last_input


def _can_be_text(code: int) -> bool:
    # Private-use characters (Co) are kitty's numbers for keys without a character.
    return code <= 0x10FFFF and unicodedata.category(chr(code)) not in {"Cc", "Cs", "Co"}
