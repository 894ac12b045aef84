"""The file of a recording: whole up to its last block, bounded, never with the key in it."""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.api.credentials import ApiKey, KeyInUse
from agentco_tui.api.recording import (
    LONGEST_BODY,
    MAGIC,
    MOST,
    About,
    Recorded,
    Recorder,
    Recording,
    RecordingError,
    _block,
)

ABOUT = About(program="1", run="one", base_url="https://platform.example", profile="prod")
KEY = "ag_live_canary_7f3a9b"
Told = tuple[float, str, bytes, int]  # time, target, body, status


def about(target: str = "GET /api/tasks", status: int = 200, **more: object) -> Recorded:
    return Recorded(0.0, target, 0.01, status=status, **more)  # type: ignore[arg-type]


class Hands:
    """A clock that stands where it is put."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def write(path: Path, told: Iterable[Told], most: int = MOST) -> Recorder:
    hands = Hands()
    recorder = Recorder(path, ABOUT, KeyInUse(ApiKey(KEY)).redact, clock=hands, most=most)
    for at, target, body, status in told:
        hands.now = at
        recorder.take(about(target, status), [body])
    recorder.close(30)
    return recorder


def answers(path: Path, target: str = "GET /api/tasks") -> list[tuple[float, bytes]]:
    """The times at which a question was answered, each with the body that held then."""
    recording = Recording(path)
    times = [at for at in recording.times if recording.last(target, at)]
    entries = [(at, recording.last(target, at)) for at in times]
    return [(at, recording.body(entry)) for at, entry in entries if entry is not None]


def test_what_was_written_is_read_at_any_time(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    told = [(100.0, b"[1]", 200), (105.0, b"[1]", 200), (110.0, b"", 304), (115.0, b"[2]", 200)]
    write(path, [(at, "GET /api/tasks", body, status) for at, body, status in told])
    assert answers(path) == [(100, b"[1]"), (105, b"[1]"), (110, b"[1]"), (115, b"[2]")]
    recording = Recording(path)
    assert (recording.begins, recording.ends, recording.about) == (100, 115, ABOUT)
    assert recording.changes == [100, 115]
    assert recording.last("GET /api/tasks", 99.9) is None
    assert recording.next_after(100, "GET /api/tasks") == 105
    assert recording.next_after(100, changed=True) == 115
    assert recording.next_after(115) is None
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_failure_is_no_good_answer(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a", ABOUT, str, clock=Hands())
    recorder.take(about(), [b"[1]"])
    recorder.take(about(status=503), [b"{}"])
    recorder.take(about(status=0, error=("TimedOut", "unknown", "late")), [])
    recorder.close(30)
    recording = Recording(tmp_path / "a")
    last, good = (recording.last("GET /api/tasks", 100, good=only) for only in (False, True))
    assert last is not None
    assert last.answer.error == ("TimedOut", "unknown", "late")
    assert good is not None
    assert recording.body(good) == b"[1]"


TOLD: list[Told] = [
    (100.0 + n, target, (b'[{"id": %d}]' % (n // 3)) * 9, 200)
    for n in range(9)
    for target in ("GET /api/tasks", "GET /api/agents?company_id=cmp_1")
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
    whole = answers(folder / "whole")
    try:
        recording = Recording(folder / "bad")
        found = [(when, recording.last("GET /api/tasks", when)) for when in recording.times]
        for when, entry in found:
            assert entry is None or (when, recording.body(entry)) in whole
    except (RecordingError, ValueError, zlib.error):
        pass


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    for name in ("a", "b.1", "c"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "d").symlink_to(tmp_path / "nowhere")
    for name in ("a", "b", "d"):
        with pytest.raises(RecordingError, match="is there already: name another"):
            Recorder(tmp_path / name, ABOUT, str)
    with pytest.raises(RecordingError, match="can't be written: No such file"):
        Recorder(tmp_path / "none" / "a", ABOUT, str)
    assert (tmp_path / "a").read_text() == (tmp_path / "b.1").read_text() == "mine"


def test_what_is_no_recording_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(RecordingError, match="is no recording"):
        Recording(tmp_path / "a")
    with pytest.raises(RecordingError, match="can't be read: No such file"):
        Recording(tmp_path / "b")
    with pytest.raises(RecordingError, match="can't be read: Is a directory"):
        Recording(tmp_path)


def test_it_is_bounded_and_both_files_are_one_recording(tmp_path: Path) -> None:
    path = tmp_path / "a.rec"
    most = 40_000
    once: list[Told] = [(1.0, "GET /api/companies", b"[7]", 200)]
    told: list[Told] = [
        (10.0 + n, "GET /api/tasks", os.urandom(300).hex().encode(), 200) for n in range(300)
    ]
    write(path, [*once, *told], most=most)
    sizes = [file.stat().st_size for file in (path, tmp_path / "a.rec.1")]
    assert max(sizes) <= most // 2 + 1_000
    assert sum(sizes) > most // 2
    assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o600}
    found = dict(answers(path))
    assert [found[at] for at, _, body, _ in told[-40:]] == [body for _, _, body, _ in told[-40:]]
    # What was asked but once, long ago, is known in the newer file, too.
    (tmp_path / "a.rec.1").unlink()
    recording = Recording(path)
    entry = recording.last("GET /api/companies", recording.ends)
    assert entry is not None
    assert recording.body(entry) == b"[7]"


def test_a_file_of_another_run_is_not_taken_for_the_older_part(tmp_path: Path) -> None:
    other = About(program="1", run="two", base_url="https://platform.example", profile="prod")
    for name, of in (("b", other), ("a", ABOUT)):
        recorder = Recorder(tmp_path / name, of, str, clock=Hands())
        recorder.take(about(), [b"[]"])
        recorder.close(30)
    (tmp_path / "b").rename(tmp_path / "a.1")
    assert len(Recording(tmp_path / "a").times) == 1
    (tmp_path / "a.1").write_text("mine")
    assert len(Recording(tmp_path / "a").times) == 1


def test_a_full_disk_is_told_and_what_comes_later_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands, room = Hands(), [400]
    write_ = os.write

    def filling(handle: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write_(handle, data[: room[0]])
        room[0] -= done
        return done

    monkeypatch.setattr(os, "write", filling)
    recorder = Recorder(tmp_path / "a", ABOUT, str, clock=hands)
    recorder.take(about(), [b"[1]"])
    hands.now = 105.0
    recorder.take(about(), [os.urandom(600)])
    recorder.close(30)
    assert recorder.trouble == "answers are not recorded: No space left on device"
    assert answers(tmp_path / "a") == [(100, b"[1]")]


def test_what_could_not_be_written_is_not_taken_for_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer that says "as before" means the last that came, not the last in the file."""

    def full(handle: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    recorder = Recorder(tmp_path / "a", ABOUT, str, clock=Hands())
    recorder._note(msgspec.structs.replace(about(), at=100), b"[1]")
    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            recorder._note(msgspec.structs.replace(about(), at=105), b"[2]")
    recorder._note(msgspec.structs.replace(about(status=304), at=110), b"")
    recorder._note(msgspec.structs.replace(about(), at=115), b"[1]")
    recorder.close(30)
    assert answers(tmp_path / "a") == [(100, b"[1]"), (110, b"[2]"), (115, b"[1]")]


def test_the_key_and_other_headers_are_nowhere_in_it(tmp_path: Path) -> None:
    secrets = {"set-cookie": "session=cookie_canary", "authorization": f"Bearer {KEY}"}
    told = {"etag": f'"{KEY}"', "content-type": "application/json", "x-internal": "header_canary"}
    recorder = Recorder(tmp_path / "a", ABOUT, KeyInUse(ApiKey(KEY)).redact, clock=Hands())
    recorder.take(about(f"GET /api/tasks?q={KEY}", headers=secrets | told), [b"[]"])
    words = f"no answer with {KEY}"
    recorder.take(about("GET /b", status=0, error=("Broken", "unknown", words)), [])
    recorder.close(30)
    data = (tmp_path / "a").read_bytes()
    assert b"canary" not in data
    assert b"Bearer" not in data
    recording = Recording(tmp_path / "a")
    assert recording.times == [100, 100]
    assert recording.last("GET /b", 100) is not None


def test_what_a_stranger_wrote_into_it_is_left_out(tmp_path: Path) -> None:
    nan, inf = float("nan"), float("inf")
    odd = [nan, inf, -inf, 1e300, -5.0]
    blocks = [_block(ABOUT, b""), *(_block(Recorded(at, "GET /a", 0.0), b"") for at in odd)]
    blocks += [_block(Recorded(5.0, "GET /a", took), b"") for took in odd]
    blocks += [_block(Recorded(5.0, "GET /b", 0.0, ahead), b"") for ahead in odd]
    (tmp_path / "a").write_bytes(MAGIC + b"".join(blocks))
    recording = Recording(tmp_path / "a")
    assert recording.times == [5.0] * 5
    assert recording.last("GET /a", 5.0) is None
    assert [recording.ahead(5.0), recording.begins] == [None, 5.0]


def test_a_body_that_grows_without_end_is_none(tmp_path: Path) -> None:
    body = zlib.compress(bytes(LONGEST_BODY + 1))
    block = _block(Recorded(5.0, "GET /a", 0.0, status=200), body)
    (tmp_path / "a").write_bytes(MAGIC + _block(ABOUT, b"") + block)
    recording = Recording(tmp_path / "a")
    entry = recording.last("GET /a", 5.0)
    assert entry is not None
    with pytest.raises(ValueError):  # noqa: PT011 (it has no words: the player has them)
        recording.body(entry)


def test_unchanged_means_as_the_last_that_did_not_fail(tmp_path: Path) -> None:
    """Not as the failure that came between."""
    came = [(b"[1]", 200), (b"{}", 503), (b"", 304), (b"{}", 503), (b"{}", 503), (b"[1]", 200)]
    told = [(100.0 + at, "GET /api/tasks", *each) for at, each in enumerate(came)]
    write(tmp_path / "a", told)
    bodies = [b"[1]", b"{}", b"[1]", b"{}", b"{}", b"[1]"]
    assert answers(tmp_path / "a") == [(100.0 + at, body) for at, body in enumerate(bodies)]


def test_of_more_questions_than_are_remembered_every_answer_is_there(tmp_path: Path) -> None:
    told: list[Told] = [(100.0, f"GET /{n}", b"[%d]" % n, 200) for n in range(600)]
    recorder = write(tmp_path / "a", [*told, *told])
    assert len(recorder._kept) == 500
    recording = Recording(tmp_path / "a")
    for _, target, body, _ in told:
        entry = recording.last(target, 100.0)
        assert entry is not None
        assert recording.body(entry) == body
