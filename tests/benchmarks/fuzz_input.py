"""Odd input through the parser of what a terminal sends: python -m tests.benchmarks.fuzz_input.

python -m tests.benchmarks.fuzz_input [--sequences 1000000] [--seed 1]

Each is a reply, a string, a key event, a paste or plain noise, whole, damaged or broken off, cut
into reads anywhere. None may raise; every key, paste and size that comes out must be one that can
be; a reply, a string, a release or a paste may give no key at all; what has no end must be over
within seconds, and the next key be that key. Prints what was not so, the count, the time of one,
and the slowest; exits 1 if anything was wrong. The same seed sends the same.
"""

from __future__ import annotations

import argparse
import gc
import logging
import random
import sys
import time
from codecs import getincrementaldecoder
from collections.abc import Iterator

from textual import events
from textual.message import Message

from agentco_tui.textual_patches import input_parser
from agentco_tui.textual_patches.input_parser import LARGEST_SCREEN, LONGEST_STRING, InputParser

NUMBERS = ("", "0", "1", "2", "3", "13", "27", "48", "97", "121", "200", "201", "255", "997",
           "1004", "2026", "2048", "55296", "57344", "57399", "57441", "65535", "99999", "1114111",
           "1114112", "4294967296", "-1", "9" * 40)  # fmt: skip
FINALS = "ABCDEFHPQRSZu~IOMmtcnyRJKhlgxz@`{|}"
LETTERS = "qayYnuf*1234 :/\r\t\x1b\x03\x1a\x07\x9b[];Oéß漢\u202e🙂"
INTRODUCERS = "]P_^X"
NOISE = bytes(range(256))
PASTE_BEGINS, PASTE_ENDS = b"\x1b[200~", b"\x1b[201~"
MOST_WRONG = 20
SLOW = 0.1
"""Seconds of processor time that no sequence may take."""


def odd(dice: random.Random) -> tuple[bytes, bool]:
    """What a terminal might send, and whether it is whole and of a kind that is never a key."""
    match dice.randrange(9):
        case 0:
            return _reply(dice).encode(), True
        case 1:
            return _string(dice), True
        case 2:
            text = _text(dice, 30).encode().replace(b"\x1b[201~", b"")
            return PASTE_BEGINS + text + PASTE_ENDS, True
        case 3:
            return _key(dice).encode(), False
        case 4:
            return _csi(dice).encode(), False
        case 5:
            return bytes(dice.choices(NOISE, k=dice.randint(1, 12))), False
        case 6:
            return _text(dice, 12).encode(), False
        case 7:
            whole = dice.choice((_reply(dice).encode(), _string(dice), _key(dice).encode()))
            return whole[: dice.randint(1, len(whole))], False
        case _:
            spoilt = bytearray(dice.choice((_reply(dice).encode(), _string(dice))))
            spoilt[dice.randrange(len(spoilt))] = dice.randrange(256)
            return bytes(spoilt), False


def _text(dice: random.Random, most: int) -> str:
    return "".join(dice.choices(LETTERS, k=dice.randint(0, most)))


def _number(dice: random.Random) -> str:
    return dice.choice(NUMBERS) if dice.random() < 0.7 else str(dice.randrange(70_000))


def _csi(dice: random.Random) -> str:
    fields = [
        ":".join(_number(dice) for _ in range(dice.choice((1, 1, 1, 2, 3))))
        for _ in range(dice.choice((0, 1, 1, 2, 2, 3, 4, 6, 60)))
    ]
    before, between = (
        dice.choice(("", "", "", "?", ">", "<", "=")),
        dice.choice(("", "", "", "$", " ")),
    )
    return f"\x1b[{before}{';'.join(fields)}{between}{dice.choice(FINALS)}"


def _key(dice: random.Random) -> str:
    text = dice.choice(("", "", ";97", ";121", ";55296", ";1114112", ";97:98", ";27", ";3"))
    kind = dice.choice(("", ":1", ":2", ":3", ":", ":9", ":1:1"))
    final = dice.choice("uuuuu~ABCDHFPQRS")
    return f"\x1b[{_number(dice)};{dice.randint(0, 300)}{kind}{text}{final}"


def _reply(dice: random.Random) -> str:
    numbers = ";".join(str(dice.randrange(3000)) for _ in range(dice.randint(1, 4)))
    return dice.choice((
        f"\x1b[?{numbers}c", f"\x1b[>{numbers}c", f"\x1b[={numbers}c", f"\x1b[?{numbers}n",
        f"\x1b[{dice.randrange(9)}n", f"\x1b[?{numbers}u", f"\x1b[?{numbers}$y",
        f"\x1b[{numbers}t", f"\x1b[48;{numbers}t",
        f"\x1b[{dice.randrange(999)};{dice.randrange(999)}R",
        f"\x1b[{dice.choice(NUMBERS[:20])};1:3{dice.choice('u~ABCDFHPQS')}",
    ))  # fmt: skip


def _string(dice: random.Random) -> bytes:
    introducer = dice.choice(INTRODUCERS)
    begin = dice.choice(("11;rgb:1e1e/", "52;c;", "l", ">|", "1$r", "Gi=1;", "q", "y"))
    ends = ["\x1b\\", "\x9c"] + (["\x07"] if introducer == "]" else [])
    text = _text(dice, 30).replace("\x07", "").replace("\x1b", "\x1bq")
    eight_bit = dice.random() < 0.1
    begins = chr(ord(introducer) + 0x40) if eight_bit else f"\x1b{introducer}"
    return f"{begins}{begin}{text}{dice.choice(ends)}".encode()


def in_reads(dice: random.Random, data: bytes) -> Iterator[bytes]:
    """The data as it may come: in one piece, in some, or byte by byte."""
    how = dice.random()
    if how < 0.6:
        yield data
        return
    at = 0
    while at < len(data):
        size = 1 if how > 0.9 else dice.randint(1, 8)
        yield data[at : at + size]
        at += size


def wrong_with(event: Message) -> str | None:
    """What can't be of an event, or None."""
    if isinstance(event, events.Key):
        for text in (event.key, event.character or "x"):
            if not text or any(0xD800 <= ord(c) <= 0xDFFF for c in text):
                return f"a key {text!r}"
    elif isinstance(event, events.Paste):
        if "\x1b" in event.text:
            return f"a paste of {event.text!r}"
    elif isinstance(event, events.Resize):
        smallest, largest = sorted(event.size)
        if smallest < 1 or largest > LARGEST_SCREEN:
            return f"a size of {event.size}"
    return None


class Errors(logging.Handler):
    """Counts what the parser caught itself: it goes on, but should have known."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error of a line that has one."""
        if record.exc_info and record.exc_info[1] is not None:
            self.seen.append(repr(record.exc_info[1]))


def _time(parts: list[str]) -> float:
    parser = InputParser()
    began = time.process_time()
    for part in parts:
        parser.feed(part)
    return time.process_time() - began


def play(sequences: int, seed: int) -> tuple[list[str], float]:
    """Send so many; gives what was wrong, a line each, and the longest that one took, in seconds
    of processor time.
    """
    dice = random.Random(seed)
    now = [0.0]
    parser = InputParser(clock=lambda: now[0])
    decode = getincrementaldecoder("utf-8")("surrogateescape").decode
    wrong: list[str] = []
    longest = 0.0
    errors = Errors()
    log = logging.getLogger(input_parser.__name__)
    log.addHandler(errors)
    log.setLevel(logging.INFO)
    gc.disable()
    try:
        for number in range(sequences):
            if number % 10_000 == 0:
                gc.collect()  # between two, not in the middle of one that is timed
            data, quiet = odd(dice)
            now[0] += 2 * LONGEST_STRING  # each error is logged
            parts = [decode(part) for part in in_reads(dice, data)]
            began = time.process_time()
            try:
                found = [event for part in parts for event in parser.feed(part)]
                took = time.process_time() - began
                if took > SLOW:
                    # Once more, twice: a machine that does other things has such moments itself.
                    took = min(took, _time(parts), _time(parts))
                longest = max(longest, took)
                if quiet:
                    keys = [event for event in found if isinstance(event, events.Key)]
                    if keys:
                        wrong.append(f"{data!r} gave the keys {keys}")
                for _ in range(3):
                    now[0] += LONGEST_STRING
                    found += parser.tick()
                found += parser.feed(decode(PASTE_BEGINS + PASTE_ENDS))
                after = [getattr(event, "key", None) for event in parser.feed(decode(b"j"))]
                if after != ["j"]:
                    wrong.append(f"after {data!r} the key j was {after}")
                wrong += [f"{data!r} gave {why}" for e in found if (why := wrong_with(e))]
            except Exception as error:
                wrong.append(f"{data!r}: {error!r}")
            wrong += [f"{data!r}: caught {seen}" for seen in errors.seen]
            errors.seen.clear()
            if len(wrong) >= MOST_WRONG:
                break
    finally:
        gc.enable()
        log.removeHandler(errors)
        log.setLevel(logging.NOTSET)
    return wrong, longest


def main() -> int:
    """Send all of them; gives the exit code."""
    parser = argparse.ArgumentParser(description="odd input to the parser of what a terminal sends")
    parser.add_argument("--sequences", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    began = time.process_time()
    wrong, longest = play(asked.sequences, asked.seed)
    each = (time.process_time() - began) / max(1, asked.sequences) * 1e6
    for line in wrong:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(
        f"sequences: {asked.sequences:,}, wrong: {len(wrong)}, {each:.0f} us each with the checks, "
        f"the slowest {longest * 1000:.1f} ms\n"
    )
    return 1 if wrong or longest > SLOW else 0


if __name__ == "__main__":
    sys.exit(main())
