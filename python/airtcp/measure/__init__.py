"""Measuring a real link: round trips idle and under load, goodput, responsiveness.

- `wire`: what a measurement and its peer say to each other.
- `peer`: the other end, `airtcp serve --measure`.
- `bounds`: how long and how much a measurement may send.
- `load`: connections that fill the link, with probes of their own inside.
- `probes`: echo requests and new connections beside the load.
- `responsiveness`: round trips a minute, and when a measurement is stable.
- `phase`, `measurement`: the link idle, then loaded one way after the other.
- `source`: what loads and probes have in common, whatever is at the other end.
- `https`: the same against a server of draft-ietf-ippm-responsiveness.
- `iperf3`: the same against an iperf3 server, by its client.
- `link`: what was measured as a scenario.
"""
