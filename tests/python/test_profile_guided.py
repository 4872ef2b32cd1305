"""The parts of a profile-guided build that compile nothing: tools, keys, names, and the training.

`make release` and `make bench` build with a profile; that takes minutes.
"""

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import airtcp
from airtcp import _core

ROOT = Path(__file__).resolve().parents[2]


def _script(name: str) -> ModuleType:
    # A script's neighbours are found in its folder.
    sys.path.insert(0, str(ROOT / "packaging"))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(ROOT / "packaging"))


artefacts, profile_guided, training = map(_script, ("artefacts", "profile_guided", "training"))
release, rustc_by_name, same_digests = map(_script, ("release", "rustc_by_name", "same_digests"))
wheel = _script("wheel")


def test_a_missing_tool_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profile_guided, "_printed", lambda *command: str(tmp_path))
    with pytest.raises(profile_guided.AbsentError, match="rustup component add llvm-tools"):
        profile_guided.profile()
    assert "no llvm-profdata" in profile_guided.obstacle()
    tool = tmp_path / "lib" / "rustlib" / "a-target" / "bin" / "llvm-profdata"
    tool.parent.mkdir(parents=True)
    tool.touch()
    assert profile_guided.merger() == tool
    assert profile_guided.obstacle() is None


def test_a_release_without_the_tool_says_so_and_makes_the_part_again_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    part, package = artefacts.WHEELS[0], artefacts.DEBIAN_PACKAGES[0]
    place = artefacts.Workshop(tmp_path, tmp_path, tmp_path)
    (tmp_path / part.files()[0]).touch()
    made = {"sources": "1", "files": release.described([tmp_path / part.files()[0]])}
    monkeypatch.setattr(profile_guided, "obstacle", lambda: "no llvm-profdata: install it")
    (line,) = release.shortfalls({"a wheel": made | {"shortfall": part.shortfall()}, "b": {}})
    assert line.startswith("a wheel: the core is built without a profile")
    assert line.endswith("no llvm-profdata: install it")
    assert package.shortfall() == part.shortfall()
    assert not release.is_current(part, place, made, "1")
    assert release.is_current(part, place, made | {"shortfall": part.shortfall()}, "1")
    monkeypatch.setattr(profile_guided, "obstacle", lambda: None)
    assert part.shortfall() is None
    assert release.is_current(part, place, made, "1")


def test_a_profile_is_kept_for_the_same_sources_and_compiler() -> None:
    first = profile_guided.key("sources", "compiler")
    assert first == profile_guided.key("sources", "compiler")
    others = {profile_guided.key("others", "compiler"), profile_guided.key("sources", "another")}
    assert len({first, *others}) == 3


def test_a_guided_build_has_the_release_profile_of_the_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(profile_guided, "profile", lambda: tmp_path / "a.profdata")
    monkeypatch.setenv("CARGO_PROFILE_RELEASE_STRIP", "symbols")
    variables = profile_guided.guided()
    assert f"-Cprofile-use={tmp_path}/a.profdata" in _flags(variables)
    assert Path(variables["CARGO_TARGET_DIR"]).name == "a"
    assert not [key for key in variables if key.startswith("CARGO_PROFILE_RELEASE_")]


def _flags(variables: dict[str, str]) -> list[str]:
    assert "RUSTFLAGS" not in variables
    return variables["CARGO_ENCODED_RUSTFLAGS"].split("\x1f")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"RUSTFLAGS": "-Copt-level=2  -g"}, ["-Copt-level=2", "-g"]),
        (
            {"CARGO_ENCODED_RUSTFLAGS": "-Clinker=a b\x1f-g", "RUSTFLAGS": "-O"},
            ["-Clinker=a b", "-g"],
        ),
        ({"CARGO_ENCODED_RUSTFLAGS": "", "RUSTFLAGS": "-O"}, []),
        ({}, []),
    ],
)
def test_a_guided_build_keeps_the_flags_of_its_caller_and_blanks_in_paths(
    given: dict[str, str], kept: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("CARGO_ENCODED_RUSTFLAGS", "RUSTFLAGS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    kept_profile = tmp_path / "in a folder" / "a.profdata"
    monkeypatch.setattr(profile_guided, "profile", lambda: kept_profile)
    assert _flags(profile_guided.guided()) == [
        *kept,
        "-Csymbol-mangling-version=v0",
        f"-Cprofile-use={kept_profile}",
    ]


def test_only_the_newest_profile_is_kept_with_what_was_built_with_it(tmp_path: Path) -> None:
    profiles, builds = tmp_path / "profile-guided", tmp_path / "guided"
    profiles.mkdir()
    for name in ("old", "new"):
        (profiles / f"{name}.profdata").touch()
        (builds / name / "release").mkdir(parents=True)
    (builds / profile_guided.COUNTING).mkdir()
    (builds / "CACHEDIR.TAG").touch()
    profile_guided.forget_others(profiles / "new.profdata")
    assert [one.name for one in profiles.iterdir()] == ["new.profdata"]
    assert {one.name for one in builds.iterdir()} == {
        "CACHEDIR.TAG",
        "new",
        profile_guided.COUNTING,
    }


def test_every_source_of_a_profile_exists() -> None:
    for name in profile_guided.SOURCES:
        assert (ROOT / name).exists(), name


def test_a_profile_for_one_target_names_the_functions_of_all() -> None:
    given = ["--crate-name", "a", "-C", "metadata=0123456789abcdef", "-C", "extra-filename=-01"]
    named = rustc_by_name.by_name(given, "1.2.0")
    assert named == ["--crate-name", "a", "-C", "metadata=1.2.0", "-C", "extra-filename=-01"]


def test_the_training_has_every_profile_and_every_shipped_scenario() -> None:
    profiles = {name for name, _ in _core.profiles()}
    assert set(training.PROFILES) == profiles
    for loss in training.LOSSES:
        lossy = [run for run in training.RUNS if run.keys.get("link.loss.rate") == str(loss)]
        assert {run.keys["tcp.profile"] for run in lossy} == profiles
    shipped = {one["name"] for one in airtcp.scenarios()}
    assert {run.scenario for run in training.RUNS} == shipped


@pytest.mark.long
def test_the_training_ends_and_leaves_its_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "RUNS", training.RUNS[:1])
    monkeypatch.setattr(sys, "argv", ["training.py", str(tmp_path)])
    training.main()
    assert (tmp_path / "flow.pcapng").stat().st_size > 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux has affinities")
def test_the_training_takes_one_processor_and_gives_the_others_back() -> None:
    before = os.sched_getaffinity(0)
    with training.one_processor():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == before


def test_every_run_of_the_training_is_valid() -> None:
    for run in training.RUNS:
        _core.Scenario.load(training.scenario(run.scenario), list(run.keys.items()))


def test_nothing_is_counted_on_its_training(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benches"))
    counts = importlib.import_module("instructions").COUNTS
    counted = {(Path(run.scenario).stem, run.settings["duration"]) for run in counts}
    trained = {(run.scenario, run.keys["duration"]) for run in training.RUNS}
    assert not counted & trained
    assert training.SEED != 1, "the seed of lossy-pipe without --seed"


def test_digests_of_another_build_are_compared() -> None:
    one = {"a": "1", "b": "2"}
    assert same_digests.differences(one, dict(one)) == []
    assert same_digests.differences(one, {"a": "1", "b": "3"}) == [
        "b: digest 3, 2 from the other build"
    ]
    assert same_digests.differences(one, {"a": "1"}) == ["b: digest None, 2 from the other build"]
    settings = {name: f"{seconds} s" for name, seconds in same_digests.SECONDS.items()}
    for one in airtcp.scenarios():
        duration = settings.get(one["name"], f"{same_digests.OTHERS_SECONDS} s")
        _core.Scenario.load(one["path"], [("duration", duration)])


def test_a_wheel_is_guided_only_where_there_is_a_profile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def absent(_: object) -> None:
        raise wheel.AbsentError("no llvm-profdata: install it")

    monkeypatch.setattr(wheel, "guided", absent)
    monkeypatch.setattr(sys, "argv", ["wheel.py", "--guided"])
    with pytest.raises(SystemExit):
        wheel.main()
    assert "--guided: no llvm-profdata: install it" in capsys.readouterr().err
