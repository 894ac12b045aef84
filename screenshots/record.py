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

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from pyte.screens import Char  # noqa: E402

from agentco_tui.demo.server import EmbeddedPlatform  # noqa: E402
from tests.screens.drawing import CELL, EDGE, LINE, Drawing, framed  # noqa: E402
from tests.screens.harness import NOW  # noqa: E402
from tests.screens.looks import Cell, Look, Picture  # noqa: E402
from tests.terminal.dashboard import command, ready  # noqa: E402
from tests.terminal.picture import Picture as Terminal  # noqa: E402
from tests.terminal.platform_process import own_folders  # noqa: E402
from tests.terminal.pty_session import PtySession  # noqa: E402

CAST, SVG = HERE / "recording.cast", HERE / "recording.svg"
COLUMNS, ROWS = 120, 34
PROFILE = "production"
BEGIN = "everything that needs a person, the worst first"
STORY = (
    # After so many seconds this key, then these words are seen; said beneath is what it does.
    (2.2, "j", "Refund 214", "j", "down"),
    (0.5, "j", "Refund 214", "j", "down"),
    (0.9, "enter", "Description", "enter", "what is to be done, and how much it costs"),
    (2.6, "t", "orders.search", "t", "what the agent did so far, step by step"),
    (2.6, "esc", "Description", "esc", "back"),
    (0.6, "a", "APPROVE 1 task", "a", "approve? the whole task is shown"),
    (2.4, "y", "approving in", "y", "yes: held for two seconds, u takes it back"),
    (2.0, "", "approved", "", "approved: that is read from the platform, not assumed"),
    (1.8, "5", "BUDGET", "5", "the budget, the worst branch first"),
    (2.2, "1", "NEEDS YOU", "1", "back to what needs a person"),
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
    """Events of a cast: what was written by each mark, from the first picture on."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    first = raw.index(b"\x1b[?1049h")
    found = [(0.0, "m", f"|{BEGIN}"), *((at, "m", words) for at, words in said)]
    before = first
    for at, mark in marks:
        if mark > before:
            text = decoder.decode(raw[before:mark])
            found.append((0.0 if before == first else at - start, "o", text))
            before = mark
    return sorted(((round(max(0.0, at), 2), *rest) for at, *rest in found), key=lambda e: e[0])


def write_cast(found: list[tuple[float, str, str]]) -> None:
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": "agentco-tui"}
    lines = [head, *([at, kind, text] for at, kind, text in found)]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    CAST.write_text(text + "\n", encoding="utf-8")


# ---- drawn


def frames() -> tuple[list[tuple[float, str, Picture]], float]:
    """When each picture of the cast begins, what is said beneath it, and its cells; the end."""
    head, *lines = (json.loads(line) for line in CAST.read_text(encoding="utf-8").splitlines())
    picture, said = Terminal(head["width"], head["height"]), ""
    found: list[tuple[float, str, Picture]] = []
    for at, kind, text in lines:
        if kind == "m":
            said = text
        else:
            picture.feed(text.encode())
        if found and at - found[-1][0] < MERGED:
            at = found.pop()[0]  # noqa: PLW2901
        rows = [[cell_of(char) for char in row] for row in picture.cells()]
        found.append((at, said, rows))
    return found, lines[-1][0] + END


def cell_of(char: Char) -> Cell:
    """A terminal's cell as it is drawn."""
    color, ground = ("" if each == "default" else f"#{each}" for each in (char.fg, char.bg))
    flags = {"b": char.bold, "r": char.reverse, "u": char.underscore}
    return Cell(char.data, Look(color, ground, "".join(name for name in flags if flags[name])))


def drawn() -> str:
    """The picture that moves, from the cast: every distinct line once, and the frames that show
    them, one below the other.
    """
    (shots, end), drawing = frames(), Drawing()
    names: dict[str, str] = {}
    tall = (ROWS + 2) * LINE
    steps, groups = [], []
    for number, (at, said, rows) in enumerate(shots):
        steps.append(f"{at / end:.3%}{{transform:translateY({-number * tall}px)}}")
        lines = (names.setdefault(drawing.line(row), f"l{len(names)}") for row in rows)
        uses = (f'<use href="#{name}" y="{y * LINE}"/>' for y, name in enumerate(lines))
        key, _, about = said.partition("|")
        foot = [Cell(key, Look("#87d7ff", "", "b")), Cell(f"  {about}", Look(FAINT))]
        cap = f'<g transform="translate(0 {(ROWS + 1) * LINE})">{drawing.line(foot)}</g>'
        groups.append(f'<g transform="translate(0 {number * tall})">{"".join(uses)}{cap}</g>')
    defs = "".join(f'<g id="{name}">{line}</g>\n' for line, name in names.items())
    style = (
        f"{drawing.style()}#all{{animation:play {end:.1f}s step-end infinite}}"
        "@media (prefers-reduced-motion:reduce){#all{animation:none}}"
        f"@keyframes play{{{''.join(steps)}}}"
    )
    window = f'<svg x="{EDGE}" y="{EDGE}" width="{COLUMNS * CELL:.0f}" height="{tall}">'
    inner = f'<defs>\n{defs}</defs>\n{window}<g id="all">\n{chr(10).join(groups)}\n</g></svg>'
    return framed(COLUMNS, ROWS + 2, drawing.ground, style, inner)


def main(arguments: list[str]) -> int:
    if "--draw" not in arguments:
        write_cast(record())
    SVG.write_text(drawn(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
