"""The study runner: plans, execution and the store of finished cells."""

import errno
import multiprocessing
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import airtcp
from airtcp import _core
from airtcp._core import AirtcpError, RunError
from airtcp.comparison import store as store_module
from airtcp.comparison.cells import Cell, cell_key
from airtcp.comparison.comparison_plan import comparison_plan
from airtcp.comparison.execute import Finished, execute
from airtcp.comparison.plan import Observation, Plan, PlannedCell, planned_cell
from airtcp.comparison.store import DamagedCellsWarning, Store, StoreError

SHORT = {"duration": "1 s"}


def _plan(scenario: str, seeds: int = 3) -> Plan:
    return comparison_plan(scenario, ["sack"], seeds, SHORT).plan


def _digests(results) -> list[str]:
    return [
        cell.summary["digest"] for _, cell in sorted(results.items(), key=lambda i: i[0].digest)
    ]


def test_a_cell_that_is_planned_twice_runs_once(lossy: str) -> None:
    plan = _plan(lossy)
    plan.add_all(_plan(lossy, seeds=4))
    assert len(plan) == 8
    told: list[tuple[int, int, str]] = []
    results = execute(plan, progress=lambda *words: told.append(words))
    assert len(results) == 8
    assert told[0] == (0, 8, "")
    assert told[-1][:2] == (8, 8)
    assert any("sack, seed 4" in words for _, _, words in told)


def test_small_runs_share_files(lossy: str, tmp_path: Path) -> None:
    plan = _plan(lossy, seeds=100)
    first = execute(plan, out=tmp_path)
    files = list((tmp_path / "cells").iterdir())
    assert 1 <= len(files) < 40
    assert len(pl.read_parquet(tmp_path / "cells" / "*.parquet")) == 200
    told: list[int] = []
    again = execute(plan, out=tmp_path, progress=lambda done, *_: told.append(done))
    assert told == [200]
    assert _digests(again) == _digests(first)


def test_a_torn_file_is_computed_again(lossy: str, tmp_path: Path) -> None:
    before = execute(_plan(lossy), out=tmp_path)
    (file,) = (tmp_path / "cells").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    (tmp_path / "cells" / "other.parquet").write_bytes(b"no Parquet at all")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "cells" / "columns.parquet")
    told: list[int] = []
    with pytest.warns(DamagedCellsWarning, match="is not as it was written"):
        after = execute(_plan(lossy), out=tmp_path, progress=lambda done, *_: told.append(done))
    assert told[0] == 0
    assert _digests(after) == _digests(before)


def test_cells_of_another_engine_are_not_taken(lossy: str, tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = cell_key("abc", "sack", 1)
    store.put(Cell(key, _core.run(airtcp.load_scenario(lossy), 1).summary()))
    store.flush()
    older = type(key)(key.scenario_hash, key.remedy, key.seed, "0.0.0")
    assert set(Store(tmp_path).find([key, older])) == {key}


def test_what_another_process_keeps_meanwhile_is_found(lossy: str, tmp_path: Path) -> None:
    """Two runs on one folder share their work, and several plans one store."""
    plan = _plan(lossy)
    mine = Store(tmp_path / "cells")
    assert not mine.find(cell.key for cell in plan)
    theirs = execute(plan, out=tmp_path)
    told: list[tuple[int, int]] = []
    again = execute(plan, out=mine, progress=lambda done, cells, _: told.append((done, cells)))
    assert told == [(len(plan), len(plan))]
    assert _digests(again) == _digests(theirs)
    assert mine.kept == 0


def test_every_key_that_differs_is_another_cell(lossy: str, tmp_path: Path) -> None:
    execute(_plan(lossy), out=tmp_path)
    for other in (
        comparison_plan(lossy, ["newreno"], [1], SHORT),
        comparison_plan(lossy, ["sack"], [9], SHORT),
        comparison_plan(lossy, ["sack"], [1], {"duration": "2 s"}),
    ):
        found = Store(tmp_path / "cells").find(cell.key for cell in other.cells)
        shared = {cell.key for cell in other.cells} & {cell.key for cell in _plan(lossy)}
        assert set(found) == shared
        assert len(shared) < len(other.cells)


def _in_this_thread(
    cells: Sequence[PlannedCell], finished: Finished
) -> list[tuple[PlannedCell, AirtcpError]]:
    """The simplest executor there is."""
    for cell in reversed(cells):
        finished(cell, _core.run(cell.scenario, cell.key.seed).summary())
    return []


def test_whatever_executes_a_plan_the_results_are_the_same(lossy: str) -> None:
    by_threads = execute(_plan(lossy), jobs=2)
    assert _digests(execute(_plan(lossy), executor=_in_this_thread)) == _digests(by_threads)


def test_what_finished_before_a_failure_is_kept(lossy: str, tmp_path: Path) -> None:
    def failing(
        cells: Sequence[PlannedCell], finished: Finished
    ) -> list[tuple[PlannedCell, AirtcpError]]:
        _in_this_thread(cells[:4], finished)
        return [(cell, RunError("the link burnt down")) for cell in cells[4:]]

    with pytest.raises(RunError, match=r"baseline, seed 3: .*burnt down \(2 runs failed in all\)"):
        execute(_plan(lossy), out=tmp_path, executor=failing)
    told: list[int] = []
    execute(_plan(lossy), out=tmp_path, progress=lambda done, *_: told.append(done))
    assert told[0] == 4


def _with_a_field(scenario: airtcp.Scenario, seed: int) -> str:
    summary = _core.run(scenario, seed).summary()
    return summary.replace("{", '{"observed": 1, ', 1)


def _refusing(scenario: airtcp.Scenario, seed: int) -> str:
    raise RunError(f"seed {seed} is not watched")


def test_observed_cells_are_other_cells_and_keep_what_was_found(lossy: str, tmp_path: Path) -> None:
    scenario = airtcp.load_scenario(lossy, SHORT)
    watch = Observation("watched:", _with_a_field)
    watched = planned_cell(scenario.hash(), scenario, "", 1, "watched", watch)
    plain = planned_cell(scenario.hash(), scenario, "", 1, "plain")
    assert watched.key != plain.key
    for _ in range(2):
        results = execute(Plan([watched, plain]), out=tmp_path)
        assert results[watched.key].summary["observed"] == 1
        assert "observed" not in results[plain.key].summary
    refused = planned_cell(
        scenario.hash(), scenario, "", 2, "the second", Observation("refused:", _refusing)
    )
    with pytest.raises(RunError, match="the second: seed 2 is not watched"):
        execute(Plan([plain, refused]))


def _compare(scenario: str, out: Path, seeds: int) -> None:
    airtcp.compare(scenario, ["sack"], seeds, SHORT, out=out, jobs=1).report(out)


def test_processes_share_a_folder(lossy: str, tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_compare, args=(lossy, tmp_path, seeds)) for seeds in (150, 200)]
    for process in both:
        process.start()
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    rows = pl.read_parquet(tmp_path / "cells" / "*.parquet")
    distinct = rows.unique(["scenario_hash", "remedy", "seed", "engine_version"])
    assert len(distinct) == 400
    # The same cell from two processes is the same result.
    assert len(rows.unique(["remedy", "seed", "digest"])) == 400
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert (tmp_path / "index.html").read_text().rstrip().endswith("</html>")


def test_a_full_disk_is_one_error_and_what_was_kept_stays(
    lossy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "BATCH_CELLS", 2)
    written: list[Path] = []
    original = store_module.write_whole

    def until_full(path: Path, content: bytes) -> None:
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        original(path, content)
        written.append(path)

    monkeypatch.setattr(store_module, "write_whole", until_full)
    with pytest.raises(StoreError, match=r"No space left on device.*the 4 kept so far are whole"):
        execute(_plan(lossy, seeds=8), out=tmp_path, executor=_in_this_thread)
    monkeypatch.undo()
    told: list[int] = []
    results = execute(
        _plan(lossy, seeds=8), out=tmp_path, progress=lambda done, *_: told.append(done)
    )
    assert told[0] == 4
    assert _digests(results) == _digests(execute(_plan(lossy, seeds=8)))


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compare", ["--remedy", "sack", "--seeds", "2"]),
        ("tune", ["--with", "westwood", "--max-seeds", "2", "--can", "server"]),
    ],
)
def test_a_disk_that_takes_nothing_leaves_the_answer(
    lossy_file: Path, tmp_path: Path, command: str, options: list[str], form: list[str]
) -> None:
    """The answer first, then what could not be kept, and the status of a failure."""
    out = tmp_path / "out"
    line = [command, str(lossy_file), *options, "--out", str(out), *form]
    done = subprocess.run(
        ["bash", "-c", 'ulimit -f 0; exec "$@"', "-", sys.executable, "-m", "airtcp", *line],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert options[1] in done.stdout
    assert done.stderr.startswith(f"airtcp: {out}/cells: finished runs cannot be kept here (File")
    assert done.stderr.count("\n") == 1
    assert list((out / "cells").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_said_before_anything_runs(
    lossy: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    told: list[int] = []
    with pytest.raises(StoreError, match="name another folder with --out"):
        execute(_plan(lossy), out=tmp_path / "file", progress=lambda done, *_: told.append(done))
    assert told == []
