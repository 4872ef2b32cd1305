"""`airtcp check`, the schema of a new scenario, and the files for GitHub that call them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import airtcp
from airtcp.cli.commands import COMMANDS, app
from airtcp.core.toml_place import line_of

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"


def checked(*arguments: str | Path) -> tuple[int, str]:
    told = CliRunner().invoke(app, ["check", *map(str, arguments)])
    return told.exit_code, told.output


def test_every_shipped_file_is_valid() -> None:
    files = [*ROOT.glob("scenarios/*.toml"), *ROOT.glob("studies/*.toml")]
    files += ROOT.glob("papers/*/paper.toml")
    status, told = checked(*files)
    assert status == 0, told
    assert told.count(": valid ") == len(files) > 30
    for kind in ("scenario", "study", "paper"):
        assert f": valid {kind}\n" in told


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[link]\n\nrate = "10 Mbit/s"\ndelai = "3 ms"\n', 4, "did you mean"),
        ('[link]\nrate = "1 Mbit/s"\nloss = { rate = 3 }\n', 3, "link.loss.rate"),
        ('[link]\n[link.queue]\n# many\npackets = "a"\n', 4, "link.queue.packets"),
        ('[link\nrate = "10 Mbit/s"\n', 1, "line 1"),
        ('topology = "ring"\n', 1, "topology"),
        ('link.rate = "1 Mbit/s"\nlink.delai = "2 ms"\n', 2, "delai"),
    ],
)
def test_an_error_has_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    file = tmp_path / "link.toml"
    file.write_text(text, "utf-8")
    status, told = checked(file)
    assert status == 2
    assert told.startswith(f"{file}:{line}: "), told
    assert words in told
    assert told.count("\n") == 1
    status, told = checked(file, "--json")
    (found,) = json.loads(told)["files"]
    assert status == 2
    assert found["line"] == line


def test_all_errors_of_a_scenario_are_named_at_once(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text(
        'duration = "ten"\n[link]\nrate = "5 furlongs"\n[tcp]\nprofile = "linx"\n', "utf-8"
    )
    status, told = checked(file)
    assert status == 2
    places = [line.removeprefix(f"{file}:").partition(":")[0] for line in told.splitlines()]
    assert places == ["1", "3", "5"]


def test_an_error_that_follows_from_another_is_not_named(tmp_path: Path) -> None:
    file = tmp_path / "link.toml"
    file.write_text('[flows]\nkind = "udb"\nudp.rate = "1 Mbit/s"\n', "utf-8")
    _, told = checked(file)
    assert told.count("\n") == 1, told


def test_a_shipped_scenario_is_checked_by_its_name() -> None:
    status, told = checked("lossy-pipe")
    assert status == 0
    assert told.endswith("lossy-pipe.toml: valid scenario\n")


def test_a_wrong_file_does_not_hide_the_next(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(
        'remedies = ["bbbr"]\n[[link]]\nname = "a"\nscenario = "lossy-pipe"\n', "utf-8"
    )
    status, told = checked(tmp_path / "absent.toml", study, ROOT / "scenarios/ping.toml")
    assert status == 2
    assert "absent.toml: cannot be read" in told
    assert "study.toml: expected at least one [[stack]]" in told
    assert "ping.toml: valid scenario" in told
    study.write_text(study.read_text("utf-8") + '[[stack]]\nname = "x"\n', "utf-8")
    status, told = checked(study)
    assert status == 2
    assert "bbbr" in told


def test_a_line_is_found_only_where_the_message_names_one() -> None:
    assert line_of("a = 1\n[b]\nc = 2\n", "b.c = 2: too small") == 3
    assert line_of("a = 1\n", "nothing of it is here") is None


@pytest.mark.needs("namespaces")
def test_a_configuration_of_the_gateway_is_recognised(tmp_path: Path) -> None:
    assert checked(ROOT / "packaging" / "gateway.toml")[0] == 0
    wrong = tmp_path / "gateway.toml"
    wrong.write_text('agents = ["delay-injection"]\nmobil = "wlan0"\n', "utf-8")
    status, told = checked(wrong)
    assert status == 2
    assert f"{wrong}:2: " in told
    assert "mobil" in told


def test_a_new_scenario_names_its_schema(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["new", str(tmp_path / "mine.toml"), "--from", "ping"])
    assert told.exit_code == 0, told.output
    first = (tmp_path / "mine.toml").read_text("utf-8").splitlines()[0]
    named = re.fullmatch(r"#:schema \./(.+)", first)
    assert named
    assert json.loads((tmp_path / named[1]).read_text("utf-8")) == airtcp.schema()
    assert checked(tmp_path / "mine.toml")[0] == 0


def test_what_github_calls_exists() -> None:
    texts = {path: path.read_text("utf-8") for path in GITHUB.rglob("*.yml")}
    assert len(texts) == 4
    named = {
        name for text in texts.values() for name in re.findall(r"airtcp ([a-z]+) (?!of)", text)
    }
    assert named >= {"check", "compare", "diagnose"}
    assert named <= COMMANDS.keys()
    workflow = texts[GITHUB / "workflows" / "ci.yml"]
    for script in re.findall(r"\.ci/\w+$", workflow, re.MULTILINE):
        assert os.access(ROOT / script, os.X_OK)
    for template in (GITHUB / "ISSUE_TEMPLATE").iterdir():
        assert "airtcp diagnose FILE --json" in texts[template]


def test_the_action_fails_when_the_result_is_worse(tmp_path: Path) -> None:
    """The lines of the action, run by a shell with the inputs as its environment."""
    action = (GITHUB / "actions" / "not-worse" / "action.yml").read_text("utf-8")
    lines = action.split("      run: |\n")[1]
    check = re.findall(r"^      run: (airtcp check .*)$", action, re.MULTILINE)
    assert len(check) == 1
    script = "set -e\n" + check[0] + "\n" + lines
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    given = {"SCENARIO": "link.toml", "AGAINST": "results", "REMEDIES": "bbr veno"}
    given |= {"METRIC": "goodput", "SEEDS": "4", "PATH": programs}

    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=os.environ | given,
            capture_output=True,
            text=True,
            check=False,
        )

    link = tmp_path / "link.toml"
    link.write_text('duration = "5 s"\n[link]\nrate = "10 Mbit/s"\nloss.rate = 0.005\n', "utf-8")
    options = "--remedy bbr --remedy veno --seeds 4 --out results"
    assert run(f"airtcp compare link.toml {options}").returncode == 0
    same = run(script)
    assert same.returncode == 0, same.stderr
    assert "Not worse than results in goodput." in same.stdout
    link.write_text(link.read_text("utf-8").replace("10 Mbit/s", "5 Mbit/s"), "utf-8")
    worse = run(script)
    assert worse.returncode == 4, worse.stderr
    assert re.search(
        "^Worse than results: .*bbr: goodput \N{MINUS SIGN}[0-9]", worse.stdout, re.MULTILINE
    )
    assert "airtcp: " in run("airtcp compare link.toml --remedy bbr --against nothing").stderr
