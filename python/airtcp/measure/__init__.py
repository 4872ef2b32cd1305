"""Measuring a real link: round trips idle and under load, goodput, responsiveness.

- `wire`: the protocol between a measurement and its peer.
- `peer`: the other end, `airtcp serve --measure`.
- `bounds`: time and byte budget of a measurement.
- `load`: connections that fill the link, with probes inside them.
- `probes`: echo requests and new connections under load.
- `responsiveness`: round trips a minute, and when a measurement is stable.
- `phase`, `measurement`: the link idle, then loaded in each direction.
- `source`: the interface of loads and probes for every kind of server.
- `https`: the source for a server of draft-ietf-ippm-responsiveness.
- `iperf3`: the source for an iperf3 server, by its client.
- `link`: the measured link as a scenario.
"""
