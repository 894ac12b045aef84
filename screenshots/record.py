"""Records twenty seconds of the dashboard: python screenshots/record.py

Runs the program in a pseudo-terminal on the embedded platform, whose seed and clock are always the
same, and presses the keys of `STORY`. Writes `recording.cast` (asciicast 2, for `asciinema play`)
and, drawn from that, `recording.svg`, which moves by CSS alone. With `--draw` it is only drawn.
Needs the extra `dev`.
"""

from __future__ import annotations

import codecs
import json
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pyte.screens import Char  # noqa: E402

from tests.platform import EmbeddedPlatform  # noqa: E402
from tests.screens.drawing import CELL, EDGE, LINE, Drawing, framed  # noqa: E402
from tests.screens.harness import NOW  # noqa: E402
from tests.screens.looks import Cell, Look, Picture  # noqa: E402
from tests.terminal.dashboard import command, ready  # noqa: E402
from tests.terminal.picture import Picture as Terminal  # noqa: E402
from tests.terminal.platform_process import own_folders  # noqa: E402
from tests.terminal.pty_session import PtySession  # noqa: E402

CAST = HERE / "recording.cast"
SVG = HERE / "recording.svg"
COLUMNS = 120
ROWS = 34
PROFILE = "production"
BEGIN = "everything that needs you, the worst first"
STORY = (
    # Seconds to wait, the key, words to wait for, how the key is shown, and what it does.
    (2.2, "j", "Refund 214", "j", "down"),
    (0.4, "j", "Refund 214", "j", "down"),
    (0.4, "j", "Refund 214", "j", "down"),
    (0.4, "j", "Refund 214", "j", "down"),
    (0.9, "enter", "Description", "enter", "what is to be done, and how much it costs"),
    (2.6, "t", "orders.search", "t", "what the agent did so far, step by step"),
    (2.6, "esc", "Description", "esc", "back"),
    (0.6, "a", "APPROVE 1 task", "a", "approve? the whole task is shown"),
    (2.4, "y", "approving in", "y", "yes: held for two seconds, u takes it back"),
    (2.0, "", "approved", "", "approved: that is read from the platform, not assumed"),
    (1.8, "5", "BUDGET", "5", "the budget, the worst branch first"),
    (2.2, "1", "NEEDS YOU", "1", "back to what needs you"),
)
END = 1.8
MERGED = 0.3
"""Seconds within which what is written is one frame."""
FAINT = "#949494"


def record() -> list[tuple[float, str, str]]:
    """Play the story; what was written and said, and when."""
    marks: list[tuple[float, int]] = []
    said: list[tuple[float, str]] = []
    ended = threading.Event()
    with tempfile.TemporaryDirectory() as folder, EmbeddedPlatform(now=NOW) as platform:
        config = Path(folder) / "config" / "agentco-tui" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'[profiles.{PROFILE}]\nbase_url = "{platform.base_url}"\n')
        env = {**own_folders(Path(folder)), "AGENTCO_API_KEY": platform.full_key}
        env |= {"TZ": "UTC", "COLORTERM": None}  # 256 colours: the same, in fewer bytes
        argv = command("--profile", PROFILE)
        with PtySession(argv, env=env, size=(COLUMNS, ROWS)) as session:

            def watch() -> None:
                while not ended.wait(0.02):
                    marks.append((time.monotonic(), session.mark()))

            ready(session)
            session.wait_quiet(0.5)
            watcher = threading.Thread(target=watch)
            watcher.start()
            start = time.monotonic()
            try:
                for pause, key, words, shown, about in STORY:
                    time.sleep(pause)
                    said.append((time.monotonic() - start, f"{shown}|{about}"))
                    session.press(key)
                    session.wait_for(words)
                time.sleep(END)
            finally:
                ended.set()
                watcher.join()
            raw = session.raw
    return events(raw, marks, said, start)


def events(
    raw: bytes, marks: list[tuple[float, int]], said: list[tuple[float, str]], start: float
) -> list[tuple[float, str, str]]:
    """The events of the cast in the order of time: output ("o") and explanations ("m").

    `marks` says how many bytes of `raw` had been written at which time. The cast begins with the
    first picture; what the shell showed before is left out.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    found = [(0.0, "m", f"|{BEGIN}")]
    found += [(at, "m", words) for at, words in said]
    first = raw.index(b"\x1b[?1049h")
    before = first
    for at, mark in marks:
        if mark > before:
            shown_at = 0.0 if before == first else at - start
            found.append((shown_at, "o", decoder.decode(raw[before:mark])))
            before = mark
    rounded = [(round(max(0.0, at), 2), kind, text) for at, kind, text in found]
    return sorted(rounded, key=lambda event: event[0])


def write_cast(found: list[tuple[float, str, str]]) -> None:
    """Write the events as an asciicast, one JSON value a line."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "agentco-tui"}
    lines = [json.dumps(head)]
    lines += [json.dumps(event, ensure_ascii=False) for event in found]
    CAST.write_text("\n".join(lines) + "\n", encoding="utf-8")


# ---- drawing


class Frame(NamedTuple):
    """A picture of the recording."""

    begins: float  # seconds from the start
    explanation: str  # the key that was pressed, a bar, and what it does
    rows: Picture


def read_frames() -> tuple[list[Frame], float]:
    """The pictures of the cast, and its length in seconds."""
    head, *events = (json.loads(line) for line in CAST.read_text(encoding="utf-8").splitlines())
    terminal = Terminal(head["width"], head["height"])
    explanation = ""
    found: list[Frame] = []
    for at, kind, text in events:
        if kind == "m":
            explanation = text
        else:
            terminal.feed(text.encode())
        begins = at
        if found and at - found[-1].begins < MERGED:
            begins = found.pop().begins
        rows = [[cell_of(char) for char in row] for row in terminal.cells()]
        found.append(Frame(begins, explanation, rows))
    return found, events[-1][0] + END


def cell_of(char: Char) -> Cell:
    """A cell of the terminal as it is drawn."""
    color = "" if char.fg == "default" else f"#{char.fg}"
    background = "" if char.bg == "default" else f"#{char.bg}"
    flags = {"b": char.bold, "r": char.reverse, "u": char.underscore}
    return Cell(char.data, Look(color, background, "".join(name for name in flags if flags[name])))


def drawn() -> str:
    """The moving picture as SVG: every distinct line once, and the frames below one another.

    A CSS animation moves the column of frames up, one frame at a time.
    """
    frames, end = read_frames()
    drawing = Drawing()
    line_names: dict[str, str] = {}
    height = (ROWS + 2) * LINE
    steps = []
    groups = []
    for number, frame in enumerate(frames):
        steps.append(f"{frame.begins / end:.3%}{{transform:translateY({-number * height}px)}}")
        uses = []
        for y, row in enumerate(frame.rows):
            name = line_names.setdefault(drawing.line(row), f"l{len(line_names)}")
            uses.append(f'<use href="#{name}" y="{y * LINE}"/>')
        key, _, meaning = frame.explanation.partition("|")
        caption_cells = [Cell(key, Look("#87d7ff", "", "b")), Cell(f"  {meaning}", Look(FAINT))]
        caption = drawing.line(caption_cells)
        groups.append(
            f'<g transform="translate(0 {number * height})">{"".join(uses)}'
            f'<g transform="translate(0 {(ROWS + 1) * LINE})">{caption}</g></g>'
        )
    definitions = "".join(f'<g id="{name}">{line}</g>\n' for line, name in line_names.items())
    style = (
        f"{drawing.style()}#all{{animation:play {end:.1f}s step-end infinite}}"
        "@media (prefers-reduced-motion:reduce){#all{animation:none}}"
        f"@keyframes play{{{''.join(steps)}}}"
    )
    window = f'<svg x="{EDGE}" y="{EDGE}" width="{COLUMNS * CELL:.0f}" height="{height}">'
    all_groups = "\n".join(groups)
    content = f'<defs>\n{definitions}</defs>\n{window}<g id="all">\n{all_groups}\n</g></svg>'
    return framed(COLUMNS, ROWS + 2, drawing.ground, style, content)


def main(arguments: list[str]) -> int:
    if "--draw" not in arguments:
        write_cast(record())
    SVG.write_text(drawn(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
