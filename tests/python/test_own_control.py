"""A congestion control of one's own in every command: the object that is simulated is deployed."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import airtcp
import needs
from airtcp import ScenarioError
from airtcp.comparison.deployment import commands
from airtcp.core.bpf import remedy, with_objects
from airtcp.core.compiled import object_file
from airtcp.kernel.guests import Kernel
from airtcp.kernel.verify import verify
from airtcp.tuning import tune

pytestmark = pytest.mark.needs("clang")

BPF = Path(__file__).resolve().parents[2] / "bpf"
CUBIC = BPF / "examples/cubic.bpf.c"
PACED = BPF / "examples/paced.bpf.c"
LINK = "lossy-pipe"
LINK_FILE = BPF.parent / "scenarios/lossy-pipe.toml"

IN_A_GUEST = pytest.mark.needs("bpf", "qemu-system-x86_64", "kernels")


def command(*words: object) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "airtcp", *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False)


def programs() -> list[Kernel]:
    """The kernels of the cache that take congestion controls in BPF, oldest first."""
    return sorted(needs.kernels_with_bpf(), key=lambda kernel: kernel.release)


def test_a_command_line_has_the_object_as_a_remedy(tmp_path: Path) -> None:
    named = remedy(CUBIC)
    assert with_objects(["deploy", "--bpf", str(CUBIC), "--all"], []) == ["deploy", named, "--all"]
    words = ["emulate", f"--bpf={CUBIC}:beta_thousandths=800", "--", "x", "--bpf", "y"]
    assert with_objects(words, ["--remedy"]) == [
        "emulate",
        "--remedy",
        f"{named}:beta_thousandths=800",
        *words[2:],
    ]
    # One command deploys what a combination has for connections, in any order.
    for words in (["sack", f"--bpf={CUBIC}"], ["--bpf", str(CUBIC), "sack"]):
        joined = with_objects(["deploy", "--route", "10.0.0.0/8", *words], [])
        assert joined[:3] == ["deploy", "--route", "10.0.0.0/8"]
        assert sorted(joined[3].split("+")) == sorted(["sack", named])
        assert len(joined) == 4
    with pytest.raises(ScenarioError, match="expected a file"):
        with_objects(["deploy", "--bpf"], [])
    with pytest.raises(ScenarioError, match="cannot be read"):
        with_objects(["deploy", "--bpf", str(tmp_path / "none.bpf.c")], [])


def test_a_study_has_it_on_every_link(tmp_path: Path) -> None:
    study = tmp_path / "two.toml"
    study.write_text(
        'name = "two"\nseeds = 1\nremedies = ["westwood"]\n'
        '[[stack]]\nname = "Linux"\n'
        + "".join(
            f'[[link]]\nname = "{loss}"\nscenario = "{LINK}"\n'
            f'settings = {{ duration = "2 s", "link.loss.rate" = {loss} }}\n'
            for loss in (0.0, 0.02)
        )
    )
    result = airtcp.study.run(study, bpf=CUBIC)
    assert [entry.remedy for entry in result.entries] == 2 * ["westwood", remedy(CUBIC)]
    assert all(entry.goodput_bps for entry in result.entries), result.entries
    shown = command("study", study, "--bpf", CUBIC)
    assert "bpf:cubic" in shown.stdout, shown.stderr


def test_tuning_searches_its_constants() -> None:
    settings: dict[str, object] = {"duration": "3 s", "link.loss.rate": 0.01}
    tuned = tune(
        LINK,
        ["sack"],
        settings,
        bpf=PACED,
        can="server",
        max_cpu_s=60,
        max_seeds=2,
        harmful=True,
    )
    names = tuned.comparison.remedies
    assert any(name.startswith(f"{remedy(PACED)}:gain_tenths=") for name in names), names


def test_its_deployment_names_the_object_and_the_constants() -> None:
    (one,) = airtcp.core.catalogue.deployments(f"{remedy(CUBIC)}:c_thousandths=500")
    assert one["on_a_host"]
    assert f"airtcp-net control {object_file(CUBIC)} --set beta_thousandths=700" in one["text"]
    assert "--set c_thousandths=500" in one["text"]


def test_the_commands_for_a_combination_are_those_that_deploy_it() -> None:
    own = f"{remedy(CUBIC)}:beta_thousandths=800"
    (one,) = commands(f"timestamps:on=0+{own}")[1:]
    assert one.where == "on the sender"
    assert one.words == f"airtcp deploy --bpf {CUBIC}:beta_thousandths=800 --all"
    both = commands(f"cake:rate=9500+min-rto:min=1 s+{own}")
    assert [each.words for each in both] == [
        "airtcp deploy cake:rate=9500 --device DEVICE",
        f"airtcp deploy 'min-rto:min=1 s' --bpf {CUBIC}:beta_thousandths=800 --all",
    ]
    assert commands(f"delay-injection+{own}") == []
    for each in both:
        words = shlex.split(each.words.replace("DEVICE", "lo"))
        done = command(*words[1:], "--dry-run")
        # What this machine lacks may be refused, and not the command line.
        assert done.returncode == 0 or "no way to have it for" in done.stderr, done.stderr


@pytest.mark.needs("bpf")
def test_a_deployment_is_planned() -> None:
    done = command("deploy", "--bpf", f"{CUBIC}:beta_thousandths=800", "--all", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "BPF congestion control example_cubic" in done.stdout
    assert "beta_thousandths=800" in done.stdout
    assert "tcp_congestion_control=example_cubic" in done.stdout


@IN_A_GUEST
def test_kernels_run_the_very_object() -> None:
    """Its goodput on each kernel in virtual time is that of the simulation."""
    assert programs()
    for kernel in programs():
        settings: dict[str, object] = {"duration": "4 s", "link.loss.rate": 0.005}
        found = verify(LINK, [], 1, settings, kernel=kernel.name, bpf=CUBIC)
        (run,) = found.measured[remedy(CUBIC)]
        assert run["congestion_control"].startswith("example_"), run
        simulated = found.simulated.values(remedy(CUBIC), "goodput_bps")[0]
        assert run["goodput_bps"] == pytest.approx(simulated, rel=0.15), kernel.name


@IN_A_GUEST
def test_the_first_difference_is_named() -> None:
    kernel = programs()[-1].name
    words = ["--set", "duration=1 s", "--kernel", kernel, "--first-difference"]
    done = command("verify", BPF.parent / "scenarios/lossy-pipe.toml", "--bpf", CUBIC, *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"bpf:cubic, seed 1, flow 0, kernel {kernel}:"), done.stdout


@IN_A_GUEST
def test_what_the_kernels_verifier_refuses_is_told(tmp_path: Path) -> None:
    """Which state comes, the verifier does not know: for it, the place may lie outside."""
    source = tmp_path / "outside.bpf.c"
    text = CUBIC.read_text()
    start = text.index('SEC("struct_ops")')
    text = f"{text[:start]}__u64 seen[5];\n\n{text[start:]}"
    source.write_text(
        text.replace("if (state != TCP_CA_Loss)", "seen[state]++;\n\tif (state != TCP_CA_Loss)", 1)
    )
    out = tmp_path / "out"
    words = ["--kernel", programs()[-1].name, "--seeds", "1", "--out", out]
    done = command("verify", LINK, "--bpf", source, *words)
    assert done.returncode != 0, done.stdout
    assert "the kernel refuses example_cubic.bpf.o: cubic_set_state" in done.stderr, done.stderr
    assert "outside.bpf.c" in done.stderr, done.stderr
    assert "the verifier has to see the bound of an index" in done.stderr, done.stderr
    assert not list(out.glob("cells/*")), "nothing is simulated or measured before"


@IN_A_GUEST
def test_the_oldest_kernel_takes_the_learned_control() -> None:
    settings: dict[str, object] = {"duration": "2 s", "link.loss.rate": 0.01}
    learned = BPF / "examples/learned.bpf.c"
    found = verify(LINK, [], 1, settings, kernel=programs()[0].name, bpf=learned)
    (run,) = found.measured[remedy(learned)]
    simulated = found.simulated.values(remedy(learned), "goodput_bps")[0]
    assert run["goodput_bps"] == pytest.approx(simulated, rel=0.2)


@pytest.mark.needs("bpf", "namespaces", "root", "tun")
def test_programs_over_an_emulated_link_use_it() -> None:
    """A server without a command of its own: what a client's socket has is the namespace's."""
    settled = "import socket; s = socket.socket(); print(s.getsockopt(6, 13, 16).rstrip(bytes(1)))"
    python = ["--server", "true", "--", sys.executable, "-c", settled]
    done = command("emulate", LINK_FILE, "--quiet", "--bpf", BPF / "coin.bpf.c", *python)
    if "root of the machine" in done.stderr or "needs struct_ops" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    # Its name has the process: several links may be emulated at once.
    assert done.stdout.startswith("b'coin_"), done.stdout
    refused = command("emulate", LINK_FILE, "--bpf", CUBIC, "--server", "true", "--", "true")
    assert refused.returncode != 0
    assert "TCP_CONG_NON_RESTRICTED" in refused.stderr


@IN_A_GUEST
def test_programs_over_a_link_in_a_guest_use_it() -> None:
    default = ["--", "cat", "/proc/sys/net/ipv4/tcp_congestion_control"]
    words = ["--kernel", programs()[-1].name, "--bpf", BPF / "coin.bpf.c", "--server", "true"]
    done = command("emulate", LINK_FILE, *words, *default)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("coin_"), done.stdout


@pytest.mark.needs("namespaces", "tun")
def test_an_emulated_link_tells_which_remedies_it_lacks() -> None:
    done = command("emulate", LINK_FILE, "--remedy", "veno", "--server", "true", "--", "true")
    assert done.returncode == 0, done.stderr
    assert "veno: acts in the sender's TCP" in done.stderr


def test_python_and_command_line_agree(tmp_path: Path) -> None:
    settings = {"duration": "2 s"}
    run = airtcp.run(LINK, 1, settings, bpf=CUBIC)
    done = command("run", LINK, "--set", "duration=2 s", "--bpf", CUBIC, "--json")
    assert json.loads(done.stdout)["digest"] == run.summary["digest"]
