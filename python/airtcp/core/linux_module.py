"""A congestion control of a kernel tree (`net/ipv4/tcp_*.c`) as the source of a BPF program.

The file is compiled as it is, with headers that stand for the kernel's (`bpf/linux/include`), and a
table of operations that call the module's.
"""

import re
from pathlib import Path

from airtcp._core import ScenarioError

_TABLE = re.compile(
    r"struct\s+tcp_congestion_ops\s+(?P<variable>\w+)[^;={]*=\s*\{(?P<members>[^}]*)\}\s*;"
)
_MEMBER = re.compile(r"\.(\w+)\s*=\s*([^,\n]+)")
_REGISTERED = re.compile(r"tcp_register_congestion_control\(\s*&(\w+)\s*\)")
_ENTRY = re.compile(r"module_init\(\s*(\w+)\s*\)")
_BESIDE = re.compile(r'#include\s+"(tcp_\w+)\.h"')

_OPERATIONS = {
    "ssthresh": ("__u32", ""),
    "cong_avoid": ("void", "__u32 ack, __u32 acked"),
    "set_state": ("void", "__u8 state"),
    "cwnd_event": ("void", "enum tcp_ca_event event"),
    "in_ack_event": ("void", "__u32 flags"),
    "pkts_acked": ("void", "const struct ack_sample *sample"),
    "min_tso_segs": ("__u32", ""),
    "cong_control": ("void", "__u32 ack, int flag, const struct rate_sample *rs"),
    "undo_cwnd": ("__u32", ""),
    "release": ("void", ""),
}
"""Result and parameters after the socket of each operation that a program may have, but `init`."""


def is_module(path: Path) -> bool:
    """Whether a source is a congestion control of a kernel tree, not a BPF program.

    >>> is_module(Path("my.bpf.c"))
    False
    """
    return path.name.startswith("tcp_") and _REGISTERED.search(_read(path)) is not None


def source(path: Path) -> str:
    """The program's source, which includes the module's.

    Raises:
        ScenarioError: the module registers no table of operations.
    """
    text = _read(path)
    registered = _REGISTERED.search(text)
    tables = {found["variable"]: found["members"] for found in _TABLE.finditer(text)}
    if registered is None or registered[1] not in tables:
        raise ScenarioError(f"{path}: expected a module with a struct tcp_congestion_ops")
    members = dict(_MEMBER.findall(tables[registered[1]]))
    entry = _ENTRY.search(text)
    alone = "const struct rate_sample" in _parameters(text, members.get("cong_control", ""), 1)
    lines = ["#define AIRTCP_SAMPLE_ALONE"] if alone else []
    lines += ["#include <net/tcp.h>"]
    lines += [f'#include "{other}"' for other in _others(path, text)]
    lines += [
        f'#include "{path}"',
        "#undef tcp_congestion_ops",
        "struct tcp_congestion_ops { OPERATIONS };",
        'char _license[] SEC("license") = "GPL";',
        'SEC("struct_ops") void BPF_PROG(module_start, struct sock *sk)',
        "{",
        f"\t{entry[1]}();" if entry else "",
        # No limit but the interpreter's.
        "\ttcp_sk(sk)->snd_cwnd_clamp = ~0U;",
        f"\t{members['init'].strip()}(sk);" if "init" in members else "",
        "}",
    ]
    table = [".init = (void *)module_start,", f".name = {members['name'].strip()},"]
    for name, (result, parameters) in _OPERATIONS.items():
        if name not in members:
            continue
        given = parameters
        if alone and name == "cong_control":
            given = "const struct rate_sample *rs"
        names = re.findall(r"(\w+)(?:,|$)", given)
        call = f"{members[name].strip()}({', '.join(['sk', *names])})"
        declared = ", ".join(filter(None, ["struct sock *sk", given]))
        lines.append(
            f'SEC("struct_ops") {result} BPF_PROG(module_{name}, {declared}) '
            f"{{ {'' if result == 'void' else 'return '}{call}; }}"
        )
        table.append(f".{name} = (void *)module_{name},")
    lines += [
        'SEC(".struct_ops.link") struct tcp_congestion_ops airtcp_module = {',
        *table,
        "};",
    ]
    return "\n".join([*lines, ""])


def _read(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _parameters(text: str, function: str, number: int) -> str:
    """The parameter of this number, from 0, of a function that is defined in the text."""
    found = re.search(rf"\b{re.escape(function.strip())}\(([^)]*)\)\s*\{{", text)
    parameters = found[1].split(",") if found and function else []
    return parameters[number] if number < len(parameters) else ""


def _others(path: Path, text: str) -> list[Path]:
    """Sources of the tree that the module calls: the filter of BBR, Vegas for YeAH."""
    folder = path.parent
    named = [folder / f"{name}.c" for name in _BESIDE.findall(text)]
    if "<linux/win_minmax.h>" in text:
        named.append(folder.parent.parent / "lib" / "win_minmax.c")
    return [one for one in named if one != path and one.is_file()]
