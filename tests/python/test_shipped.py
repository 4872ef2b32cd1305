"""What comes with airtcp is found from any folder, and a file here is never taken for it."""

from pathlib import Path

import pytest

import airtcp
from airtcp.core.shipped import copy_scenario, find, folder, shipped
from test_cli import airtcp_command


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", shipped("scenarios"))
def test_every_scenario_is_known_by_its_name(name: str) -> None:
    assert airtcp.load_scenario(name).name == name


@pytest.mark.parametrize("name", shipped("scenarios"))
def test_every_scenario_can_be_taken_along(name: str, elsewhere: Path) -> None:
    file = elsewhere / "mine.toml"
    copy_scenario(find(name, "scenarios"), file)
    assert airtcp.load_scenario(file).hash() == airtcp.load_scenario(name).hash()


def test_what_is_there_is_not_written_over(elsewhere: Path) -> None:
    file = elsewhere / "mine.toml"
    file.write_text("mine")
    done = airtcp_command("new", file, "--from", "ping")
    assert done.exit_code == 2
    assert "is there already" in done.stderr
    assert file.read_text() == "mine"
    assert [path.name for path in elsewhere.iterdir()] == ["mine.toml"]


def test_a_file_of_the_same_name_is_not_taken_in_silence(elsewhere: Path) -> None:
    (elsewhere / "ping").write_text('name = "another"')
    with pytest.raises(airtcp.ScenarioError, match=r"say \./ping for the file"):
        airtcp.load_scenario("ping")
    assert airtcp.load_scenario("./ping").name == "another"
    (elsewhere / "papers").mkdir()
    assert folder("papers") != elsewhere / "papers"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("losy-pipe", 'did you mean "lossy-pipe"'),
        ("scenarios/ping.toml", '"ping" without folder and ending'),
        ("nothing-like-it", "neither a file nor a name"),
    ],
)
def test_what_is_not_there(source: str, words: str) -> None:
    with pytest.raises(airtcp.ScenarioError, match=words):
        airtcp.load_scenario(source)


def test_the_lists_name_all() -> None:
    said = airtcp_command("list", "scenarios").stdout
    for kind in ("scenarios", "studies"):
        for name in shipped(kind):
            assert f"\n{name} " in said
