"""The journal: whole after anything, shared, and the judge of who may send."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.actions.host_addresses import addresses_of
from agentco_tui.actions.journal import (
    REMEMBERED,
    InFlight,
    Journal,
    Overtaken,
    Unsettled,
)
from agentco_tui.actions.journal_digest import find_damage
from agentco_tui.actions.journal_errors import JournalError
from agentco_tui.actions.journal_file import JournalFile
from agentco_tui.actions.journal_lines import (
    LONGEST_LINE,
    Attempt,
    Settled,
    from_line,
    seconds_of,
    to_line,
)
from agentco_tui.api.origin import platform_of
from agentco_tui.model.format import stamp
from tests.actions.user import left_behind

ORIGIN = "https://platform.example"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.jsonl"


@pytest.fixture
def journal(path: Path) -> Iterator[Journal]:
    journal = Journal(path)
    yield journal
    journal.close()


def attempt(attempt_id: str = "a1", subject: str = "tsk_1", **more: object) -> Attempt:
    return Attempt(
        **{  # type: ignore[arg-type]
            "attempt": attempt_id,
            "time": stamp(1_700_000_000.5),
            "origin": ORIGIN,
            "profile": "prod",
            "verb": "approve",
            "subject": subject,
            "task": subject,
            "title": "Send the report",
            **more,
        }
    )


def settled(attempt_id: str = "a1", outcome: str = "approved here") -> Settled:
    return Settled(attempt=attempt_id, time=stamp(1_700_000_001), outcome=outcome, known_by="read")


def ids(attempts: list[Attempt]) -> list[str]:
    return [attempt.attempt for attempt in attempts]


def entries(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def test_an_attempt_is_on_the_disk_before_begin_returns(journal: Journal, path: Path) -> None:
    names = {"company": "c1", "company_name": "Acme", "agent": "g1", "agent_name": "Scout"}
    journal.begin(attempt(fingerprint="f", **names), journal.mark())
    about = {
        "attempt": "a1", "origin": ORIGIN, "profile": "prod", "task": "tsk_1", "pid": os.getpid(),
        "title": "Send the report", "verb": "approve", **names,
    }  # fmt: skip
    [line] = entries(path)
    begun = {"kind": "attempt", "time": "2023-11-14T22:13:20.500Z", "fingerprint": "f"}
    assert {**about, **begun}.items() <= line.items()
    journal.finish(settled())
    told = {"kind": "outcome", "outcome": "approved here"}
    assert {**about, **told}.items() <= entries(path)[1].items()


def test_folder_and_files_are_for_their_owner_only(journal: Journal, path: Path) -> None:
    before = os.umask(0)
    try:
        journal.begin(attempt(), journal.mark())
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for file in (path, path.with_suffix(".lock"), *(path.parent / "writers").iterdir()):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE((path.parent / "writers").stat().st_mode) == 0o700


def test_nothing_is_made_before_the_first_attempt(journal: Journal, path: Path) -> None:
    assert left_behind(journal, ORIGIN) == []
    assert journal.mark() == 0
    assert not path.parent.exists()


def test_the_same_thing_twice_at_a_time_is_refused(journal: Journal) -> None:
    journal.begin(attempt("a1"), journal.mark())
    with pytest.raises(InFlight, match="this dashboard is approving this task right now"):
        journal.begin(attempt("a2"), journal.mark())
    journal.begin(attempt("a3", "tsk_2"), journal.mark())
    journal.finish(settled("a1"))
    journal.begin(attempt("a4"), journal.mark())


def test_another_dashboard_that_lives_is_respected(path: Path, journal: Journal) -> None:
    other = Journal(path)
    other.begin(attempt("a1"), other.mark())
    with pytest.raises(InFlight, match="another dashboard on this machine is approving this task"):
        journal.begin(attempt("a2"), journal.mark())
    assert left_behind(journal, ORIGIN) == []
    other.close()
    assert [left.attempt for left in left_behind(journal, ORIGIN)] == ["a1"]
    with pytest.raises(Unsettled) as found:
        journal.begin(attempt("a2"), journal.mark())
    assert found.value.attempt.attempt == "a1"
    assert left_behind(journal, ORIGIN) == []


def test_a_read_older_than_somebodys_attempt_is_not_enough(path: Path, journal: Journal) -> None:
    mark = journal.mark()
    other = Journal(path)
    other.begin(attempt("a1"), other.mark())
    begun = journal.mark()
    other.finish(settled("a1"))
    other.close()
    for too_old in (mark, begun):
        with pytest.raises(Overtaken):
            journal.begin(attempt("a2"), too_old)
    journal.begin(attempt("a2"), journal.mark())


@settings(max_examples=30)
@given(cut=st.integers(min_value=1, max_value=600))
def test_a_torn_line_costs_only_itself(tmp_path_factory: pytest.TempPathFactory, cut: int) -> None:
    path = tmp_path_factory.mktemp("torn") / "journal.jsonl"
    first = Journal(path)
    first.begin(attempt("a1"), first.mark())
    first.finish(settled("a1"))
    size = path.stat().st_size
    first.begin(attempt("a2", "tsk_2"), first.mark())
    first.close()
    torn = max(size, path.stat().st_size - cut)
    os.truncate(path, torn)
    again = Journal(path)
    again.begin(attempt("a3", "tsk_3"), again.mark())
    again.close()
    read = [entry for line in path.read_bytes().split(b"\n") if (entry := from_line(line))]
    known = {entry.attempt for entry in read}
    assert {"a1", "a3"} <= known
    last = Journal(path)
    left = {entry.attempt for entry in left_behind(last, ORIGIN)}
    assert left == (known & {"a2"}) | {"a3"}
    last.close()


def test_noise_and_overlong_lines_are_stepped_over(path: Path, journal: Journal) -> None:
    path.parent.mkdir()
    path.write_bytes(
        b"\x00\xff garbage\n[1,2]\n{}\n"
        + b'{"kind":"outcome","attempt":"nobody","time":"","outcome":"x"}\n'
        + b'{"kind":"attempt","attempt":7}\n'
        + b"x" * (3 * LONGEST_LINE)
        + b"\n\n"
        + to_line(attempt("a1"))
    )
    assert [left.attempt for left in left_behind(journal, ORIGIN)] == ["a1"]
    journal.begin(attempt("a2", "tsk_2"), journal.mark())


def test_a_device_or_a_folder_is_no_journal_and_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "device").symlink_to("/dev/full")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    for name in ("device", "folder", "file/journal.jsonl"):
        journal = Journal(tmp_path / name)
        with pytest.raises(JournalError, match="nothing is sent"):
            journal.begin(attempt(), journal.mark())
        journal.close()


def test_a_writer_that_hangs_stops_us(
    path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = JournalFile(path)
    # private: the time to wait for a lock is no parameter.
    monkeypatch.setattr(Journal._locked.__wrapped__, "__defaults__", (0.02,))  # type: ignore[attr-defined]
    with file.locked(), pytest.raises(JournalError, match="see if it hangs"):
        journal.begin(attempt(), journal.mark())


def test_an_outcome_owed_is_written_at_the_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    idle, journal = Journal(path), Journal(path)
    idle.close()
    assert not path.parent.exists()
    begun = journal.begin(attempt(), journal.mark())
    assert journal.unfinished()[0] == [begun]
    # private: the time to wait for a lock is no parameter.
    monkeypatch.setattr(Journal._locked.__wrapped__, "__defaults__", (0.02,))  # type: ignore[attr-defined]
    with JournalFile(path).locked(), pytest.raises(JournalError, match="hangs"):
        journal.finish(settled())
    assert journal.unfinished()[0] == []
    assert [owed.attempt for owed in journal.unfinished()[1]] == ["a1"]
    assert len(entries(path)) == 1
    for _ in range(2):
        journal.close()
        assert [line["attempt"] for line in entries(path)] == ["a1", "a1"]
        assert journal.unfinished()[1] == []
    with pytest.raises(JournalError, match="closed here"):
        journal.begin(attempt("a2"), 0)


def test_what_is_noted_after_the_end_takes_nothing_up_again(path: Path, journal: Journal) -> None:
    begun = [
        journal.begin(attempt(f"a{number}", f"tsk_{number}"), journal.mark()) for number in range(2)
    ]
    journal.close()
    journal.finish(settled("a0"))
    assert journal.claim(begun) == []
    fresh = Journal(path)
    assert ids(fresh.follow(ORIGIN).left) == ["a1"]
    fresh.close()


def lose(path: Path, how: str) -> None:
    """What a person, a script or another program may do to the file."""
    match how:
        case "deleted":
            path.unlink()
        case "moved away":
            path.rename(path.with_name("old.jsonl"))
        case "cut short":
            os.truncate(path, 10)
        case "an older copy":
            path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
        case "written over":
            path.write_bytes(path.read_bytes().replace(b"approve", b"applaud"))
        case "another file":
            other = path.with_name("other")
            other.write_bytes(path.read_bytes())
            other.replace(path)
        case "a link":
            path.rename(path.with_name("old.jsonl"))
            path.symlink_to(path.with_name("old2.jsonl"))
            path.with_name("old2.jsonl").write_bytes(path.with_name("old.jsonl").read_bytes())
        case "a folder":
            path.unlink()
            path.mkdir()
        case "the whole folder":
            shutil.rmtree(path.parent)


@pytest.mark.parametrize(
    ("how", "told", "kept"),
    [
        ("deleted", "deleted", True),
        ("moved away", "moved away", True),
        ("cut short", "cut short", True),
        ("an older copy", "older copy", True),
        ("written over", "written over", True),
        ("another file", "replaced by another file", True),
        ("a link", "replaced by a link", False),
        ("a folder", "replaced by a folder", False),
        ("the whole folder", "deleted", True),
    ],
)
def test_a_file_that_was_meddled_with_stops_writes_and_forgets_nothing_in_flight(
    path: Path, journal: Journal, how: str, told: str, kept: bool
) -> None:
    journal.begin(attempt("a0", "tsk_0"), journal.mark())
    journal.finish(settled("a0"))
    journal.begin(attempt("a1"), journal.mark())
    mark = journal.mark()
    assert journal.follow(ORIGIN).trouble is None
    lose(path, how)
    with pytest.raises(InFlight, match="this dashboard is approving this task right now"):
        journal.begin(attempt("a2"), mark)
    for number in range(2):
        with pytest.raises(JournalError, match=rf"{told}.*nothing is sent.*start this dashboard"):
            journal.begin(attempt(f"b{number}", "tsk_2"), mark)
    following = journal.follow(ORIGIN)
    assert following.trouble is not None
    assert told in following.trouble
    assert ids(journal.unfinished()[0]) == ["a1"]
    assert ids(following.left) == (["a0"] if how == "an older copy" else [])
    assert following.elsewhere == []
    with pytest.raises(JournalError, match=told):
        journal.mark()
    fresh = Journal(path)
    if how == "written over":
        # The outcome is written all the same; who starts with such a file sends nothing.
        journal.finish(settled("a1"))
        assert entries(path)[-1]["attempt"] == "a1"
        with pytest.raises(JournalError, match=r"in or before line 1: nothing is sent"):
            fresh.mark()
    elif kept:
        # What is in flight was written into the file that is there now.
        with pytest.raises(InFlight, match="another dashboard"):
            fresh.begin(attempt("c1"), fresh.mark())
        journal.finish(settled("a1"))
        assert "a1" not in ids(fresh.follow(ORIGIN).elsewhere)
        earlier = fresh.earlier(ORIGIN, "approve", "tsk_1")
        assert earlier is not None
        assert earlier.settled is not None
        fresh.begin(attempt("c1"), fresh.mark())
    else:
        with pytest.raises(JournalError):
            journal.finish(settled("a1"))
        assert [owed.title for owed in journal.unfinished()[1]]
    fresh.close()


def test_an_idle_journal_that_was_deleted_makes_nothing_anew(path: Path, journal: Journal) -> None:
    journal.begin(attempt("a1"), journal.mark())
    journal.finish(settled("a1"))
    shutil.rmtree(path.parent)
    assert journal.follow(ORIGIN).trouble
    with pytest.raises(JournalError, match="deleted"):
        journal.begin(attempt("a2"), 0)
    assert not path.parent.exists()
    fresh = Journal(path)
    fresh.begin(attempt("a3"), fresh.mark())
    fresh.close()


def test_a_sign_of_life_that_was_deleted_is_given_again(path: Path, journal: Journal) -> None:
    journal.begin(attempt("a1"), journal.mark())
    shutil.rmtree(path.parent / "writers")
    assert journal.follow(ORIGIN).trouble is None
    other = Journal(path)
    with pytest.raises(InFlight):
        other.begin(attempt("a2"), other.mark())
    other.close()
    journal.finish(settled("a1"))
    assert left_behind(journal, ORIGIN) == []


NAMES = (
    "http://localhost:8000",
    "http://127.0.0.1:8000",
    "http://127.0.0.2:8000/",
    "http://[::1]:8000",
    "http://[0:0:0:0:0:0:0:1]:8000",
    "http://[::ffff:127.0.0.1]:8000",
    "HTTP://LOCALHOST.:8000",
    "http://0.0.0.0:8000",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_platform_is_one_under_all_its_names(path: Path, journal: Journal, name: str) -> None:
    journal.begin(attempt("a1", origin=NAMES[0], profile="one"), journal.mark())
    other = Journal(path)
    with pytest.raises(InFlight):
        other.begin(attempt("a2", origin=name, profile="two"), other.mark())
    assert ids(other.follow(name).elsewhere) == ["a1"]
    journal.close()
    assert [left.attempt for left in left_behind(other, name)] == ["a1"]
    other.close()


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("https://Platform.example", "https://platform.example:443/", True),
        ("https://platform.example.", "https://platform.example", True),
        ("https://bücher.example", "https://xn--bcher-kva.example", True),
        ("https://h.example/base/", "https://h.example/base", True),
        ("http://localhost:8001", NAMES[0], False),
        ("https://localhost:8000", NAMES[0], False),
        ("http://localhost:8000/base", NAMES[0], False),
        ("http://localhost.example:8000", NAMES[0], False),
        ("http://10.0.0.1:8000", NAMES[0], False),
    ],
)
def test_addresses_that_are_one_platform(one: str, two: str, same: bool) -> None:
    assert (platform_of(one) == platform_of(two)) is same


def test_hosts_at_one_address_send_once_and_read_for_each(path: Path, journal: Journal) -> None:
    def here(name: str) -> Attempt:
        addresses = ("192.0.2.7:443", "192.0.2.8:443")
        return attempt(name, origin="https://a.example", addresses=addresses)

    def there(name: str, *addresses: str) -> Attempt:
        return attempt(name, origin="https://b.example", profile="other", addresses=addresses)

    journal.begin(here("a1"), journal.mark())
    other = Journal(path)
    with pytest.raises(InFlight, match="another dashboard"):
        other.begin(there("a2", "192.0.2.7:443"), other.mark())
    journal.close()
    assert left_behind(other, "https://b.example") == []
    with pytest.raises(InFlight, match=r"tried at https://a\.example.*profile prod"):
        other.begin(there("a2", "192.0.2.7:443"), other.mark())
    with pytest.raises(Unsettled):
        other.begin(here("a3"), other.mark())
    other.begin(there("a4"), other.mark())
    other.close()


def test_addresses_of_a_host() -> None:
    assert addresses_of("http://localhost:8000") == ("localhost:8000",)
    assert addresses_of("http://192.0.2.7") == ("192.0.2.7:80",)
    assert addresses_of("https://[2001:db8::7]:1") == ("[2001:db8::7]:1",)
    assert addresses_of("https://nowhere.invalid") == ()


def test_a_host_that_resolves_to_this_machine_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    own = "127.0.1.1"
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.7", 9))
        own = probe.getsockname()[0]  # its address in the network, where it has one
    found = [(socket.AF_INET, 1, 6, "", (ip, 80)) for ip in ("127.0.1.1", own, "192.0.2.7")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert addresses_of("http://box.example") == ("192.0.2.7:80", "localhost:80")


def test_resolver_hangs(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    released = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: released.wait(20) and [])
    assert addresses_of("http://slow.example", patience=0.01) == ()
    released.set()
    assert "slow.example could not be resolved" in caplog.text


def test_what_was_left_behind_is_taken_up_by_one(path: Path, journal: Journal) -> None:
    for number in range(2):
        journal.begin(attempt(f"a{number}", f"tsk_{number}"), journal.mark())
    journal.close()
    one, two = Journal(path), Journal(path)
    left = left_behind(one, ORIGIN)
    assert left == left_behind(two, ORIGIN)
    assert [claimed.attempt for claimed in one.claim(left[:1])] == ["a0"]
    assert [claimed.attempt for claimed in two.claim(left)] == ["a1"]
    assert one.claim(left) == two.claim(left) == []
    following = one.follow(ORIGIN)
    assert (ids(one.unfinished()[0]), ids(following.elsewhere)) == (["a0"], ["a1"])
    with pytest.raises(InFlight, match="another dashboard"):
        one.begin(attempt("b1", "tsk_1"), one.mark())
    two.close()
    with pytest.raises(Unsettled) as found:
        one.begin(attempt("b1", "tsk_1"), one.mark())
    assert found.value.attempt.attempt == "a1"
    assert left_behind(one, ORIGIN) == []
    one.close()


def test_a_late_outcome_corrects_the_first(path: Path, journal: Journal) -> None:
    journal.begin(attempt("a1"), journal.mark())
    journal.finish(settled("a1", "not done"))
    other = Journal(path)
    assert other.follow(ORIGIN) == ([], [], None)
    journal.finish(settled("a1", "approved"))
    journal.finish(settled("a1", "approved"))
    assert [line.get("corrects") for line in entries(path)] == [None, None, "not done"]
    for one in (journal, other):
        one.follow(ORIGIN)
        earlier = one.earlier(ORIGIN, "approve", "tsk_1")
        assert earlier is not None
        assert earlier.settled is not None
        assert (earlier.settled.outcome, earlier.settled.corrects) == ("approved", "not done")
        assert one.latest(ORIGIN) == [earlier]
        assert one.latest("https://other.example") == []
    other.close()


def test_only_what_was_added_is_read(
    path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Journal(path)
    for number in range(20):
        other.begin(attempt(f"a{number}", f"t{number}"), other.mark())
    assert len(journal.follow(ORIGIN).elsewhere) == 20
    read: list[bytes] = []

    def taken(line: bytes) -> Attempt | Settled | None:
        read.append(line)
        return from_line(line)

    monkeypatch.setattr("agentco_tui.actions.journal_file.from_line", taken)
    journal.follow(ORIGIN)
    assert read == []
    other.finish(settled("a3"))
    read.clear()
    assert len(journal.follow(ORIGIN).elsewhere) == 19
    assert len(read) == 1
    with JournalFile(path).locked():
        journal.follow(ORIGIN)  # doesn't wait for a writer
    other.close()
    assert len(journal.follow(ORIGIN).left) == 19


def test_many_threads_and_journals_at_once_write_whole_lines(path: Path) -> None:
    journals = [Journal(path) for _ in range(4)]

    def work(number: int) -> None:
        journal = journals[number % 4]
        for turn in range(10):
            name = f"a{number}-{turn}"
            journal.begin(attempt(name, name), journal.mark())
            journal.finish(settled(name))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(entries(path)) == 160
    assert left_behind(journals[0], ORIGIN) == []
    for journal in journals:
        journal.close()


def test_what_killed_processes_left_is_tidied(path: Path, journal: Journal) -> None:
    program = (
        "import sys, os, signal; from pathlib import Path;"
        "from agentco_tui.actions.writer_lock import WriterLock;"
        "lock = WriterLock(Path(sys.argv[1])); lock.hold(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    writers = path.parent / "writers"
    subprocess.run([sys.executable, "-c", program, str(writers)], check=False)
    assert len(list(writers.iterdir())) == 1
    journal.begin(attempt(), journal.mark())
    [mine] = writers.iterdir()
    assert mine.name.startswith(f"{os.getpid()}-")
    journal.close()
    assert list(writers.iterdir()) == []


def test_many_lines_are_read_in_bounded_memory(path: Path, journal: Journal) -> None:
    path.parent.mkdir()
    with path.open("wb") as file:
        for number in range(REMEMBERED + 10):
            file.write(to_line(attempt(f"a{number}", f"tsk_{number}")))
            if number != 7:
                file.write(to_line(settled(f"a{number}")))
    assert [left.attempt for left in left_behind(journal, ORIGIN)] == ["a7"]
    # private: no public way shows how many attempts are kept in memory.
    assert len(journal._last) == REMEMBERED
    assert len(journal._open) == 1


def test_a_time_is_read_with_its_zone_else_as_utc() -> None:
    assert seconds_of("1970-01-01T02:00:00+02:00") == seconds_of("1970-01-01T00:00:00") == 0.0


@given(st.text(st.characters(codec=None, categories=None)), st.text())
def test_any_text_makes_one_ascii_line_and_comes_back(subject: str, title: str) -> None:
    line = to_line(attempt("a1", subject, title=title))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert all(0x20 <= byte < 0x7F for byte in line[:-1])
    read = from_line(line)
    assert isinstance(read, Attempt)
    assert read.subject == subject


def test_the_key_is_taken_out_of_texts(path: Path) -> None:
    journal = Journal(path, redact=lambda text: text.replace("ag_secret", "****"))
    journal.begin(attempt(title="use ag_secret"), journal.mark())
    journal.finish(
        Settled(attempt="a1", time=stamp(0), outcome="refused", words="bad key ag_secret")
    )
    journal.close()
    assert b"ag_secret" not in path.read_bytes()
    assert entries(path)[0]["title"] == "use ****"


def test_stamps() -> None:
    assert stamp(0.25) == "1970-01-01T00:00:00.250Z"
    assert seconds_of(stamp(1_700_000_000.5)) == 1_700_000_000.5
    assert seconds_of("1970-01-01T00:00:01") == 1
    assert seconds_of("soon") is None


# ---- the running digest


def journal_of_lines(path: Path, lines: int = 6) -> bytes:
    """The bytes of a journal that is whole."""
    journal = Journal(path)
    for number in range(lines // 2):
        journal.begin(attempt(f"a{number}", f"tsk_{number}"), journal.mark())
        journal.finish(settled(f"a{number}"))
    journal.close()
    return path.read_bytes()


def is_seen(path: Path) -> bool:
    """Whether a process that starts now sees that the journal was changed, and sends nothing."""
    with path.open("rb") as file:
        shown = find_damage(file) is not None
    journal = Journal(path)
    told = ""
    name = f"new{path.stat().st_size}"
    try:
        journal.begin(attempt(name, name), journal.mark())
        journal.finish(settled(name))
    except JournalError as error:
        told = error.sentence
    journal.close()
    assert bool(told) is shown
    if shown:
        assert "was changed by something else" in told
        assert "move it out of the way" in told
    return shown


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_whatever_is_changed_in_a_journal_is_seen(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("changed") / "journal.jsonl"
    whole = journal_of_lines(path)
    at = data.draw(st.integers(0, len(whole) - 1), label="at")
    how = data.draw(st.sampled_from(["flipped", "removed", "inserted", "line twice"]), label="how")
    match how:
        case "flipped":
            byte = data.draw(st.integers(1, 255), label="byte")
            changed = whole[:at] + bytes([whole[at] ^ byte]) + whole[at + 1 :]
        case "removed":
            changed = whole[:at] + whole[at + data.draw(st.integers(1, 900), label="bytes") :]
        case "inserted":
            changed = whole[:at] + data.draw(st.binary(min_size=1, max_size=80)) + whole[at:]
        case _:
            lines = whole.splitlines(keepends=True)
            number = at % len(lines)
            changed = b"".join([*lines[:number], lines[number], *lines[number:]])
    path.write_bytes(changed)
    # That a file ends early, and that something without a digest follows, looks like what a process
    # leaves that died, or what an older version writes.
    ends_early = whole.startswith(changed)
    goes_on = changed.startswith(whole)
    has_to_be_seen = not ends_early and not goes_on
    if has_to_be_seen or how == "line twice":
        assert is_seen(path)


@pytest.mark.parametrize("kept", range(1, 70))
def test_a_line_torn_in_its_digest_is_ended_and_covered(path: Path, kept: int) -> None:
    """What a process leaves that dies while it writes is no damage, now and later."""
    whole = journal_of_lines(path)
    path.write_bytes(whole[:-kept])
    for _ in range(2):
        assert not is_seen(path)


@pytest.mark.parametrize("number", range(6))
def test_a_line_taken_out_is_seen_but_for_the_last(path: Path, number: int) -> None:
    lines = journal_of_lines(path).splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
    assert is_seen(path) is (number < 5)


def test_lines_of_older_versions_are_covered_by_the_next_digest(path: Path) -> None:
    path.parent.mkdir()
    older = to_line(attempt("o1", "tsk_o")) + to_line(settled("o1"))
    path.write_bytes(b"noise of long ago\n" + older)
    assert not is_seen(path)
    with path.open("ab") as file:
        file.write(to_line(attempt("o2", "tsk_p")) + to_line(settled("o2")))
    assert not is_seen(path)
    journal = Journal(path)
    journal.begin(attempt("a9", "tsk_9"), journal.mark())
    journal.close()
    whole = path.read_bytes()
    for place in (b"noise", b'"o1"', b'"o2"'):
        path.write_bytes(whole.replace(place, place.swapcase(), 1))
        assert is_seen(path)


def test_what_was_changed_before_the_end_is_seen_by_who_has_it_open(
    path: Path, journal: Journal
) -> None:
    for number in range(4):
        journal.begin(attempt(f"a{number}", f"tsk_{number}"), journal.mark())
        journal.finish(settled(f"a{number}"))
    whole = path.read_bytes()
    at = whole.index(b"tsk_0")
    assert len(whole) - at > 2_000, "farther from the end than what is compared each time"
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"tsk_X")
    with pytest.raises(JournalError, match="was written over while this dashboard was open"):
        journal.begin(attempt("b1", "tsk_9"), journal.mark())
    trouble = journal.follow(ORIGIN).trouble
    assert trouble is not None
    assert "nothing is sent" in trouble


def test_processes_that_append_in_turn_agree_on_the_digest(path: Path) -> None:
    journals = [Journal(path) for _ in range(3)]
    for number in range(9):
        journal = journals[number % 3]
        journal.begin(attempt(f"a{number}", f"tsk_{number}"), journal.mark())
        journals[(number + 1) % 3].follow(ORIGIN)
        journal.finish(settled(f"a{number}"))
    for journal in journals:
        journal.close()
    assert not is_seen(path)
    assert all(line["sealed"] is True and line["digest"] for line in entries(path))
