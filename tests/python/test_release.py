"""The parts of `make release` that build nothing: its table, checksums, states and page.

Stand-ins take the place of parts and clean roots; `make release` itself takes hours and root.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.tags import Tag
from packaging.utils import parse_wheel_filename

ROOT = Path(__file__).resolve().parents[2]
for folder in ("packaging", "pages"):
    sys.path.insert(0, str(ROOT / folder))
import artefacts  # noqa: E402
import release  # noqa: E402
import trials  # noqa: E402
import write_release  # noqa: E402
from artefact import Artefact, Workshop  # noqa: E402
from clean_root import ARCHITECTURES  # noqa: E402
from targets import TARGETS, target  # noqa: E402

for folder in ("packaging", "pages"):
    sys.path.remove(str(ROOT / folder))


class Part(Artefact):
    """Writes one file; its root answers each command with `status`."""

    root = SimpleNamespace(name="a root", obstacle=lambda: None)

    def __init__(self, name: str, status: int = 0, needs: tuple[Artefact, ...] = ()) -> None:
        self._name, self.status, self._needs, self.times_made = name, status, needs, 0

    @property
    def name(self) -> str:
        return self._name

    @property
    def needs(self) -> tuple[Artefact, ...]:
        return self._needs

    def files(self) -> tuple[str, ...]:
        return (f"{self._name}.tar",)

    def make(self, place: Workshop) -> None:
        self.times_made += 1
        (place.dist / self.files()[0]).write_text(self._name, encoding="utf-8")

    @contextmanager
    def enter(self, place: Workshop) -> Iterator[SimpleNamespace]:
        def run(command: str) -> subprocess.CompletedProcess[str]:
            return subprocess.CompletedProcess(command, self.status, "", "no such library")

        yield SimpleNamespace(run=run)

    def installing(self) -> tuple[str, ...]:
        return ("install it",)

    def using(self) -> tuple[str, ...]:
        return ("use it",)


class Unmakeable(Part):
    """Cannot be made."""

    def make(self, place: Workshop) -> None:
        raise OSError("no linker")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setattr(release, "sources", lambda: "0123456789ab")
    return Workshop(tmp_path, tmp_path, tmp_path)


def test_the_table_has_every_target_and_is_in_order() -> None:
    listed = artefacts.ARTEFACTS
    assert {one.of for one in listed if isinstance(one, artefacts.Wheel)} == set(TARGETS)
    assert len({one.name for one in listed}) == len(listed)
    files = [name for one in listed for name in one.files()]
    assert len(set(files)) == len(files)
    for place, one in enumerate(listed):
        assert set(one.needs) <= set(listed[:place])
        machine = one.root.machine
        assert machine in one.name or ARCHITECTURES[machine] in one.name


def test_a_wheel_has_the_tag_of_its_target() -> None:
    tags = set()
    for one in artefacts.WHEELS:
        _, _, _, found = parse_wheel_filename(one.files()[0])
        tags |= found
    platforms = ("manylinux_2_28", "musllinux_1_2")
    machines = ("x86_64", "aarch64")
    assert tags == {
        Tag("cp311", "abi3", f"{system}_{machine}") for system in platforms for machine in machines
    }


def test_an_unknown_target_is_refused_with_those_there_are() -> None:
    assert target("aarch64-unknown-linux-musl").zig == "aarch64-linux-musl"
    assert target("x86_64-unknown-linux-gnu").zigbuild == "x86_64-unknown-linux-gnu.2.28"
    with pytest.raises(ValueError, match=r"target 'sparc': expected one of x86_64-unknown-linux-"):
        target("sparc")


def test_checksums_are_those_that_sha256sum_reads(place: Workshop) -> None:
    release.release([Part("b"), Part("a")], place, {})
    command = ["sha256sum", "--check", "--strict", release.SUMS]
    told = subprocess.run(command, cwd=place.dist, check=True, capture_output=True, text=True)
    assert told.stdout == "a.tar: OK\nb.tar: OK\n"


def test_a_part_is_made_again_only_of_other_sources(
    place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Part("a")
    state = release.release([part], place, {})
    first = json.loads((place.dist / release.STATE).read_text("utf-8"))["parts"]
    assert first == json.loads(json.dumps(state))
    release.release([part], place, first)
    assert part.times_made == 1
    (place.dist / "a.tar").write_text("damaged", encoding="utf-8")
    release.release([part], place, first)
    assert part.times_made == 2
    monkeypatch.setattr(release, "sources", lambda: "fedcba987654")
    release.release([part], place, first)
    assert part.times_made == 3


@pytest.mark.needs("git")
def test_sources_change_with_a_file_and_not_with_the_documentation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(release, "ROOT", tmp_path)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for name in release.SOURCES:
        (tmp_path / name).write_text(name, encoding="utf-8")
    first = release.sources()
    (tmp_path / "docs.md").write_text("a page", encoding="utf-8")
    assert release.sources() == first
    (tmp_path / "Cargo.lock").write_text("another", encoding="utf-8")
    assert release.sources() != first


def _main(
    parts: list[Artefact],
    place: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *only: str,
) -> tuple[object, str]:
    chosen = [word for name in only for word in ("--only", name)]
    monkeypatch.setattr(release, "ARTEFACTS", parts)
    monkeypatch.setattr(sys, "argv", ["release.py", "--out", str(place.dist), *chosen])
    with pytest.raises(SystemExit) as ended:
        release.main()
    return ended.value.code, capsys.readouterr().out


def test_a_failed_trial_is_named_and_makes_the_status_1(
    place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, told = _main([Part("a", status=3), Part("b")], place, monkeypatch, capsys)
    assert status == 1
    assert "FAILED: a in a root: install it: status 3\nno such library\n" in told
    assert "FAILED: b" not in told


def test_a_part_without_the_one_it_needs_is_named(
    place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = Unmakeable("wheel")
    parts: list[Artefact] = [missing, Part("package", needs=(missing,))]
    status, told = _main(parts, place, monkeypatch, capsys)
    assert status == 1
    assert "FAILED: wheel: cannot be made: no linker\n" in told
    assert "FAILED: package: needs wheel, not made of these sources: make it first\n" in told


def test_a_part_is_not_made_from_one_of_other_sources_or_a_damaged_one(
    place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = Part("wheel")
    package = Part("package", needs=(wheel,))
    refused = "FAILED: package: needs wheel, not made of these sources: make it first\n"
    assert _main([wheel, package], place, monkeypatch, capsys)[0] == 0
    monkeypatch.setattr(release, "sources", lambda: "fedcba987654")
    status, told = _main([wheel, package], place, monkeypatch, capsys, "package")
    assert (status, package.times_made) == (1, 1)
    assert refused in told
    assert _main([wheel, package], place, monkeypatch, capsys)[0] == 0
    assert (wheel.times_made, package.times_made) == (2, 2)
    (place.dist / "wheel.tar").write_text("damaged", encoding="utf-8")
    assert refused in _main([wheel, package], place, monkeypatch, capsys, "package")[1]


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError("readelf"),
        subprocess.CalledProcessError(1, "readelf"),
        ValueError("too many values to unpack"),
    ],
)
@pytest.mark.parametrize("step", ["make", "problems"])
def test_an_error_in_one_part_does_not_end_the_release(
    place: Workshop,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    step: str,
    error: Exception,
) -> None:
    def fails(_: Workshop) -> None:
        raise error

    part = Part("a")
    monkeypatch.setattr(part, step, fails)
    status, told = _main([part, Part("b")], place, monkeypatch, capsys)
    assert status == 1
    assert f"FAILED: a: cannot be made: {error}\n" in told
    assert told.count("FAILED") == 1


def test_sources_that_cannot_be_read_are_an_error_of_the_part(
    place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> str:
        raise FileNotFoundError("git")

    monkeypatch.setattr(release, "sources", fails)
    status, told = _main([Part("a")], place, monkeypatch, capsys)
    assert status == 1
    assert "FAILED: a: cannot be made: git\n" in told


def test_a_trial_that_cannot_run_here_is_listed_with_the_reason(
    place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    part = Part("a")
    monkeypatch.setattr(part, "obstacle", lambda: "no emulator", raising=False)
    monkeypatch.setattr(part, "untried", {"a router": "none at hand"}, raising=False)
    status, told = _main([part], place, monkeypatch, capsys)
    assert status == 0
    assert "not tried: a: no emulator\n" in told
    assert "not tried: a, a router: none at hand\n" in told


def test_a_late_command_does_not_fail_a_walk() -> None:
    def run(command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", f"{trials.LATE}\n")

    (step,) = trials.walk(["airtcp emulate ping"], run)
    assert step.is_late
    assert "late" in str(step)


def test_the_page_holds_its_data() -> None:
    data = json.loads(write_release.DATA.read_text("utf-8"))
    text = write_release.PAGE.read_text("utf-8")
    assert write_release.page(text, data) == text
    names = [one.name for one in artefacts.ARTEFACTS]
    assert list(data["parts"]) == names, "run packaging/release.py and pages/write_release.py"
    for name in names:
        assert f"| {name} |" in text


def test_a_part_left_out_is_named_as_such(
    place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(release, "ARTEFACTS", [Part("a"), Part("b")])
    monkeypatch.setattr(sys, "argv", ["release.py", "--out", str(place.dist), "--only", "b"])
    with pytest.raises(SystemExit) as ended:
        release.main()
    assert ended.value.code == 0
    assert "not tried: a: left out by --only\n" in capsys.readouterr().out
    data = json.loads((place.dist / release.STATE).read_text("utf-8"))
    assert "| a | not made: left out by --only | | |" in write_release.made(data)
    assert "| b | a root | passed | " in write_release.tried(data)
