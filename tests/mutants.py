"""A table of mutants by file, from the results of cargo-mutants.

    cargo mutants -p airtcp-tcp -f crates/tcp/src/recovery/undo.rs -- --tests
    python3 tests/mutants.py mutants.out [more folders]

Prints the rows of the files that were mutated, and every mutant that no test has caught.
"""

import json
import sys
from collections import Counter
from pathlib import Path

COLUMNS = {"CaughtMutant": 0, "Timeout": 1, "MissedMutant": 2, "Unviable": 3}


def outcomes(folder: Path) -> list[tuple[str, str, str]]:
    """File, mutant and verdict of each mutant of a run."""
    found = []
    for outcome in json.loads((folder / "outcomes.json").read_text(encoding="utf-8"))["outcomes"]:
        mutant = outcome["scenario"]
        if isinstance(mutant, dict):
            mutant = mutant["Mutant"]
            found.append((mutant["file"], mutant["name"], outcome["summary"]))
    return found


def main(folders: list[Path]) -> int:
    """Prints the table; the last folder that mutated a file decides."""
    if not folders:
        print("name the folders that cargo-mutants wrote, such as mutants.out", file=sys.stderr)
        return 2
    by_file: dict[str, list[tuple[str, str]]] = {}
    for folder in folders:
        run = outcomes(folder)
        for file in {file for file, _, _ in run}:
            by_file[file] = [(name, verdict) for of, name, verdict in run if of == file]
    for file in sorted(by_file):
        counts = Counter(COLUMNS[verdict] for _, verdict in by_file[file])
        print(f"| `{file}` | " + " | ".join(str(counts[column]) for column in range(4)) + " |")
    for file in sorted(by_file):
        for name, verdict in by_file[file]:
            if verdict == "MissedMutant":
                print(f"missed: {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
