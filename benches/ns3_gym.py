#!/usr/bin/env python3
"""Measures the steps a second of ns3-gym's TCP example on a link of 10 Mbit/s and 50 ms.

`benches/gym.py --ns3-gym PYTHON TREE` runs it beside ours. It needs ns-3 (Debian: libns3-dev,
libzmq3-dev, cppzmq-dev, libprotobuf-dev, protobuf-compiler), a checkout of
github.com/tkn-tub/ns3-gym, branch app-ns-3.36+, and a Python with its packages:

    python3.11 -m venv v && v/bin/pip install 'numpy<1.24' gym==0.26.2 pyzmq 'protobuf<4.22'
    v/bin/python benches/ns3_gym.py TREE

Nothing of the checkout is changed: its C++ files are compiled into a temporary folder without
ns-3's build system. The example's sender gets a fixed window, which fills the link, in each step.
Prints a line of JSON: steps, and the processor time of both processes.
"""

import json
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCES = (
    *(f"model/{name}.cc" for name in ("container", "opengym_env", "opengym_interface", "spaces")),
    "helper/opengym-helper.cc",
    *(f"examples/rl-tcp/{name}.cc" for name in ("tcp-rl-env", "tcp-rl", "sim")),
)
HEADERS = ("container", "opengym_env", "opengym_interface", "spaces", "opengym-helper")
MODULES = (
    *("core", "network", "internet", "point-to-point", "point-to-point-layout", "applications"),
    *("flow-monitor", "traffic-control"),
)
STEP_S = 0.05
SIMULATED_S = 150
"""Simulated time; a step takes 50 ms of it."""
SEGMENT = 1440
WINDOW = 64
"""Segments: 43 fill the link, the others wait at it."""


def build(tree: Path, folder: Path) -> Path:
    """Compiles the example, and the messages' Python module; returns the program."""
    includes = folder / "ns3"
    includes.mkdir()
    for header in [*tree.glob("model/*.h"), *tree.glob("helper/*.h")]:
        shutil.copy(header, includes)
    lines = (f'#include "ns3/{name}.h"' for name in HEADERS)
    (includes / "opengym-module.h").write_text("\n".join(lines) + "\n")
    package = folder / "ns3gym"
    shutil.copytree(tree / "model" / "ns3gym" / "ns3gym", package)
    model = tree / "model"
    subprocess.run(
        ["protoc", f"--cpp_out={includes}", f"--python_out={package}", "messages.proto"],
        cwd=model,
        check=True,
    )
    program = folder / "sim"
    sources = [*(tree / source for source in SOURCES), includes / "messages.pb.cc"]
    libraries = [*(f"-lns3-{module}" for module in MODULES), "-lzmq", "-lprotobuf"]
    command = ["g++", "-std=c++17", "-O3", "-DNDEBUG", f"-I{folder}", f"-I{includes}"]
    subprocess.run([*command, *map(str, sources), "-o", str(program), *libraries], check=True)
    return program


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def children_s() -> float:
    """Processor time of the children so far, compilers among them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(program: Path) -> dict[str, float]:
    """Steps, the processor time of both processes, and the goodput in Mbit/s."""
    from ns3gym import ns3env

    compilers = children_s()
    port = free_port()
    with (program.parent / "sim.log").open("w") as log:
        simulation = subprocess.Popen(
            [
                str(program),
                f"--openGymPort={port}",
                "--transport_prot=TcpRlTimeBased",
                f"--envTimeStep={STEP_S}",
                "--bottleneck_bandwidth=10Mbps",
                "--bottleneck_delay=5ms",
                "--access_bandwidth=100Mbps",
                "--access_delay=10ms",
                "--mtu=1500",
                f"--duration={SIMULATED_S}",
            ],
            stdout=log,
            stderr=log,
        )
        environment = ns3env.Ns3Env(port=port, stepTime=STEP_S, startSim=False, simSeed=1)
        environment.reset()
        steps, acknowledged, done = 0, 0, False
        begin = time.process_time()
        while not done:
            observation, _, done, _ = environment.step([0, WINDOW * SEGMENT])
            steps += 1
            acknowledged += int(observation[9])
        own = time.process_time() - begin
        environment.close()
        simulation.wait()
    return {
        "steps": steps,
        "cpu_s": own + children_s() - compilers,
        "goodput_mbps": acknowledged * SEGMENT * 8 / (steps * STEP_S) / 1e6,
    }


def main() -> None:
    """Builds, measures, and prints."""
    tree = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(tree, folder)
        # This folder has a gym.py, which is not the package.
        sys.path[0] = str(folder)
        words = sys.stdout
        sys.stdout = sys.stderr
        result = measured(program)
        sys.stdout = words
        print(json.dumps(result))


if __name__ == "__main__":
    main()
