"""The file of a recording: whole up to its last block, bounded, never with the key in it."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.api.credentials import ApiKey, KeyInUse
from agentco_tui.api.error_messages import RequestInfo
from agentco_tui.api.errors import ApiError, PlatformFailed, TimedOut
from agentco_tui.api.recorder import LARGEST_RECORDING, MOST_REMEMBERED, Recorder
from agentco_tui.api.recording import LONGEST_BODY, Recording
from agentco_tui.api.recording_format import About, Recorded, RecordingError, encode_block
from agentco_tui.api.reply import Reply
from agentco_tui.text import clean_line

ABOUT = About(program="1", run="one", base_url="https://platform.example", profile="prod")
KEY = "ag_live_canary_7f3a9b"
TASKS = "GET /api/tasks"
FAILED = PlatformFailed(clean_line("not available"), status=503)
Told = tuple[float, str, bytes | ApiError | None]  # time, target, body; None for a 304


class Hands:
    """A clock that stands where it is put."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def take(
    recorder: Recorder,
    came: bytes | ApiError | None,
    target: str = TASKS,
    headers: Mapping[str, str] = {},
) -> None:
    if isinstance(came, ApiError):
        recorder.record(target, came, 0.01, None)
    else:
        info = RequestInfo("GET", "/api/tasks", clean_line("platform.example"))
        reply = Reply(info, 304 if came is None else 200, headers, pieces=[came or b""])
        recorder.record(target, reply, 0.01, None)


def write_answer(recorder: Recorder, answer: Recorded, body: list[bytes] | None) -> None:
    """Write an answer at once, in this thread; `body` is None if it came too fast to be kept."""
    # private: the public way hands it to a thread, which catches the OSError of a full disk.
    recorder._write_answer(answer, body)


def write(path: Path, told: Iterable[Told], most: int = LARGEST_RECORDING) -> Recorder:
    hands = Hands()
    recorder = Recorder(path, ABOUT, KeyInUse(ApiKey(KEY)).redact, clock=hands, most=most)
    for at, target, came in told:
        hands.now = at
        take(recorder, came, target)
    recorder.close(30)
    return recorder


def body_at(recording: Recording, at: float, target: str = TASKS) -> bytes | None:
    """The body that held then; None if none did, or it failed last."""
    found, failed = recording.last(target, at)
    return recording.body(found) if found and not failed else None


def answers(path: Path) -> list[tuple[float, bytes | None]]:
    """What held whenever anything was answered."""
    recording = Recording(path)
    return [(at, body_at(recording, at)) for at in recording.times]


def test_what_was_written_is_read_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    write(path, [(100.0, TASKS, b"[1]"), (105.0, TASKS, b"[1]"), (115.0, TASKS, b"[2]")])
    assert answers(path) == [(100, b"[1]"), (105, b"[1]"), (115, b"[2]")]
    recording = Recording(path)
    assert (recording.begins, recording.ends, recording.about) == (100, 115, ABOUT)
    assert recording.last(TASKS, 99.9) == (None, None)
    assert [recording.next_after(at) for at in (99, 100, 115)] == [100, 105, None]
    assert TASKS in recording
    assert "GET /api/agents" not in recording
    assert path.stat().st_mode & 0o777 == 0o600


def test_unchanged_means_as_the_last_that_did_not_fail(tmp_path: Path) -> None:
    """Not as the failure that came between, which is known with all that it says."""
    late = TimedOut(clean_line("late"))
    came: list[bytes | ApiError | None] = [b"[1]", FAILED, None, FAILED, late, b"[1]"]
    write(tmp_path / "a", [(100.0 + at, TASKS, each) for at, each in enumerate(came)])
    bodies = [b"[1]", None, b"[1]", None, None, b"[1]"]
    assert answers(tmp_path / "a") == [(100.0 + at, body) for at, body in enumerate(bodies)]
    found, failed = Recording(tmp_path / "a").last(TASKS, 104.0)
    assert found is not None
    assert failed == ("TimedOut", "unknown", "late")


TOLD: list[Told] = [
    (100.0 + n, target, (b'[{"id": %d}]' % (n // 3)) * 9)
    for n in range(9)
    for target in (TASKS, "GET /api/agents?company_id=cmp_1")
]


@settings(deadline=None, max_examples=60)
@given(cut=st.floats(0, 1))
def test_cut_at_any_byte_it_is_whole_up_to_the_last_block(
    tmp_path_factory: pytest.TempPathFactory, cut: float
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    write(folder / "whole", TOLD)
    data = (folder / "whole").read_bytes()
    (folder / "cut").write_bytes(data[: int(cut * len(data))])
    whole = answers(folder / "whole")
    try:
        found = answers(folder / "cut")
    except RecordingError:
        found = []
        assert cut < 0.5
    # Of two answers at the same time the second may be missing.
    assert found == whole[: len(found)]
    end = len(data) - 60  # the last block is longer than that
    assert len(found) >= len(whole) - 1 or cut * len(data) < end


@settings(deadline=None, max_examples=60)
@given(at=st.floats(0, 0.999), bit=st.integers(0, 7))
def test_a_damaged_byte_never_brings_a_wrong_answer(
    tmp_path_factory: pytest.TempPathFactory, at: float, bit: int
) -> None:
    folder = tmp_path_factory.mktemp("bit")
    write(folder / "whole", TOLD)
    data = bytearray((folder / "whole").read_bytes())
    data[int(at * len(data))] ^= 1 << bit
    (folder / "bad").write_bytes(data)
    try:
        found = answers(folder / "bad")
        assert found == answers(folder / "whole")[: len(found)]
    except (RecordingError, ValueError, zlib.error):
        pass


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    for name in ("a", "b.1", "c"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "d").symlink_to(tmp_path / "nowhere")
    for name in ("a", "b", "d"):
        with pytest.raises(RecordingError, match="exists already: name another"):
            Recorder(tmp_path / name, ABOUT, str)
    with pytest.raises(RecordingError, match="can't be written: No such file"):
        Recorder(tmp_path / "none" / "a", ABOUT, str)
    assert (tmp_path / "a").read_text() == (tmp_path / "b.1").read_text() == "mine"


def test_what_is_no_recording_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine, and long enough to be more than three lengths")
    with pytest.raises(RecordingError, match="is no recording"):
        Recording(tmp_path / "a")
    with pytest.raises(RecordingError, match="can't be read: No such file"):
        Recording(tmp_path / "b")
    with pytest.raises(RecordingError, match="can't be read: Is a directory"):
        Recording(tmp_path)


def test_it_is_bounded_and_both_files_are_one_recording(tmp_path: Path) -> None:
    path, older = tmp_path / "a.rec", tmp_path / "a.rec.1"
    most = 40_000
    told = [(10.0 + n, TASKS, os.urandom(300).hex().encode()) for n in range(300)]
    # What never changes is whole in each of the two.
    same = [(10.5 + n, "GET /api/companies", b"[7]") for n in range(300)]
    write(path, sorted([*told, *same]), most=most)
    sizes = [file.stat().st_size for file in (path, older)]
    assert max(sizes) <= most // 2 + 1_000
    assert sum(sizes) > most // 2
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    recording = Recording(path)
    assert [body_at(recording, at) for at, _, _ in told[-40:]] == [
        body for _, _, body in told[-40:]
    ]
    # A file of another run is not taken for the older part.
    other = About(program="1", run="two", base_url="https://platform.example", profile="prod")
    for content in (encode_block(other) + older.read_bytes(), b"mine"):
        older.write_bytes(content)
        recording = Recording(path)
        assert recording.begins > told[150][0]
        assert body_at(recording, recording.ends, "GET /api/companies") == b"[7]"


def test_a_full_disk_is_told_and_what_comes_later_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that says "as before" means the last that came, not the last in the file."""
    room, write_ = [10_000], os.write

    def filling(handle: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write_(handle, data[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(os, "write", filling)
    recorder = Recorder(tmp_path / "a", ABOUT, str)
    write_answer(recorder, Recorded(100, TASKS, 0.01, status=200), [b"[1]"])
    room[0] = 30
    with pytest.raises(OSError, match="No space"):
        write_answer(recorder, Recorded(105, TASKS, 0.01, status=200), [b"[2]"])
    take(recorder, b"[2]")
    recorder.close(30)
    assert recorder.trouble == "answers are not recorded: No space left on device"
    room[0] = 10_000
    # private: a recorder that has closed its file has no public way to open it again.
    recorder._handle = os.open(tmp_path / "a", os.O_WRONLY | os.O_APPEND)
    write_answer(recorder, Recorded(110, TASKS, 0.01, status=304), [])
    write_answer(recorder, Recorded(115, TASKS, 0.01, status=200), [b"[1]"])
    assert answers(tmp_path / "a") == [(100, b"[1]"), (110, b"[2]"), (115, b"[1]")]


def test_a_disk_that_is_too_slow_is_told_and_nothing_wrong_is_written(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a", ABOUT, str, clock=Hands())
    write_answer(recorder, Recorded(100, TASKS, 0.01, status=200), [b"[1]"])
    with pytest.raises(OSError, match="slower than the platform"):
        write_answer(recorder, Recorded(105, TASKS, 0.01, status=200), None)
    write_answer(recorder, Recorded(110, TASKS, 0.01, status=304), [])
    recorder.close(30)
    assert answers(tmp_path / "a") == [(100, b"[1]")]


def test_the_key_and_other_headers_are_nowhere_in_it(tmp_path: Path) -> None:
    secrets = {"set-cookie": "session=cookie_canary", "authorization": f"Bearer {KEY}"}
    told = {"link": f"<{KEY}>", "content-type": "application/json", "x-internal": "header_canary"}
    recorder = Recorder(tmp_path / "a", ABOUT, KeyInUse(ApiKey(KEY)).redact, clock=Hands())
    take(recorder, b"[]", f"GET /api/tasks?q={KEY}", secrets | told)
    words = clean_line(f"no answer with {KEY}")
    take(recorder, TimedOut(words, platform_message=words), "GET /b")
    recorder.close(30)
    data = (tmp_path / "a").read_bytes()
    assert b"canary" not in data
    assert b"Bearer" not in data
    assert Recording(tmp_path / "a").times == [100, 100]


def test_what_a_stranger_wrote_into_it_is_left_out(tmp_path: Path) -> None:
    nan, inf = float("nan"), float("inf")
    odd = [nan, inf, -inf, 1e300, -5.0]
    blocks = [encode_block(ABOUT), *(encode_block(Recorded(at, "GET /a", 0.0)) for at in odd)]
    blocks += [encode_block(Recorded(5.0, "GET /a", took)) for took in odd]
    blocks += [encode_block(Recorded(5.0, "GET /a", 0.0, ahead)) for ahead in odd]
    blocks += [encode_block(Recorded(5.0, "GET /a", 0.0, status=304))]
    # A body that grows without end is none.
    endless = zlib.compress(bytes(LONGEST_BODY + 1))
    blocks += [encode_block(Recorded(5.0, "GET /b", 0.0, status=200), endless)]
    (tmp_path / "a").write_bytes(b"".join(blocks))
    recording = Recording(tmp_path / "a")
    assert recording.times == [5.0]
    assert recording.last("GET /a", 5.0) == (None, None)
    with pytest.raises(ValueError):  # noqa: PT011 (it has no words: the player has them)
        body_at(recording, 5.0, "GET /b")


def test_of_more_questions_than_are_remembered_every_answer_is_there(tmp_path: Path) -> None:
    told: list[Told] = [(100.0, f"GET /{n}", b"[%d]" % n) for n in range(MOST_REMEMBERED + 100)]
    recorder = write(tmp_path / "a", [*told, *told])
    # private: no public way shows how many questions are remembered.
    assert len(recorder._remembered) == MOST_REMEMBERED
    recording = Recording(tmp_path / "a")
    assert all(body_at(recording, 100.0, target) == body for _, target, body in told)
