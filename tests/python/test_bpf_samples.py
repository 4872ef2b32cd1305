"""Small controls that the kernel takes or refuses: airtcp, this machine's kernel, and guests agree.

The samples are in tests/bpf_samples.toml. Nothing stays loaded: `airtcp-net control` registers a
control while a command runs.
"""

import platform
import subprocess
import tomllib
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest

import needs
from airtcp import ScenarioError
from airtcp.core.bpf import remedy
from airtcp.core.compiled import object_file
from airtcp.core.net import find_program
from airtcp.kernel.guests import Guest, Kernel
from airtcp.kernel.guests.protocol import Job

ROOT = Path(__file__).resolve().parents[2]
SAMPLES: list[dict[str, Any]] = tomllib.loads((ROOT / "tests" / "bpf_samples.toml").read_text())[
    "sample"
]
TEXT = """#include "kernel.h"
char _license[] SEC("license") = "GPL";
DECLARATIONS
SEC("struct_ops") void BPF_PROG(sample_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	struct tcp_sock *tp = tcp_sk(sk);
	BODY
}
SEC("struct_ops") __u32 BPF_PROG(sample_ssthresh, struct sock *sk) { return 2; }
SEC("struct_ops") __u32 BPF_PROG(sample_undo, struct sock *sk) { return tcp_sk(sk)->snd_cwnd; }
SEC(".struct_ops") struct tcp_congestion_ops sample = {
	.cong_avoid = (void *)sample_avoid, .ssthresh = (void *)sample_ssthresh,
	.undo_cwnd = (void *)sample_undo,
	.name = "sample",
};
"""

pytestmark = pytest.mark.needs("clang")
each = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["name"])


def compiled(sample: dict[str, Any], folder: Path) -> Path:
    """The object file of a sample."""
    text = TEXT.replace("DECLARATIONS", sample.get("declarations", ""))
    text = text.replace("BODY", sample.get("body", ""))
    for before, after in sample.get("replace", []):
        assert before in text
        text = text.replace(before, after)
    source = folder / "sample.bpf.c"
    source.write_text(text)
    return object_file(source)


def version_of(release: str) -> list[int]:
    """Version and patch level of a kernel."""
    major, minor = release.split(".")[:2]
    return [int(major), int("".join(takewhile(str.isdigit, minor)))]


def is_refused(sample: dict[str, Any], release: str) -> bool:
    """Whether a kernel of this release refuses a sample."""
    version = version_of(release)
    if "taken_from" in sample:
        return bool(version < sample["taken_from"])
    if "taken_before" in sample:
        return bool(version >= sample["taken_before"])
    return "refused" in sample


@each
def test_airtcp_refuses_what_the_kernel_refuses(sample: dict[str, Any], tmp_path: Path) -> None:
    path = compiled(sample, tmp_path)
    if "refused" not in sample:
        remedy(path)
        return
    with pytest.raises(ScenarioError) as refused:
        remedy(path)
    assert sample["refused"] in str(refused.value)
    assert path.name in str(refused.value)


@each
@pytest.mark.needs("bpf", "root")
@pytest.mark.skipif(
    platform.system() != "Linux" or version_of(platform.release()) < [6, 4],
    reason="a control is registered through a link, which came with Linux 6.4",
)
def test_this_machines_kernel_agrees(sample: dict[str, Any], tmp_path: Path) -> None:
    path = compiled(sample, tmp_path)
    command = [find_program(), "control", str(path), "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == is_refused(sample, platform.release()), done.stderr
    registered = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text()
    assert "sample" not in registered


@pytest.mark.long
@pytest.mark.needs("bpf", "qemu-system-x86_64", "kernels")
@pytest.mark.parametrize("kernel", needs.kernels_with_bpf(), ids=lambda kernel: kernel.release)
def test_the_guests_agree(kernel: Kernel, tmp_path: Path) -> None:
    files = {
        f"/samples/{number}.o": compiled(sample, tmp_path).read_bytes()
        for number, sample in enumerate(SAMPLES)
    }
    jobs = [Job(("", "control", path, "--", "/init", "--version")) for path in files]
    found = Guest.of(kernel).run(jobs, files)
    wrong = {
        sample["name"]: done.err.strip()
        for sample, done in zip(SAMPLES, found, strict=True)
        if (done.status != 0) != is_refused(sample, kernel.release)
    }
    assert wrong == {}
