"""A kernel of the cache runs in virtual time: what it gives, and what becomes of a broken one.

Needs QEMU and a kernel; skipped, with what is missing, where they are not there.
"""

import json
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from airtcp import net
from airtcp._core import AirtcpError
from airtcp.emulation import parsed
from airtcp.kernels import Guest, Kernel, KernelError, known
from airtcp.kernels.brought import brought, programs_in
from airtcp.kernels.machine import QEMU, Machine
from airtcp.kernels.protocol import Job

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = {"/s.toml": (ROOT / "scenarios" / "lossy-pipe.toml").read_bytes()}
SHORT = ("", "measure", "/s.toml", "--set", "duration=1 s", "--set", "link.loss.rate=0.02")


@pytest.fixture
def kernel() -> Kernel:
    """The first kernel of the cache."""
    if shutil.which(QEMU) is None:
        pytest.skip(f"{QEMU} is not installed")
    found = known()
    if not found:
        pytest.skip("no kernel: `airtcp kernels add debian:6.1`")
    try:
        net.find_program()
    except AirtcpError:
        pytest.skip("airtcp-net is not built")
    return found[0]


def test_a_run_is_the_same_each_time_and_never_late(kernel: Kernel) -> None:
    guest = Guest.of(kernel)
    first, second = (guest.run([Job(SHORT)], SCENARIO)[0] for _ in range(2))
    assert first.status == 0, first.err
    assert first.out == second.out
    found = json.loads(first.out)
    assert found["kernel"] == kernel.release
    assert found["in_time"]
    assert found["late_share"] == 0
    # What the link does, and what the sender believes of it.
    assert found["min_rtt_ms"] == pytest.approx(50, abs=1.5)
    assert found["sender_min_rtt_ms"] == pytest.approx(50, abs=1.5)


def test_a_recording_comes_out_of_the_guest(kernel: Kernel) -> None:
    job = Job((*SHORT, "--record", "/out"), "/out")
    (done,) = Guest.of(kernel).run([job], SCENARIO)
    assert done.files["packets.parquet"][:4] == b"PAR1"
    assert json.loads(done.files["summary.json"])["kernel"] == kernel.release


def test_programs_of_this_machine_run_over_the_link(kernel: Kernel) -> None:
    guest = Guest.of(kernel, brought(programs_in(["cat"])))
    job = Job(("", "emulate", "/s.toml", "--quiet", "--", "sh", "-c", "cat /proc/version; exit 3"))
    (done,) = guest.run([job], SCENARIO)
    assert kernel.release in done.out
    assert done.status == 3


def test_a_bad_request_is_the_guests_own_error(kernel: Kernel) -> None:
    (done,) = Guest.of(kernel).run([Job((*SHORT, "--remedy", "fack"))], SCENARIO)
    assert done.status == 2
    assert "4.15" in done.err


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


def test_programs_are_found_in_the_words_of_a_command() -> None:
    assert set(programs_in(["sh -c 'cat $X | no-such-program'"])) == {"sh", "cat"}
    paths = {entry.path for entry in brought(["cat"])}
    assert {"bin/sh", "bin/cat"} <= paths
    with pytest.raises(KernelError, match="--bring no-such-program"):
        brought(["no-such-program"])


def test_the_tables_of_the_page_are_those_of_the_data() -> None:
    writer = runpy.run_path(str(ROOT / "docs" / "write_kernels.py"))
    page = (ROOT / "docs" / "kernels.md").read_text("utf-8")
    data, machine = (
        json.loads((ROOT / "docs" / name).read_text("utf-8"))
        for name in ("kernels.json", "real.json")
    )
    assert writer["written"](page, data, machine) == page
    for one in data["kernels"].values():
        assert one["repetitions"]["results"] == 1, "a kernel in virtual time is the same each time"
