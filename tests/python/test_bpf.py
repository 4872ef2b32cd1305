"""Congestion controls in BPF: the object that the kernel loads, simulated."""

import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp import ScenarioError
from airtcp.comparison.context import context
from airtcp.core.bpf import remedy
from airtcp.core.compiled import object_file

pytestmark = pytest.mark.needs("clang")

BPF = Path(__file__).resolve().parents[2] / "bpf"
LINK = "lossy-pipe"
SHORT = {"duration": "10s"}


def goodput(settings: dict[str, object], **given: object) -> float:
    seeds = (1, 2, 3)
    settings = SHORT | settings
    runs = [airtcp.run(LINK, seed, settings, **given) for seed in seeds]  # type: ignore[arg-type]
    return sum(run.summary["goodput_bps"] for run in runs) / len(runs)


@pytest.mark.parametrize("name", ["veno", "westwood", "newzag"])
@pytest.mark.parametrize("loss", [0.001, 0.01])
def test_each_control_does_about_as_its_twin(name: str, loss: float) -> None:
    link = {"link.loss.rate": loss}
    program = goodput(link, bpf=BPF / f"{name}.bpf.c")
    twin = goodput(link, remedies=[name])
    reno = goodput(link, remedies=["newreno"]) if name != "veno" else twin
    assert 0.8 < program / twin < 1.25, (program, twin, reno)


def test_the_examples_fill_a_link() -> None:
    link: dict[str, object] = {"link.loss.rate": 0.0}
    cubic = goodput(link, bpf=BPF / "examples/cubic.bpf.c")
    assert cubic > 0.9 * goodput(link, remedies=["cubic"])
    lossy: dict[str, object] = {"link.loss.rate": 0.01}
    paced = goodput(lossy, bpf=BPF / "examples/paced.bpf.c")
    assert paced > 2 * goodput(lossy, bpf=BPF / "examples/cubic.bpf.c")


def test_counters_and_constants() -> None:
    run = airtcp.run(LINK, 1, SHORT, bpf=f"{BPF / 'newzag.bpf.c'}:adjusted=1")
    (report,) = run.controls
    judged = sum(report["counters"].values())
    summary = run.summary["flows"][0]
    # Each loss found by acknowledgments is classified once, and so is a first timeout.
    found = summary["fast_retransmits"]
    assert 0 < found <= judged <= found + summary["timeouts"]
    assert run.summary["remedies"][0].endswith(":adjusted=1,radio_keeps_percent=80")
    with pytest.raises(ScenarioError, match="unknown parameter"):
        airtcp.run(LINK, 1, SHORT, bpf=f"{BPF / 'newzag.bpf.c'}:beta=1")


def test_a_constant_of_an_array_is_set_by_its_place(tmp_path: Path) -> None:
    """In a remedy and in a scenario."""
    text = (BPF / "veno.bpf.c").read_text()
    name = "beta_thousandths"
    text = text.replace(f"{name} = 3000", "table[4] = {1, 2, 3000, 4}").replace(name, "table[2]")
    (tmp_path / "mine.bpf.c").write_text(text)
    given = f"{tmp_path / 'mine.bpf.c'}:table[2]=2000"
    run = airtcp.run(LINK, 1, SHORT, bpf=given)
    veno = airtcp.run(LINK, 1, SHORT, bpf=f"{BPF / 'veno.bpf.c'}:{name}=2000")
    assert run.summary["flows"] == veno.summary["flows"]
    own = '{ bpf = "mine.bpf.c", constants = { "table[2]" = 2000 } }'
    base = airtcp.load_scenario(LINK).to_toml()
    base = base.replace('congestion_control = "cubic"', f"congestion_control = {own}")
    (tmp_path / "own.toml").write_text(base)
    named = airtcp.run(tmp_path / "own.toml", 1, SHORT)
    assert named.summary["flows"] == run.summary["flows"]
    with pytest.raises(
        ScenarioError, match=r'unknown parameter "table"; did you mean "table\[0\]"'
    ):
        airtcp.run(LINK, 1, SHORT, bpf=f"{tmp_path / 'mine.bpf.c'}:table=1")


def test_the_compilers_errors_have_a_line_each(tmp_path: Path) -> None:
    text = (BPF / "veno.bpf.c").read_text()
    (tmp_path / "mine.bpf.c").write_text(text + "int a = b;\nint c = d;\n")
    with pytest.raises(ScenarioError) as refused:
        airtcp.run(LINK, 1, SHORT, bpf=tmp_path / "mine.bpf.c")
    first, *lines = str(refused.value).splitlines()
    assert first.endswith("clang refuses it:"), refused.value
    places = [line.split(" ")[2].rpartition(":")[0].rpartition(":")[0] for line in lines]
    last = len(text.splitlines())
    assert places == [f"mine.bpf.c:{last + 1}", f"mine.bpf.c:{last + 2}"]


def test_a_scenario_names_an_object_and_is_hashed_by_content(tmp_path: Path) -> None:
    shutil.copy(object_file(BPF / "veno.bpf.c"), tmp_path / "mine.bpf.o")
    base = airtcp.load_scenario(LINK).to_toml()
    assert 'congestion_control = "cubic"' in base
    own = '{ bpf = "mine.bpf.o", constants = { beta_thousandths = 2000 } }'
    text = base.replace('congestion_control = "cubic"', f"congestion_control = {own}")
    (tmp_path / "own.toml").write_text(text)
    scenario = airtcp.load_scenario(tmp_path / "own.toml")
    assert 'bpf = "mine.bpf.o"' in scenario.to_toml()
    first = airtcp.run(scenario, 1)
    as_remedy = airtcp.run(LINK, 1, bpf=f"{tmp_path / 'mine.bpf.o'}:beta_thousandths=2000")
    assert first.summary["flows"] == as_remedy.summary["flows"]
    before = scenario.hash()
    (tmp_path / "again").mkdir()
    for name in ("mine.bpf.o", "own.toml"):
        shutil.copy(tmp_path / name, tmp_path / "again" / name)
    assert airtcp.load_scenario(tmp_path / "again/own.toml").hash() == before
    shutil.copy(object_file(BPF / "westwood.bpf.c"), tmp_path / "mine.bpf.o")
    (tmp_path / "own.toml").write_text(text.replace("beta_thousandths = 2000", ""))
    assert airtcp.load_scenario(tmp_path / "own.toml").hash() != before


def test_a_scenario_names_a_source(tmp_path: Path) -> None:
    shutil.copy(BPF / "veno.bpf.c", tmp_path / "mine.bpf.c")
    base = airtcp.load_scenario(LINK).to_toml()
    own = '{ bpf = "mine.bpf.c", constants = { beta_thousandths = 2000 } }'
    text = base.replace('congestion_control = "cubic"', f"congestion_control = {own}")
    (tmp_path / "own.toml").write_text(text)
    scenario = airtcp.load_scenario(tmp_path / "own.toml")
    run = airtcp.run(scenario, 1)
    as_remedy = airtcp.run(LINK, 1, bpf=f"{tmp_path / 'mine.bpf.c'}:beta_thousandths=2000")
    assert run.summary["flows"] == as_remedy.summary["flows"]
    assert 'bpf = "mine.bpf.c"' in scenario.to_toml()
    compared = airtcp.compare(scenario, "bbr", 2)
    assert "linux senders on mine.bpf.c" in compared.verdict[0]
    assert context(compared).endswith("Sender: linux (with mine.bpf.c).")
    # A copy, as another process gets it, carries the object.
    (tmp_path / "mine.bpf.c").unlink()
    assert pickle.loads(pickle.dumps(scenario)).hash() == scenario.hash()
    with pytest.raises(ScenarioError, match=r"tcp\.congestion_control\.bpf.*cannot be read"):
        airtcp.load_scenario(tmp_path / "own.toml")
    (tmp_path / "mine.bpf.c").write_text("int;")
    with pytest.raises(ScenarioError, match=r"tcp\.congestion_control\.bpf"):
        airtcp.load_scenario(tmp_path / "own.toml")


def test_runs_repeat_bit_by_bit() -> None:
    digests = {
        airtcp.run(LINK, 7, SHORT, bpf=BPF / "coin.bpf.c").summary["digest"] for _ in range(2)
    }
    assert len(digests) == 1


def test_a_stack_unlike_linux_is_refused() -> None:
    with pytest.raises(ScenarioError, match=r'set tcp\.profile = "linux"'):
        airtcp.run(LINK, 1, SHORT | {"tcp.profile": "newreno"}, bpf=BPF / "veno.bpf.c")


def test_errors_name_file_function_and_line(tmp_path: Path) -> None:
    veno = (BPF / "veno.bpf.c").read_text()
    broken = tmp_path / "broken.bpf.c"
    broken.write_text(veno.replace("grow_as_reno(sk, acked);", "grow_as_reno(sk);"))
    with pytest.raises(ScenarioError, match="too few arguments"):
        remedy(broken)
    broken.write_text(veno.replace("grow_as_reno(sk, acked);", "tp->lost_out = 0;"))
    with pytest.raises(ScenarioError, match=r"store to lost_out.*verifier") as caught:
        remedy(broken)
    assert "broken.bpf.c:" in str(caught.value)
    endless = "for (;;) barrier_var(acked);"
    broken.write_text(veno.replace("grow_as_reno(sk, acked);", endless))
    with pytest.raises(airtcp.RunError, match=r"veno_cong_avoid.*more than 1000000 instructions"):
        airtcp.run(LINK, 1, SHORT, bpf=broken)
    broken.write_text(veno.replace("grow_as_reno(sk, acked);", "tp->snd_cwnd *= 1.5;"))
    with pytest.raises(ScenarioError, match=r"\n  broken.bpf.c:\d+(?s:.*)\n  BPF has no floating"):
        remedy(broken)
    broken.write_text(veno.replace("grow_as_reno(sk, acked);", "tp->sacked_twice = 0;"))
    with pytest.raises(ScenarioError, match=r"sacked_twice.*\n.*bpftool btf dump"):
        remedy(broken)
    for missing in ("missing.bpf.o", "missing.bpf.c"):
        with pytest.raises(ScenarioError, match=rf"{missing} cannot be read"):
            remedy(tmp_path / missing)
    broken.write_text(veno.replace('SEC("license") = "GPL"', 'SEC("license") = "MIT"'))
    with pytest.raises(ScenarioError, match=rf'^{broken}: the licence "MIT"'):
        remedy(broken)


SELFTEST = """#include <vmlinux.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";
__u64 advanced, sacked, reductions;

static inline struct tcp_sock *tcp_sk(const struct sock *sk)
{
\treturn (struct tcp_sock *)sk;
}

SEC("struct_ops/paced_init")
void BPF_PROG(paced_init, struct sock *sk)
{
\tsk->sk_pacing_status = SK_PACING_NEEDED;
}

SEC("struct_ops/paced_control")
void BPF_PROG(paced_control, struct sock *sk, u32 ack, int flag, const struct rate_sample *rs)
{
\tstruct tcp_sock *tp = tcp_sk(sk);

\tadvanced += !!(flag & 0x400);
\tsacked += !!(flag & 0x20);
\tif (flag & 0x04)
\t\ttp->snd_cwnd = 20;
\tsk->sk_pacing_rate = sk->sk_max_pacing_rate;
}

SEC("struct_ops/paced_ssthresh")
u32 BPF_PROG(paced_ssthresh, struct sock *sk)
{
\treductions++;
\treturn tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops/paced_undo")
u32 BPF_PROG(paced_undo, struct sock *sk)
{
\treturn tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops")
struct tcp_congestion_ops paced = {
\t.init = (void *)paced_init,
\t.cong_control = (void *)paced_control,
\t.ssthresh = (void *)paced_ssthresh,
\t.undo_cwnd = (void *)paced_undo,
\t.name = "selftest",
};
"""
"""A program in the manner of the kernel's selftests, which include a dump of all types."""


def test_a_selftest_needs_no_dump_of_the_kernels_types(tmp_path: Path) -> None:
    source = tmp_path / "selftest.bpf.c"
    source.write_text(SELFTEST)
    run = airtcp.run(LINK, 1, SHORT | {"link.loss.rate": 0.01}, bpf=source)
    (counters,) = run.counters.to_dicts()
    assert counters["advanced"] > counters["sacked"] > counters["reductions"] > 0
    # The flags of an acknowledgment opened the window: it does not stay at the first ten.
    assert run.summary["goodput_bps"] > 1e6
    # One in the program's folder takes the place of ours, in both ways of including it.
    (tmp_path / "vmlinux.h").write_text("#error found\n")
    for way in ("<vmlinux.h>", '"vmlinux.h"'):
        source.write_text(SELFTEST.replace("<vmlinux.h>", way))
        with pytest.raises(ScenarioError, match=r"vmlinux\.h:1:2: found"):
            remedy(source)


def test_its_lines_are_events_and_its_counters_columns(tmp_path: Path) -> None:
    loud = tmp_path / "loud.bpf.c"
    line = 'bpf_printk("loss at %u", tcp_sk(sk)->snd_cwnd);'
    cubic = (BPF / "examples/cubic.bpf.c").read_text().replace("../kernel.h", "kernel.h")
    loud.write_text(cubic.replace("__sync_fetch_and_add(&losses, 1);", f"losses++;\n\t{line}"))
    run = airtcp.run(LINK, 1, SHORT | {"link.loss.rate": 0.01}, bpf=loud)
    events = run.events.filter(run.events["event"] == "printed")
    assert events["detail"].to_list() == [one["text"] for one in run.controls[0]["messages"]]
    assert events["detail"][0].startswith("loss at ")
    assert run.events["time_s"].is_sorted()
    assert run.counters.columns == ["flow", "losses", "timeouts"]
    assert run.counters["losses"].sum() == len(events)
    quiet = airtcp.run(LINK, 1, SHORT, bpf=loud, events=False)
    assert quiet.events.is_empty()


def test_windows_of_no_segment_are_counted(tmp_path: Path) -> None:
    veno = (BPF / "veno.bpf.c").read_text()
    broken = tmp_path / "empty.bpf.c"
    broken.write_text(veno.replace("grow_as_reno(sk, acked);", "tp->snd_cwnd = 0;"))
    run = airtcp.run(LINK, 1, SHORT, bpf=broken)
    (report,) = run.controls
    assert report["zero_windows"] > 0
    assert run.summary["goodput_bps"] > 0
    for words in (["run", LINK], ["compare", LINK, "--seeds", "2"]):
        line = [sys.executable, "-m", "airtcp", *words, "--set", "duration=5s", "--bpf", broken]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        assert "set a congestion window of 0 segments" in done.stdout
    (fair,) = airtcp.run(LINK, 1, SHORT, bpf=BPF / "veno.bpf.c").controls
    assert (fair["zero_windows"], fair["zero_thresholds"]) == (0, 0)
    # An acknowledgment takes Veno tens of instructions, and no more than its functions have.
    assert 10_000 < fair["instructions"] < 10_000_000


def test_comparisons_and_studies_have_the_counters_as_columns(tmp_path: Path) -> None:
    lossy = SHORT | {"link.loss.rate": 0.01}
    empty = tmp_path / "empty.bpf.c"
    text = (BPF / "examples/cubic.bpf.c").read_text().replace("../kernel.h", "kernel.h")
    empty.write_text(text.replace("__sync_fetch_and_add(&losses, 1);", "losses++;\n\treturn 0;"))
    compared = airtcp.compare(LINK, [], 2, lossy, bpf=empty, out=tmp_path / "out")
    own = compared.cells.filter(pl.col("remedy") != "baseline")
    runs = [airtcp.run(LINK, seed, lossy, bpf=empty) for seed in (1, 2)]
    losses = [run.counters["losses"].sum() for run in runs]
    assert own["counter_losses"].to_list() == losses
    assert own["zero_thresholds"].to_list() == losses
    assert compared.table["counter_losses"].to_list() == [None, sum(losses) / 2]
    (told,) = [line for line in compared.verdict if "of 0 segments" in line]
    assert "a slow-start threshold of 0 segments" in told
    compared.report(tmp_path / "report")
    table = pl.read_csv(tmp_path / "report" / "comparison.csv")
    assert table["counter_losses"].to_list() == [None, sum(losses) / 2]
    stored = pl.read_parquet(tmp_path / "out/cells/*.parquet").explode("counters")
    found = stored.unnest("counters").filter(name="counter_losses")
    assert sorted(found["value"].to_list()) == sorted(losses)
    again = airtcp.compare(LINK, [], 2, lossy, bpf=empty, out=tmp_path / "out")
    assert again.table.equals(compared.table)

    study = tmp_path / "one.toml"
    study.write_text(
        'name = "one"\nseeds = 2\nremedies = ["westwood"]\n[[stack]]\nname = "Linux"\n'
        f'[[link]]\nname = "lossy"\nscenario = "{LINK}"\n'
        'settings = { duration = "10s", "link.loss.rate" = 0.01 }\n'
    )
    result = airtcp.study.run(study, bpf=empty)
    assert result.table()["counter_losses"].to_list() == [None, sum(losses) / 2]
    (warning,) = result.warnings
    assert "a slow-start threshold of 0 segments" in warning


def test_compare_has_it_among_the_remedies() -> None:
    comparison = airtcp.compare(
        LINK, ["westwood"], 3, SHORT | {"link.loss.rate": 0.01}, bpf=BPF / "examples/paced.bpf.c"
    )
    names = list(comparison.remedies)
    assert names[:2] == ["baseline", "westwood"]
    assert names[2].startswith("bpf:")


def test_readers_meet_the_program_not_the_object_that_is_kept(tmp_path: Path) -> None:
    source = BPF / "veno.bpf.c"
    kept = str(object_file(source).parent)
    seeds = ["--seeds", "2", "--out", str(tmp_path)]
    for given in (["run", LINK], ["compare", LINK, "--remedy", "westwood", *seeds]):
        line = [sys.executable, "-m", "airtcp", *given, "--set", "duration=5s", "--bpf", source]
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        assert "bpf:veno" in done.stdout
        assert kept not in done.stdout + done.stderr
    for page in (tmp_path / "index.html", *tmp_path.glob("*.svg")):
        assert kept not in page.read_text(), page


def test_the_command_line_prints_counters(tmp_path: Path) -> None:
    source = BPF / "newzag.bpf.c"
    command = [
        sys.executable,
        "-m",
        "airtcp",
        "run",
        LINK,
        "--set",
        "duration=5s",
        "--bpf",
        str(source),
    ]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    (report,) = json.loads(done.stdout)["controls"]
    assert report["flow"] == 0
    assert any(report["counters"].values())


def test_the_systems_headers_are_found(tmp_path: Path) -> None:
    source = tmp_path / "typed.bpf.c"
    source.write_text("#include <linux/types.h>\n" + (BPF / "veno.bpf.c").read_text())
    remedy(source)


def test_events_are_written_with_its_lines_and_an_object_goes_by_its_name(tmp_path: Path) -> None:
    loud = tmp_path / "loud.bpf.c"
    line = 'bpf_printk("loss at %u", tcp_sk(sk)->snd_cwnd);'
    cubic = (BPF / "examples/cubic.bpf.c").read_text().replace("../kernel.h", "kernel.h")
    loud.write_text(cubic.replace("__sync_fetch_and_add(&losses, 1);", f"losses++;\n\t{line}"))
    kept = object_file(loud)
    own = tmp_path / "own.bpf.o"
    own.write_bytes(kept.read_bytes())
    table = tmp_path / "events.csv"
    words = ["--bpf", str(own), "--set", "duration=3 s", "--set", "link.loss.rate=0.01"]
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", "run", LINK, *words, "--events", str(table)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    heading = done.stdout.splitlines()[0]
    assert "bpf:own" in heading
    assert str(tmp_path) not in heading
    assert ",printed," in table.read_text()
    assert "loss at " in table.read_text()
