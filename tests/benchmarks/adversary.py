"""An adversary between a person and the platform: python -m tests.benchmarks.adversary.

python -m tests.benchmarks.adversary [--minutes 3] [--strokes N] [--seed 1]

The real dashboard in a pseudo-terminal; a platform that changes any field of any task at any
request, lets another operator decide, restore, remove or reuse an id, and delays, drops, doubles or
refuses any answer; and a hand that types keys, mostly those that decide, and goes from company to
company. Every value that changes is unique and stands in the record, so the question on the screen
tells which content it holds. The machine is against it, too (`tests/outside/sabotage.py`): an fsync
takes seconds, another process keeps the journal locked, the program is stopped right after a yes,
and commands are run with an empty argument.

The judge reads the screen before every key, and the platform's own count:

- an approve request answers a `y` to a question that showed just that content, and had shown it
  since before it was armed; a read begun after that `y` and ended before the request had brought
  it once more, and no later one another (of a set: its title stood in the question, and the
  content had been served before);
- the newest read that showed the task began at most a second before the request left;
- there is one request for one yes at most, and an attempt in the journal for each;
- nothing but approvals is sent, and a command with an empty argument is refused;
- each word on a line, in a notice and in the journal about what became of a task is held against
  what the platform held since the last reads that it answered.

Prints what was done and each violation; exits 1 if there is one. The same seed throws the same dice
for each key and each request; what comes first in time may differ.
"""

from __future__ import annotations

import argparse
import random
import re
import signal
import sys
import tempfile
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

from agentco_tui.actions.read_age import OLDEST_READ
from tests.outside.adversary_platform import OPERATOR, Adversary, content, may_show, tokens
from tests.outside.console import Console, box_in, lines_in, notices_in
from tests.outside.platform import Request, approves, pending, tasks_read, writes
from tests.outside.sabotage import Saboteur
from tests.outside.script import Json

ARMED = 0.1
"""Seconds that a content must have stood before a yes to it: less than the program's own, by what a
picture and a key take on their ways on a busy machine."""
LAG = 0.5
"""Seconds that an answer may take from the server into the program on a busy machine, and a key."""
STANDS = 10.0
"""Seconds for which words on a line may rest on what was read when they came: the log, and the
lists that show more than what waits, are read less often."""
STAYS = 30.0
"""Seconds within which words that are seen again are the same notice, uncovered."""
HOLD = "[approve]\nhold = 0.5\n"
REFRESHES = (0.5, 3.0)
"""Seconds between two polls, by the seed: where they come often they notice what a read before a
write has missed, where they come rarely nothing does."""
SETTLES = 60.0
"""Seconds for all to be settled once the platform is well again."""
TELLS = re.compile(
    r"(?=tk-\d{3} pay \d+(?: \([^)]*\))?: )| (?=[●▲◌✖] |sent to the terminal's clip)"
)
"""Where a notice begins, and its words about a task."""
TASK = re.compile(r"tk-\d{3}")


@dataclass
class Asked:
    """A question that stood on the screen."""

    box: str
    kind: str
    """single or set."""
    ids: frozenset[str]
    since: float
    """When what stands in it did not stand there yet, by the look before."""
    yes: list[tuple[float, float, str]] = field(default_factory=list)
    """When `y` was pressed, since when what stood there had stood, and what it was."""
    answered: Counter[str] = field(default_factory=Counter)


class Judge:
    """Looks at the screen before each key, and at the platform's count."""

    def __init__(self, platform: Adversary) -> None:
        self.platform = platform
        self.questions: list[Asked] = []
        self.now: Asked | None = None
        self.wrong: list[str] = []
        self.claims = 0
        self._told: dict[str, float] = {}
        """When each notice was seen last."""
        self._stood: dict[str, tuple[float, float]] = {}
        """Since when the same is said on a line, and when it was seen last."""
        self._judged = 0
        self._looked = 0.0
        self._keys: deque[str] = deque(maxlen=40)
        """The last keys, each with the head of the box that stood there."""

    def violation(self, rule: str, what: str) -> None:
        """Keep one of each."""
        if f"{rule}: {what}" not in self.wrong:
            self.wrong.append(f"{rule}: {what}")

    def look(self, console: Console, key: str) -> None:
        """The screen just before a key is pressed."""
        for _ in range(10):
            console.catch_up()
            now, rows = time.monotonic(), console.screen
            if "".join(rows).count("╭") == "".join(rows).count("╰"):
                break
            time.sleep(0.01)  # half a picture, or a notice over a corner
        box = box_in(rows)
        head = box.partition("\n")[0]
        asked = re.search(r"APPROVE (\d+) tasks?", head)
        if asked is None:
            self.now = None
        elif self.now is None or self.now.ids != asked_about(box, asked[1]):
            kind = "single" if asked[1] == "1" else "set"
            self.now = Asked(box, kind, asked_about(box, asked[1]), self._looked)
            self.questions.append(self.now)
        elif tokens(box) != tokens(self.now.box):
            self.now.box, self.now.since = box, self._looked
        if key:
            self._keys.append(f"{now:.2f} {key!r} at {head!r}")
        if self.now is not None and key == "y":
            self.now.yes.append((now, self.now.since, box))
        self._looked = now
        single = self.now is not None and self.now.kind == "single"
        self.platform.focus = next(iter(self.now.ids), None) if single and self.now else None
        for row in lines_in(rows):
            found = TASK.search(row)
            if found and "│" not in row[: found.start()]:
                said = f"{found[0]} {row[: found.start()].strip(' ▌>')}"
                began, last = self._stood.get(said, (now, now))
                began = began if now - last < LAG and now - began < STANDS else now
                self._stood[said] = began, now
                self.claim("line", found[0], row[: found.start()], row, began)
        for part in TELLS.split(notices_in(rows)):
            if TASK.match(part):
                # Words that are about no task may have come behind it, or gone.
                same = [
                    told for told in self._told if told.startswith(part) or part.startswith(told)
                ]
                if all(now - self._told[told] > STAYS for told in same):
                    self.claim("notice", part[:6], part.partition(": ")[2], part, now)
                self._told.update(dict.fromkeys((part, *same), now))
        self.judge_posts()

    def claim(self, where: str, task_id: str, words: str, whole: str, began: float) -> None:
        """Hold what is said of a task, since `began`, against how it stood since the last reads."""
        platform = self.platform
        ago = time.monotonic() - began
        stood = platform.held(task_id, platform.since_reads(task_id) - ago)
        named = tokens(whole)
        if named and not any(record and tokens(record["title"]) <= named for record in stood):
            # What has left the list stays on its line, also when its id is another task's by now.
            stood += [
                record
                for _, record in platform.history[task_id]
                if record is not None and tokens(record["title"]) <= named
            ]
        states = {record["status"] for record in stood if record is not None}
        by = {record["decided_by"] for record in stood if record is not None}
        checks = (
            (r"approved here", platform.applied(task_id) and states != {"pending"}),
            (r"approved elsewhere", "approved" in states and OPERATOR in by),
            (r"^(approved|approved after all)\b(?! (here|elsewhere))", "approved" in states),
            (r"rejected", "rejected" in states),
            (r"\bgone\b|no list", None in stood),
            (r"^not (done|approved)", not platform.applied(task_id) or "pending" in states),
            (r"no longer pending|no longer waits", states != {"pending"} or None in stood),
        )
        said = words.strip(" ▌>■●▲◌✖○·").strip()
        for pattern, true in checks:
            if re.search(pattern, said):
                self.claims += 1
                if not true:
                    now = time.monotonic()
                    past = [
                        f"{at - now:.1f} s {record and (record['status'], record['decided_by'])}"
                        for at, record in platform.history[task_id][-6:]
                    ]
                    held = f"{sorted(map(str, states))} by {by}, {past}"
                    self.violation(f"false word in a {where}", f"{whole.strip()!r}: it was {held}")

    def judge_posts(self) -> None:
        """Each approve request that has come since."""
        posts = self.platform.posts()
        for post in posts[self._judged :]:
            self._judge(post, post.path[1])
        self._judged = len(posts)
        is_approval = approves()
        for request in self.platform.seen(writes):
            if not is_approval(request):
                self.violation("a write that was not asked for", f"{request}")

    def _judge(self, post: Request, task_id: str) -> None:
        name = f"request {post.number} for {task_id}"
        asked = [
            q for q in self.questions if task_id in q.ids and q.yes and q.yes[0][0] < post.time
        ]
        if not asked:
            self.violation("no yes", "\n".join((f"{name}, {post.time:.2f}", *self._keys)))
            return
        question = asked[-1]
        question.answered[task_id] += 1
        if question.answered[task_id] > 1:
            self.violation("twice for one yes", name)
        reads = [
            (read, content(found[0]) if found else None)
            for read in self.platform.seen(tasks_read)
            if read.status == 200 and read.ended is not None and read.ended < post.time
            for found in [[record for record in read.served if record["id"] == task_id]]
            if found or (pending(read) and may_show(read, task_id))
        ]
        newest = max((read.time for read, held in reads if held is not None), default=0.0)
        if post.time - newest > OLDEST_READ + LAG:
            self.violation("an old read", f"{name}: read {post.time - newest:.2f} s before")
        presses = [yes for yes in question.yes if yes[0] < post.time]
        if question.kind == "set":
            came = [held for read, held in reads if read.time >= presses[0][0]]
            before = [held for read, held in reads if read.time < presses[-1][0]]
            named = tokens(presses[-1][2])
            if not any(held and held in before and tokens(held["title"]) <= named for held in came):
                self.violation("another content in a set", f"{name}: {came[-1:]}")
            return
        answers = [
            (at, read, at - since)
            for at, since, box in presses
            for read, held in reads
            if read.time >= at - LAG and held is not None and shows(box, held)
        ]
        if not answers:
            seen = reads[-1][1] if reads else None
            self.violation("another content", f"{name}: {seen}, the question was\n{presses[-1][2]}")
            return
        last = max(read.time for _, read, _ in answers)
        for read, held in reads:
            if read.time > last and read.ended is not None and read.ended < post.time - LAG:
                self.violation("a newer content was read", f"{name}: {held}")
        stood = max(stood for _, _, stood in answers)
        if stood < ARMED:
            self.violation("stood too short", f"{name}: {stood:.2f} s")

    def journal(self, entries: list[Json]) -> None:
        """What the journal says at the end, when all is settled."""
        platform, claims = self.platform, 0
        posts = {post.headers.get("idempotency-key"): post for post in platform.posts()}
        applied = {id(approval.request) for approval in platform.approvals}
        attempts = {entry["attempt"]: entry for entry in entries if entry["task"]}
        for key in posts.keys() - attempts.keys():
            self.violation("no attempt in the journal", f"{posts[key]}")
        for attempt, entry in attempts.items():
            said = (entry.get("outcome") or {}).get("is")
            post, task_id = posts.get(attempt), entry["subject"]
            stood = platform.held(task_id, 0.0)
            states = {record["status"] for record in stood if record is not None}
            by = {record["decided_by"] for record in stood if record is not None}
            true = {
                "approved here": post is not None and id(post) in applied,
                "approved": "approved" in states,
                "decided elsewhere": OPERATOR in by,
                "gone": None in stood,
                "refused": post is not None and post.status in {404, 409, 422},
                "not sent": post is None,
                "not done": post is None or id(post) not in applied,
            }.get(said or "", said is not None)
            claims += 1
            if not true:
                self.violation("false word in the journal", f"{task_id}: {said!r}, {entry}")
        self.claims += claims


def asked_about(box: str, count: str) -> frozenset[str]:
    """The tasks that a question is about; one about a single task may name others above it."""
    own = re.search(r"^id +(tk-\d{3})", box, re.MULTILINE)
    if count == "1" and own is not None:
        return frozenset({own[1]})
    return frozenset(TASK.findall(box))


def shows(box: str, held: Json) -> bool:
    """Whether a question's box holds just this content; where it tells times, this one's too.

    From the title on: above it stands what has changed since another look, with old and new; and
    down to the trace, which is of what the agent did. A sum worked out here is marked, and none of
    the task's.
    """
    above = re.sub(r"~[\d,.]+", "", box.partition("\ntrace")[0])
    there, due = tokens(above[max(0, above.rfind("\n" + held["id"])) :]), tokens(repr(held))
    times = {token for token in there if "-" in token}
    told = bool(due & times) or not times
    return told and there - times == {token for token in due if "-" not in token}


KEYS = (
    *("a",) * 12, *("y",) * 16, *("j", "k", "g", "G", "esc", "esc", "enter", "n", "u", "space"),
    *("j", "k", "esc", "space", "m", "*", "f", "t", "r", "1", "4", "4", "/", "0", "9"),
)  # fmt: skip
SCOPES = ([":", *"company Globex", "enter", "4"], [":", *"company Acme", "enter", "4"], ["0"])
PAUSES = (0.0, 0.0, 0.02, 0.05, 0.1, 0.3)


PATIENCE_FOR_CLAIM = 120.0  # seconds
BURSTS = (b"deploy", b"yes\r", b"xy", b"yx", b"y\r", b"12y", b"yy", b"\x1b[200~y\x1b[201~y")
"""Text as it is pasted, with and without brackets: written in one piece, it answers nothing."""
BEAT = 0.15  # seconds between two keys that are typed by a finger


def burst(dice: random.Random, console: Console, judge: Judge, did: Counter[str]) -> None:
    """Paste into a question that a `y` could answer, and to which none was pressed yet.

    The judge knows of no `y` then, so that any request for its tasks is a violation.
    """
    opens_until = time.monotonic() + 1.0
    while True:
        judge.look(console, "")
        asked = judge.now
        if asked is not None or time.monotonic() >= opens_until:
            break
        time.sleep(0.03)
    if asked is None or asked.yes:
        return
    until = time.monotonic() + dice.choice((0.5, 0.9))
    while time.monotonic() < until:
        judge.look(console, "")
        time.sleep(0.03)
    if judge.now is not asked:
        return
    text = dice.choice(BURSTS)
    did[f"burst {text!r}"] += 1
    console.write(text)
    until = time.monotonic() + 3 * BEAT
    while time.monotonic() < until:
        judge.look(console, "")
        time.sleep(0.03)


def stroke(
    dice: random.Random,
    console: Console,
    judge: Judge,
    did: Counter[str],
    saboteur: Saboteur,
) -> None:
    """Press a key, or some that belong together."""
    keys = [dice.choice(KEYS)]
    wanted = re.search(r"type (\d+)", console.box())
    if "APPROVE" in console.box() and dice.random() < 0.25:
        burst(dice, console, judge, did)
        return
    if wanted and dice.random() < 0.5:
        keys = [each for digit in wanted[1] for each in ("beat", digit)] + ["beat", "y", "beat"]
    elif not console.box() and dice.random() < 0.25:
        keys = [
            dice.choice(("j", "k", "g", "G")),
            "a",
            *(["burst"] if dice.random() < 0.3 else []),
            "wait",
            "y",
            "beat",
            *(["u"] * (dice.random() < 0.2)),
        ]
    elif not console.box() and dice.random() < 0.02:
        keys = list(dice.choice(SCOPES))
    elif "APPROVE" in console.box() and dice.random() < 0.5:
        keys = ["wait", "y", "beat"]
    for key in keys:
        if key == "beat":
            time.sleep(BEAT)
            continue
        if key == "burst":
            burst(dice, console, judge, did)
            continue
        if key == "wait":
            until = time.monotonic() + dice.choice((0.35, 0.75, 0.9))
            while time.monotonic() < until:
                judge.look(console, "")
                time.sleep(0.03)
            continue
        if len(keys) == 1 and key in "/n" and dice.random() < 0.7:
            continue
        is_yes = key == "y" and "APPROVE" in console.box()
        # A `y` counts only if it comes alone, as most that are meant do.
        is_by_itself = key == "y" and dice.random() < 0.8
        if is_by_itself:
            time.sleep(BEAT)
        if is_yes:
            saboteur.before_yes()
        judge.look(console, key)
        did[key] += 1
        console.press(key)
        if is_by_itself:
            time.sleep(BEAT)
        if is_yes:
            saboteur.after_yes(console)
        time.sleep(0.0 if is_by_itself else dice.choice(PAUSES))


def play(seed: int, strokes: int, seconds: float, folder: Path) -> tuple[Judge, Counter[str]]:
    """One session; ends by strokes or by time, but not before something was claimed.

    A busy machine may take a while for the first approval, and what claims nothing proves nothing.
    """
    dice, did = random.Random(f"{seed} keys"), Counter[str]()
    with Adversary(seed) as platform:
        platform.refill()
        judge = Judge(platform)
        saboteur = Saboteur(seed, folder)
        with Console(
            platform,
            folder,
            "--screen",
            "tasks",
            size=(120, 60),
            config=HOLD,
            env=saboteur.environment,
            refresh=REFRESHES[seed % len(REFRESHES)],
        ) as console:
            end = time.monotonic() + seconds
            last = end + PATIENCE_FOR_CLAIM
            while strokes > 0 and console.alive:
                if time.monotonic() > (end if judge.claims else last):
                    break
                strokes -= 1
                platform.refill()
                stroke(dice, console, judge, did, saboteur)
                saboteur.command(console, platform.tasks[-1]["id"])
            saboteur.end()
            if not console.alive:
                reports = [report.read_text() for report in folder.rglob("crash*")]
                judge.violation("the program ended", "\n".join([console.after_screen(), *reports]))
            for accepted in saboteur.accepted:
                judge.violation("an empty argument was accepted", accepted)
            platform.did.update(saboteur.did)
            platform.calm = True
            for _ in range(4):
                console.press("esc")
                time.sleep(0.2)
            console.press("4")
            flying = re.compile(r"approving in|reading|sending|confirming|being approved|begins in")
            end = time.monotonic() + SETTLES
            while flying.search(console.text) and time.monotonic() < end:
                judge.look(console, "")
                time.sleep(0.2)
            judge.look(console, "")
            if flying.search(console.text):
                judge.violation("never settled", console.text)
            judge.journal(console.journal())
            end_by = dice.choice((signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
            console.signal(end_by)
            if (code := console.wait_gone()) != 128 + end_by or console.left_on():
                judge.violation("how it ended", f"{end_by!r}: {code}, {console.left_on()}")
            if platform.full_key.encode() in console.raw:
                judge.violation("the key", "it stood on the terminal")
    return judge, did


def main() -> int:
    """Play; gives the exit code."""
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
        # Under nohup the dashboard would inherit that a signal is ignored, and not end by it.
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    parser = argparse.ArgumentParser(description="an adversary at every request")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--strokes", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge, did = play(asked.seed, asked.strokes, asked.minutes * 60, Path(folder))
    sys.stdout.write(report(judge, did))
    return 1 if judge.wrong else 0


def report(judge: Judge, did: Counter[str]) -> str:
    """What was done, and what was wrong."""
    platform = judge.platform
    counts = {
        "keys": sum(did.values()),
        "bursts": sum(count for key, count in did.items() if key.startswith("burst ")),
        "questions": len(judge.questions),
        "questions answered with y": sum(1 for asked in judge.questions if asked.yes),
        "approve requests": len(platform.posts()),
        "applied": len(platform.approvals),
        **dict(sorted(platform.did.items())),
        "claims checked": judge.claims,
        "violations": len(judge.wrong),
    }
    lines = [f"{name}: {count}" for name, count in counts.items()]
    return "\n".join([*lines, *judge.wrong, ""])


if __name__ == "__main__":
    sys.exit(main())
