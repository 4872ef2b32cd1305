"""Congestion controls of a kernel tree, compiled for BPF with the shim, in the simulator."""

from pathlib import Path

import pytest

import airtcp
import needs
from airtcp import ScenarioError
from airtcp.core.bpf import remedy
from airtcp.core.linux_module import is_module, source

pytestmark = pytest.mark.needs("clang")

LINK = "lossy-pipe"
SETTINGS: dict[str, object] = {
    "duration": "5 s",
    "link.loss.rate": 0.005,
    "tcp.profile": "linux-reno",
    "tcp.slow_start": "standard",
}

MODULE = """
#include <linux/module.h>
#include <net/tcp.h>

struct toy {
	u32 losses;
};

static int keep __read_mostly = 1;
module_param(keep, int, 0644);
static u32 share __read_mostly;

static void toy_init(struct sock *sk)
{
	struct toy *toy = inet_csk_ca(sk);

	toy->losses = 0;
	tcp_sk(sk)->snd_cwnd_clamp = min_t(u32, tcp_sk(sk)->snd_cwnd_clamp, 1 << 20);
}

static u32 toy_ssthresh(struct sock *sk)
{
	struct toy *toy = inet_csk_ca(sk);
	u64 left = tcp_snd_cwnd(tcp_sk(sk)) * share;

	toy->losses++;
	do_div(left, 4);
	return max_t(u32, left, 2U);
}

static struct tcp_congestion_ops toy __read_mostly = {
	.init		= toy_init,
	.ssthresh	= toy_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.owner		= THIS_MODULE,
	.name		= "toy",
};

static int __init toy_register(void)
{
	BUILD_BUG_ON(sizeof(struct toy) > ICSK_CA_PRIV_SIZE);
	share = keep + 1;
	return tcp_register_congestion_control(&toy);
}

static void __exit toy_unregister(void)
{
	tcp_unregister_congestion_control(&toy);
}

module_init(toy_register);
module_exit(toy_unregister);
MODULE_LICENSE("GPL");
"""
"""Reno, which keeps (keep + 1)/4 of its window at a loss: a half."""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "tcp_toy.c"
    path.write_text(MODULE)
    return path


def flows(**given: object) -> object:
    return airtcp.run(LINK, 1, SETTINGS, **given).summary["flows"]  # type: ignore[arg-type]


def test_a_module_of_renos_rules_sends_as_reno(module: Path) -> None:
    assert is_module(module)
    assert flows(bpf=module) == flows()


def test_its_register_function_runs_before_a_flow_begins(module: Path) -> None:
    module.write_text(MODULE.replace("keep __read_mostly = 1", "keep __read_mostly = 2"))
    assert flows(bpf=module) != flows()


def test_only_modules_are_taken_for_one(module: Path, tmp_path: Path) -> None:
    other = tmp_path / "tcp_mine.bpf.c"
    other.write_text('#include "kernel.h"\n')
    assert not is_module(other)
    module.write_text(MODULE.replace("= toy_init", "= toy_inits"))
    with pytest.raises(ScenarioError, match="toy_inits"):
        remedy(module)
    module.write_text(MODULE.replace("struct tcp_congestion_ops toy", "int toys"))
    with pytest.raises(ScenarioError, match="expected a module"):
        source(module)


@pytest.mark.needs("linux-source")
@pytest.mark.parametrize("name", ["bic", "cubic", "htcp", "hybla", "illinois", "veno", "westwood"])
def test_linuxs_own_files_run(name: str) -> None:
    """Each compiles as it is in the tree, also with a clang without signed division."""
    path = needs.linux_source() / f"net/ipv4/tcp_{name}.c"
    run = airtcp.run(LINK, 1, SETTINGS, bpf=path)
    assert run.summary["goodput_bps"] > 1e6
