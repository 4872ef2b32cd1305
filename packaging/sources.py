"""Names the state of files of the checkout, committed or not."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path


def digest_of(root: Path, paths: Sequence[str]) -> str:
    """The digest of files and folders of a checkout, as git's of a folder."""
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        git(root, "add", "--all", "--", *paths, **index)
        return git(root, "write-tree", **index)


def git(root: Path, *arguments: str, **variables: str) -> str:
    """The output of a command of git in a checkout."""
    environment = {**os.environ, **variables}
    told = subprocess.run(
        ["git", *arguments], cwd=root, env=environment, check=True, capture_output=True, text=True
    )
    return told.stdout.strip()
