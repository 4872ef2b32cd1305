"""A kernel of the cache runs in virtual time: its results, and the handling of a broken one.

Needs QEMU and a kernel; without them it is skipped, with the missing part named.
"""

import contextlib
import json
import runpy
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import needs
from airtcp._core import AirtcpError, ScenarioError
from airtcp.core.catalogue import remedies
from airtcp.core.loading import load_scenario
from airtcp.kernel import emulate as emulation
from airtcp.kernel.emulate import parsed
from airtcp.kernel.guests import Guest, Kernel, KernelError
from airtcp.kernel.guests.brought import brought, programs_in
from airtcp.kernel.guests.machine import Machine
from airtcp.kernel.guests.protocol import Done, Job
from airtcp.kernel.in_guest import guest_observation, scenario_files
from airtcp.kernel.parting import parting
from airtcp.kernel.runs import KernelRun, settings_of

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = {"/s.toml": (ROOT / "scenarios" / "lossy-pipe.toml").read_bytes()}
SHORT = ("", "measure", "/s.toml", "--set", "duration=1 s", "--set", "link.loss.rate=0.02")


IN_A_GUEST = pytest.mark.needs("qemu-system-x86_64", "kernels")
BPF = pytest.mark.needs("bpf")


@pytest.fixture
def kernel() -> Kernel:
    """A kernel of the cache; tests that use it are marked `IN_A_GUEST`."""
    found = needs.kernel()
    assert found
    return found


@IN_A_GUEST
def test_a_run_is_the_same_each_time_and_never_late(kernel: Kernel) -> None:
    guest = Guest.of(kernel)
    first, second = (guest.run([Job(SHORT)], SCENARIO)[0] for _ in range(2))
    assert first.status == 0, first.err
    assert first.out == second.out
    found = json.loads(first.out)
    assert found["kernel"] == kernel.release
    assert found["in_time"]
    assert found["late_share"] == 0
    # The link's round trip, and the sender's estimate of it.
    assert found["min_rtt_ms"] == pytest.approx(50, abs=1.5)
    assert found["sender_min_rtt_ms"] == pytest.approx(50, abs=1.5)


@IN_A_GUEST
def test_nothing_of_this_machine_moves_the_guests_clock(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """QEMU's main thread, woken at any time, once advanced the clock by time not yet counted."""
    await_end = Machine.await_end

    def disturbed(machine: Machine) -> None:
        ended = threading.Event()

        def disturb() -> None:
            with contextlib.suppress(OSError):
                while not ended.wait(0.0002):
                    machine._monitor.sendall(b'{"execute": "query-status"}\n')

        with ThreadPoolExecutor() as pool:
            pool.submit(disturb)
            try:
                await_end(machine)
            finally:
                ended.set()
                # QEMU reads no commands while its answers are not read.
                machine.kill()

    guest = Guest.of(kernel)
    (quiet,) = guest.run([Job(SHORT)], SCENARIO)
    monkeypatch.setattr(Machine, "await_end", disturbed)
    for _ in range(3):
        assert guest.run([Job(SHORT)], SCENARIO)[0].out == quiet.out


@pytest.mark.long
@IN_A_GUEST
def test_another_boot_of_a_kernel_gives_the_same(kernel: Kernel, tmp_path: Path) -> None:
    """A separate cache, as another user or machine has: it shares nothing with the first boot."""
    copy = tmp_path / "copy"
    shutil.copytree(kernel.folder, copy, ignore=shutil.ignore_patterns("booted-*", ".boot-*"))
    guests = [Guest.of(kernel), Guest.of(replace(kernel, folder=copy))]
    assert guests[0].digest == guests[1].digest
    first, second = (guest.run([Job(SHORT)], SCENARIO)[0].out for guest in guests)
    assert first == second


@IN_A_GUEST
def test_a_run_does_not_depend_on_where_its_scenario_stands(kernel: Kernel, tmp_path: Path) -> None:
    (there := tmp_path / "a/longer/path").mkdir(parents=True)
    text = (ROOT / "scenarios" / "lossy-pipe.toml").read_text()
    runs = []
    for folder in (tmp_path / "a", there):
        (folder / "x.toml").write_text(text)
        run = KernelRun(str(folder / "x.toml"), settings_of({"duration": "1 s"}), "")
        runs.append(
            guest_observation(run, Guest.of(kernel)).run(load_scenario(folder / "x.toml"), 1)
        )
    assert runs[0] == runs[1]


def test_what_a_setting_names_from_the_current_folder_does_so_in_the_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("here", "scenarios", "logs"):
        (tmp_path / folder).mkdir()
    for name in ("scenarios/x.toml", "here/own.ping", "logs/up.ping"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path / "here")
    files = scenario_files(
        Path("../scenarios/x.toml").absolute(),
        ['link.rtt_log.path="own.ping"', "link.rtt_log.path=../logs/up.ping", "none.ping"],
    )
    # The guest's program is in /, which is its own parent, too.
    assert {"/own.ping", "/logs/up.ping"} <= set(files)
    assert not any("none" in name for name in files)


def test_two_recordings_that_would_be_one_in_the_guest_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    for name in ("x.toml", "here/a.ping", "a.ping"):
        (tmp_path / name).write_text("")
    (tmp_path / "a.ping").write_text("another")
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ScenarioError, match="name it by its full path"):
        scenario_files(tmp_path / "x.toml", ["a.ping", "../a.ping"])


@IN_A_GUEST
def test_a_recorded_link_runs_in_a_guest(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    settings = {"link.rtt_log.path": "recordings/cellular-slow.ping", "duration": "1 s"}
    settings |= {"tcp.max_window": "unlimited"}
    run = KernelRun("scenarios/ping.toml", settings_of(settings), "")
    scenario = load_scenario(ROOT / "scenarios/ping.toml", settings)
    found = guest_observation(run, Guest.of(kernel)).run(scenario, 1)
    assert json.loads(found)["goodput_bps"] > 0


def test_what_a_scenario_names_stands_beside_it_in_the_guest(tmp_path: Path) -> None:
    (scenarios := tmp_path / "scenarios").mkdir()
    (tmp_path / "traces").mkdir()
    for name in ("scenarios/x.toml", "scenarios/near.txt", "traces/far.txt"):
        (tmp_path / name).write_text("")
    (scenarios / "x.toml").write_text('a = "near.txt"\nb = ["../traces/far.txt", "nothing"]')
    absolute = str(tmp_path / "traces/far.txt")
    files = scenario_files(scenarios / "x.toml", [absolute])
    assert set(files) == {
        "/airtcp/scenario/x.toml",
        "/airtcp/scenario/near.txt",
        "/airtcp/traces/far.txt",
        absolute,
    }


@IN_A_GUEST
def test_a_recording_comes_out_of_the_guest(kernel: Kernel) -> None:
    job = Job((*SHORT, "--record", "/out"), "/out")
    (done,) = Guest.of(kernel).run([job], SCENARIO)
    header, *rows = done.files["packets.csv"].splitlines()
    assert header.startswith(b"packet,flow,number,")
    assert rows
    assert json.loads(done.files["summary.json"])["kernel"] == kernel.release


@IN_A_GUEST
def test_programs_of_this_machine_run_over_the_link(kernel: Kernel) -> None:
    guest = Guest.of(kernel, brought(programs_in(["cat"])))
    job = Job(("", "emulate", "/s.toml", "--quiet", "--", "sh", "-c", "cat /proc/version; exit 3"))
    (done,) = guest.run([job], SCENARIO)
    assert kernel.release in done.out
    assert done.status == 3


def _measured(guest: Guest, *words: str) -> dict[str, Any]:
    (done,) = guest.run([Job((*SHORT, *words))], SCENARIO)
    assert done.status == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.long
@IN_A_GUEST
@BPF
def test_every_remedy_is_applied_in_a_guest_or_refused_by_name(kernel: Kernel) -> None:
    names = [one["name"] for one in remedies() if one["place"] in {"sender", "receiver"}]
    command: tuple[str, ...] = (
        *SHORT,
        "--check",
        "--deviation",
        "5",
        "--set",
        "link.stops.every=9 s",
    )
    command += ("--set", "link.stops.length=1 s", "--remedy")
    done = dict(
        zip(
            names,
            Guest.of(kernel).run([Job((*command, name)) for name in names], SCENARIO),
            strict=True,
        )
    )
    refused = {name for name, one in done.items() if one.status != 0}
    for name in refused:
        assert done[name].status == 2
        idle = f'"{name}" would change nothing here: ' in done[name].err
        assert idle or f'remedy "{name}": this kernel has no way to it. ' in done[name].err
    # Optional features of this machine's kernel: modules, disciplines, module parameters, BPF.
    assert refused.isdisjoint({"westwood", "veno", "bbr", "pacing", "hystart", "newzag", "coin"})
    assert json.loads(done["pacing"].out)["discipline"] == "fq"
    assert {"fack", "tahoe", "oracle"} <= refused


@IN_A_GUEST
@pytest.mark.parametrize(
    "remedy",
    ["veno", *(pytest.param(one, marks=BPF) for one in ("newzag", "coin")), "pacing", "hystart"],
)
def test_a_remedy_runs_in_a_guest(kernel: Kernel, remedy: str) -> None:
    found = _measured(Guest.of(kernel), "--remedy", remedy)
    assert found["steps"]
    assert found["goodput_bps"] > 1e6
    if remedy == "newzag":
        counted = sum(row["radio"] + row["congestion"] for row in found["verdicts"])
        assert counted > 0, "losses were classified by the program"


@IN_A_GUEST
@pytest.mark.parametrize("control", ["vegas", "illinois", "dctcp"])
def test_a_guest_has_the_congestion_controls_of_modules(kernel: Kernel, control: str) -> None:
    assert control in kernel.can.congestion_controls
    guest = Guest.of(kernel, brought(["cat"]))
    available = "/proc/sys/net/ipv4/tcp_available_congestion_control"
    (done,) = guest.run([Job(("/bin/cat", available))])
    assert control in done.out.split()


# Reno over 10 Mbit/s and 50 ms fills the queue of a discipline.
FULL = ("--set", "link.loss.rate=0", "--set", "tcp.profile=linux-reno", "--set", "duration=2 s")


@IN_A_GUEST
def test_a_kernels_discipline_is_the_queue_before_the_link(kernel: Kernel) -> None:
    guest = Guest.of(kernel)
    (short, managed) = (
        _measured(guest, *FULL, "--discipline", words) for words in ("pfifo limit 20", "cake")
    )
    own = _measured(guest, *FULL, "--set", "link.queue.packets=20")
    assert short["discipline"] == "pfifo limit 20 at 10 Mbit/s"
    assert "discipline" not in own
    # The same queue, by the kernel and by airtcp: it fills and drops, since nothing holds the
    # sender back as its own discipline would.
    assert own["retransmissions"] > 0
    assert short["retransmissions"] > 0
    assert abs(short["goodput_bps"] / own["goodput_bps"] - 1) < 0.1
    assert managed["goodput_bps"] > 0.5 * own["goodput_bps"]
    assert managed["srtt_ms"] < short["srtt_ms"]


@IN_A_GUEST
def test_the_first_difference_is_of_the_kernels_own_discipline(kernel: Kernel) -> None:
    """A queue of three packets drops of the ten that a sender begins with; the link's does not."""
    settings = {"duration": "1 s", "link.loss.rate": 0}
    guest = Guest.of(kernel)
    source = ROOT / "scenarios" / "lossy-pipe.toml"

    def retransmitted(discipline: str) -> list[int]:
        (found,) = parting(source, "", 1, settings, guest, discipline=discipline)
        sent = [one.offset for one in found.kernel if one.is_out and one.size]
        return [offset for place, offset in enumerate(sent) if place and offset < max(sent[:place])]

    assert retransmitted("") == []
    assert retransmitted("pfifo limit 3")[0] < 10 * 1460


@IN_A_GUEST
def test_a_discipline_needs_a_link_with_a_rate(kernel: Kernel) -> None:
    command: tuple[str, ...] = (*SHORT, "--check", "--discipline")
    jobs = [
        Job((*command, "cake", "--set", "link.stops.every=9 s")),
        Job((*command, "htb")),
        Job((*command, "fq", "--remedy", "pacing")),
    ]
    stopped, unknown, twice = Guest.of(kernel).run(jobs, SCENARIO)
    assert "constant rate" in stopped.err or "stops" in stopped.err
    assert "fq_codel" in unknown.err
    assert "leave one of them out" in twice.err


@IN_A_GUEST
def test_a_bad_request_is_the_guests_own_error(kernel: Kernel) -> None:
    (done,) = Guest.of(kernel).run([Job((*SHORT, "--remedy", "fack"))], SCENARIO)
    assert done.status == 2
    assert "4.15" in done.err


@pytest.mark.long
@IN_A_GUEST
def test_a_panic_is_an_error_with_the_last_lines(kernel: Kernel, tmp_path: Path) -> None:
    folder = tmp_path / "kernel"
    shutil.copytree(kernel.folder, folder, ignore=shutil.ignore_patterns("booted-*"))
    (folder / "modules" / "tun.ko").write_bytes(b"no module")
    broken = Guest.of(replace(kernel, folder=folder))
    with pytest.raises(KernelError, match=r"cannot load /airtcp/modules/tun\.ko"):
        broken.run([Job(SHORT)], SCENARIO)
    # A first process that cannot even be started.
    mute = replace(Guest.of(replace(kernel, folder=folder)), program="/bin/false")
    with pytest.raises(KernelError, match="panic"):
        mute.run([Job(SHORT)], SCENARIO)
    assert not list(folder.glob("booted-*"))


@IN_A_GUEST
def test_an_image_that_is_none_is_an_error(kernel: Kernel, tmp_path: Path) -> None:
    image = tmp_path / "image"
    image.write_bytes(b"no kernel at all")

    def run() -> None:
        with Machine(["-kernel", str(image)], tmp_path / "console") as machine:
            machine.await_end()

    with pytest.raises(KernelError, match=r"QEMU (has )?ended"):
        run()


def test_the_words_of_an_emulation_are_told_apart() -> None:
    words = "f.toml|--kernel|6.1|--set=a=1|--server|nc -l|--record|out|--bring|x|-q|--|sh|-c|true"
    asked = parsed([*words.split("|"), "--kernel"])
    assert (asked.kernel, asked.scenario, asked.record) == ("6.1", "f.toml", Path("out"))
    assert asked.bring == ["x"]
    assert asked.server == "nc -l"
    assert asked.options == ["--set", "a=1", "--server", "nc -l", "-q"]
    assert asked.command == ["sh", "-c", "true", "--kernel"]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--kernel", "6.1", "--", "true"], "expected a scenario"),
        (["f", "--kernel"], "--kernel needs a value"),
        (["f", "--kernel", "6.1"], "expected a command"),
        (["f", "g", "--", "true"], "second scenario"),
    ],
)
def test_what_is_missing_in_an_emulation_is_said(words: list[str], error: str) -> None:
    with pytest.raises(AirtcpError, match=error):
        parsed(words)


def test_a_recording_that_a_guest_cannot_hold_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    full = "airtcp-net: --record: cannot write: No space left on device (os error 28)"

    class Full:
        def run(self, jobs: object, files: object) -> list[Done]:
            return [Done(1, "", full)]

    monkeypatch.setattr(emulation, "the_kernel", lambda name: name)
    monkeypatch.setattr(emulation.Guest, "of", lambda kernel, files: Full())
    asked = parsed(["lossy-pipe", "--kernel", "6.12", "--record", str(tmp_path), "--", "true"])
    with pytest.raises(KernelError, match=r"in its memory of 512 MiB.*command shorter"):
        emulation.emulate(asked)


def test_programs_are_found_in_the_words_of_a_command() -> None:
    assert set(programs_in(["sh -c 'cat $X | no-such-program'"])) == {"sh", "cat"}
    paths = {entry.path for entry in brought(["cat"])}
    assert {"bin/sh", "bin/cat"} <= paths
    with pytest.raises(KernelError, match="--bring no-such-program"):
        brought(["no-such-program"])


def test_the_tables_of_the_page_are_those_of_the_data() -> None:
    writer = runpy.run_path(str(ROOT / "pages" / "write_kernels.py"))
    page, kept = (
        (ROOT / "docs" / "measurements" / name).read_text("utf-8")
        for name in ("kernels.md", "kernels.json")
    )
    data = json.loads(kept)
    assert writer["written"](page, data) == page
    for one in data["kernels"].values():
        assert one["repetitions"]["results"] == 1, "a kernel in virtual time is the same each time"
