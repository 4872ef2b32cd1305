"""Builds guided by a profile: how often each branch was taken in training (rustc's PGO).

The package is built with counters for this machine and trained (trained.py), and its counts are
merged into `target/profile-guided`, named by sources and compiler; the newest is kept, and what was
built with it, in `target/guided`. One profile serves every target:
counters are on code that hardly depends on the processor yet, and rustc_by_name.py keeps the
functions' names. A function has no counts for another target if its name contains a type of the
standard library, or its branches differ; it is then built as without a profile. Nearly all counts
of TCP, links and the network apply to musl, and most of them to aarch64.

Functions that the training never called are left out of the profile (`--sparse`): LLVM would
optimise them for size, although they may only be missing in the training.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import trained
from programs import ROOT, environment, metadata
from sources import digest_of
from targets import Target, here

COUNTING = "counting"
"""The folder of builds with counters; their flags never change, and each overwrites the last."""
REMEDY = "rustup component add llvm-tools"
SOURCES = ("Cargo.lock", "Cargo.toml", "benches/throughput", "crates", "recordings", "scenarios")
SOURCES += tuple(
    f"packaging/{name}.py" for name in ("profile_guided", "rustc_by_name", "trained", "training")
)
"""Files that enter a profile."""


class AbsentError(Exception):
    """There can be no profile here; the message has the reason and the remedy."""


def _printed(*command: str) -> str:
    # In the checkout, as cargo: rustup may have another toolchain for another folder.
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()
    )
    return done.stdout.strip()


def merger() -> Path:
    """llvm-profdata of rustc's LLVM, since that of another version cannot read the counts.

    Raises:
        AbsentError: it is not installed.
    """
    tools = Path(_printed("rustc", "--print", "sysroot")) / "lib" / "rustlib"
    for found in tools.glob("*/bin/llvm-profdata"):
        return found
    raise AbsentError(f"no llvm-profdata of rustc's LLVM: {REMEDY}")


def obstacle() -> str | None:
    """Why nothing can be guided here, with the remedy; None if it can."""
    try:
        merger()
    except AbsentError as reason:
        return str(reason)
    return None


def key(sources: str, compiler: str) -> str:
    """The name of a profile, which changes with sources, compiler and machine."""
    parts = "\n".join((sources, compiler, here()))
    return hashlib.sha256(parts.encode()).hexdigest()[:16]


def _target() -> Path:
    return Path(metadata("--no-deps")["target_directory"])


SEPARATOR = "\x1f"
"""Between the flags in CARGO_ENCODED_RUSTFLAGS: paths in flags may have blanks."""


def _given() -> list[str]:
    """The caller's flags of rustc, by cargo's rule: the first variable that is set counts."""
    encoded = os.environ.get("CARGO_ENCODED_RUSTFLAGS")
    if encoded is None:
        return os.environ.get("RUSTFLAGS", "").split()
    return encoded.split(SEPARATOR) if encoded else []


def _variables(name: str, *flags: str) -> dict[str, str]:
    """The environment in which cargo builds with these flags of rustc, for any target.

    Args:
        name: of the folder in `target/guided`.
        flags: of rustc.
    """
    # The release profile of Cargo.toml: the name of a profile depends on no other.
    variables = {
        key: value
        for key, value in environment().items()
        if not key.startswith("CARGO_PROFILE_RELEASE_") and key != "RUSTFLAGS"
    }
    # These names have no hash of the types of the target's standard library.
    every = [*_given(), "-Csymbol-mangling-version=v0", *flags]
    return {
        **variables,
        # Apart from plain builds of the same crates.
        "CARGO_TARGET_DIR": str(_target() / "guided" / name),
        "RUSTC_WRAPPER": str(ROOT / "packaging" / "rustc_by_name.py"),
        "CARGO_ENCODED_RUSTFLAGS": SEPARATOR.join(every),
    }


def profile() -> Path:
    """The profile of these sources, trained unless it was before.

    Raises:
        AbsentError: llvm-profdata is not installed.
    """
    merge, folder = merger(), _target() / "profile-guided"
    kept = folder / f"{key(digest_of(ROOT, SOURCES), _printed('rustc', '-vV'))}.profdata"
    if kept.exists():
        return kept
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        # Counters are placed before crates are joined, which would take most of the time.
        counting = _variables(COUNTING, "-Cprofile-generate") | {"CARGO_PROFILE_RELEASE_LTO": "off"}
        trained.build(place, counting)
        counts = place / "counts"
        trained.train(place, {**os.environ, "LLVM_PROFILE_FILE": f"{counts}/%m.profraw"})
        merged = place / kept.name
        _printed(str(merge), "merge", "--sparse", "--output", str(merged), str(counts))
        merged.replace(kept)
    forget_others(kept)
    return kept


def forget_others(kept: Path) -> None:
    """Removes all other profiles, and what was built with them, which no later build can use."""
    for other in kept.parent.glob("*.profdata"):
        if other != kept:
            other.unlink()
    for built in (kept.parent.parent / "guided").glob("*"):
        if built.is_dir() and built.name not in {COUNTING, kept.stem}:
            shutil.rmtree(built)


def guided(of: Target | None = None) -> dict[str, str]:
    """The environment in which cargo builds with the profile.

    Args:
        of: None builds for this machine's system.

    Raises:
        AbsentError: llvm-profdata is not installed.
    """
    counts = profile()
    flags = [f"-Cprofile-use={counts}"]
    if of is not None and of.triple != here():
        # Here, a function with other branches than in training would be an error.
        flags.append("-Cllvm-args=-no-pgo-warn-mismatch")
    return _variables(counts.stem, *flags)
