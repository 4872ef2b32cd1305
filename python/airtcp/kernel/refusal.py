"""Reasons that airtcp-net and the kernel's verifier give, with remedies for frequent ones."""

import re

_REMEDIES = {
    "invalid bpf_context access off=24": "before Linux 6.10 cong_control takes (sk, sample); "
    "sample_of in bpf/examples/paced.bpf.c takes both",
    "unbounded memory access|min value is negative|outside of the allowed memory range|"
    "invalid access to map value": "the verifier has to see the bound of an index; compare it "
    "after barrier_var, as steer in bpf/policy.h does",
    "infinite loop detected|back-edge|program is too large|jumps is too complex": "bound the loop "
    "by a constant",
}
"""Remedies by an expression for the verifier's words."""


def reason(stderr: str) -> str:
    """The reason given by airtcp-net: the last line of its output, with a remedy if known."""
    lines = stderr.strip().splitlines()
    if not lines:
        return "no reason was given"
    text = lines[-1].removeprefix("airtcp-net: ")
    remedies = (remedy for words, remedy in _REMEDIES.items() if re.search(words, text))
    return "; ".join([text, *remedies])
