"""Compares the runs of two builds by their digests, which may not depend on how the core was built.

    python same_digests.py --write FILE     runs the shipped scenarios, and writes their digests
    python same_digests.py FILE             runs them again; status 1 if one differs

The airtcp is the one that this Python finds. A digest covers every delivery of a run.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

SEED = 7
SECONDS = {"lte-iot": 150, "nr-router": 5}
"""Flows of these start late."""
OTHERS_SECONDS = 2


def digests() -> dict[str, str]:
    """The digest of a short run of every shipped scenario, by name."""
    import airtcp

    found = {}
    for one in airtcp.scenarios():
        name = one["name"]
        settings = {"duration": f"{SECONDS.get(name, OTHERS_SECONDS)} s"}
        found[name] = airtcp.run(name, SEED, settings).summary["digest"]
    return found


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """A line for each scenario with another digest; empty if all agree."""
    return [
        f"{name}: digest {found.get(name)}, {expected.get(name)} from the other build"
        for name in sorted({*expected, *found})
        if found.get(name) != expected.get(name)
    ]


def main() -> None:
    """Writes or compares."""
    *options, file = sys.argv[1:]
    if options == ["--write"]:
        Path(file).write_text(json.dumps(digests(), indent=1) + "\n", encoding="utf-8")
        return
    expected = json.loads(Path(file).read_text(encoding="utf-8"))
    if found := differences(expected, digests()):
        raise SystemExit("\n".join(found))
    print(f"{len(expected)} digests are the same")


if __name__ == "__main__":
    main()
