"""The training of a profile: by the Python package, and the programs of `make bench`.

Both run the same training (training.py). Functions that are compiled anew for each program, such as
the event loop for one kind of observer, have counts of their own in each.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import training
from contents import SHIPPED
from programs import ROOT
from targets import here

BENCHED = ("lossy-pipe", "bare-loop")
_PACKAGE = "package"
_BARE = ("--packets=100000", "--in-flight=120", "--acknowledgments=70000", "--timer-us=4000")


def build_benched(variables: Mapping[str, str]) -> Path:
    """Builds the programs of `make bench` with the release profile; returns their folder.

    Args:
        variables: the environment, with cargo's folder in it.
    """
    command = ["cargo", "build", "--quiet", "--release", "--package", "airtcp-throughput"]
    # Where a target is named, flags do not apply to programs that run during the build.
    command += ["--target", here(), *(f"--bin={program}" for program in BENCHED)]
    subprocess.run(command, check=True, cwd=ROOT, env=variables)
    return Path(variables["CARGO_TARGET_DIR"]) / here() / "release"


def build(folder: Path, variables: Mapping[str, str]) -> None:
    """Builds all for this machine, and unpacks it in a folder."""
    command = ["maturin", "build", "--quiet", "--profile", "release", "--target", here()]
    command += ["--compatibility", "linux", "--out", folder]
    subprocess.run(command, cwd=ROOT, check=True, env=variables)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as files:
        files.extractall(folder / _PACKAGE)
    data = folder / _PACKAGE / "airtcp" / "data"
    data.mkdir(exist_ok=True)
    for kind in SHIPPED:
        (data / kind).symlink_to(ROOT / kind)
    built = build_benched(variables)
    for program in BENCHED:
        shutil.copy(built / program, folder)


def train(folder: Path, variables: Mapping[str, str]) -> None:
    """Runs the training with the output of `build` in a folder."""
    before = variables.get("PYTHONPATH")
    found = os.pathsep.join([str(folder / _PACKAGE), *([before] if before else [])])
    script = [sys.executable, ROOT / "packaging" / "training.py", folder / "trained"]
    _run(script, {**variables, "PYTHONPATH": found})
    for run in training.RUNS:
        settings = (f"--set={key}={value}" for key, value in run.keys.items())
        words = [f"--scenario={training.scenario(run.scenario)}", f"--seed={training.SEED}"]
        _run([folder / "lossy-pipe", *words, *settings], variables)
    for draws in ((), ("--draws",)):
        _run([folder / "bare-loop", *_BARE, *draws], variables)


def _run(words: Sequence[str | Path], variables: Mapping[str, str]) -> None:
    subprocess.run(words, check=True, cwd=ROOT, env=variables, stdout=subprocess.DEVNULL)
