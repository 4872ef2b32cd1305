"""The cold build of `benches/build_times.py`: what an earlier build left does not count."""

import importlib
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "benches" / "build_times.py"


@pytest.fixture
def build_times(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SOURCE.parent))
    return importlib.import_module("build_times")


def _compiled(command: list[str], *, env: dict[str, str] | None = None, **_: Any) -> None:
    """In place of cargo: the folder is empty, and one crate takes a second."""
    if command[:2] == ["cargo", "build"]:
        assert env is not None
        Path(env["CARGO_TARGET_DIR"]).mkdir()
        log = Path(env["AIRTCP_BUILD_LOG"])
        log.write_text(log.read_text() + '["airtcp_units", 1.0]\n')


def test_a_folder_is_built_in_again(
    build_times: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subprocess, "run", _compiled)
    for _ in range(2):
        assert build_times.cold_build(tmp_path).total == 1.0
        assert build_times.build_of("a commit", tmp_path / "earlier").total == 1.0


def test_a_target_of_others_is_left_alone(
    build_times: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "target").mkdir()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    build_times.cold_build(tmp_path)
    assert (tmp_path / "target").exists()
