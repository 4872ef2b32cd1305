//! Deployments of the endpoints' remedies, in the order of their table.

use super::{At, Deployment, Setting, Step, Way};

/// The kernels with BBR version 3.
const PATCHED: &str =
    "kernels from its authors' tree (google/bbr, branch v3) or with their patch (XanMod)";

pub(crate) const RTO_FACTOR: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::route("rto_min", Setting::Deviations("factor"))],
)
.instead(
    "a floor under the deviation term: it equals m times the mean deviation measured before, \
     and does not follow it",
)])
.noting(
    "The factor 4 is compiled into Linux. A splitting proxy with its own stack can use the \
     factor itself.",
);

pub(crate) const MIN_RTO: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[Step::sysctl(
            "net.ipv4.tcp_rto_min_us",
            Setting::Microseconds("min"),
        )],
    )
    .since("6.11"),
    Way::new(
        At::Sender,
        &[Step::route("rto_min", Setting::Milliseconds("min"))],
    ),
])
.noting(
    "A route's value wins over the namespace's. Linux puts the floor under the deviation term: \
     its timeout is never below the smoothed RTT plus this. For chosen sockets there is \
     TCP_BPF_RTO_MIN in a sock_ops program, within 8 to 200 ms.",
);

pub(crate) const RTT_SAMPLING: Deployment = Deployment::by(&[Way::BY_ITSELF.when("every", 1)])
    .noting(
        "Linux measures with every acknowledgment, with timestamps or without, and has no setting \
         for it.",
    );

pub(crate) const RTO_DEVIATION: Deployment = Deployment::by(&[Way::BY_ITSELF.when("updated", 0)])
    .noting("Linux takes the mean before the sample, and has no setting for it.");

pub(crate) const EIFEL: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[Step::fixed_sysctl("net.ipv4.tcp_timestamps", "1")],
)])
.noting(
    "This is the default. The response is Linux's own, which restores the windows \
     (tcp_packet_delayed).",
);

pub(crate) const F_RTO: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::fixed_sysctl("net.ipv4.tcp_frto", "2")],
)])
.noting("This is the default.");

pub(crate) const DSACK_UNDO: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[
        Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
        Step::fixed_sysctl("net.ipv4.tcp_dsack", "1"),
    ],
)])
.noting("This is the default; the receiver sends the reports.");

pub(crate) const GO_BACK_N: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::fixed_sysctl("net.ipv4.tcp_frto", "0")],
)])
.noting(
    "On a timeout Linux marks everything lost that was not selectively acknowledged; without \
     F-RTO it retransmits that at once.",
);

pub(crate) const SELECTIVE_REPEAT: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[Step::fixed_sysctl("net.ipv4.tcp_sack", "1")],
)
.instead("one timer a connection: after a timeout all that SACK has not reported counts as lost")]);

pub(crate) const NEWRENO: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[
        Step::fixed_sysctl("net.ipv4.tcp_sack", "0"),
        Step::CongestionControl { name: "reno" },
    ],
)]);

pub(crate) const SACK: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[Step::fixed_sysctl("net.ipv4.tcp_sack", "1")],
)])
.noting("This is the default.");

pub(crate) const RACK_TLP: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[
        Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
        Step::fixed_sysctl("net.ipv4.tcp_recovery", "1"),
        Step::fixed_sysctl("net.ipv4.tcp_early_retrans", "3"),
    ],
)])
.noting("This is the default; the last two matter at the sender alone.");

pub(crate) const COIN: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::BpfCongestionControl {
        name: "coin",
        object: None,
        constant: "radio_per_mille",
        value: Setting::Thousandths("q"),
    }],
)
.since("6.4")])
.noting("A larger factor of reduction comes to the same: (1 - q)/2 + 4/5 q.");

pub(crate) const CUBIC: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::CongestionControl { name: "cubic" }],
)])
.noting("Windows and Apple's systems have it as their default, too.");

pub(crate) const WESTWOOD: Deployment = Deployment::by(&[
    Way::new(At::Sender, &[Step::CongestionControl { name: "westwood" }]),
    Way::new(
        At::Sender,
        &[Step::BpfCongestionControl {
            name: "westwood",
            object: None,
            constant: "",
            value: Setting::Fixed(""),
        }],
    )
    .since("6.4"),
])
.noting("It is a module in most distributions: modprobe tcp_westwood.");

pub(crate) const VENO: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[Step::BpfCongestionControl {
            name: "veno",
            object: None,
            constant: "beta_thousandths",
            value: Setting::Thousandths("beta"),
        }],
    )
    .since("6.4"),
    Way::new(At::Sender, &[Step::CongestionControl { name: "veno" }])
        .instead("the kernel's own, whose beta is 3"),
])
.noting("It is a module in most distributions: modprobe tcp_veno.");

pub(crate) const VEGAS: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[
            Step::CongestionControl { name: "vegas" },
            Step::ModuleParameter {
                module: "tcp_vegas",
                name: "alpha",
                value: Setting::Parameter("alpha"),
            },
            Step::ModuleParameter {
                module: "tcp_vegas",
                name: "beta",
                value: Setting::Parameter("beta"),
            },
        ],
    ),
    Way::new(At::Sender, &[Step::CongestionControl { name: "vegas" }])
        .instead("with the module's own bounds, 2 and 4 unless they were changed"),
])
.noting("It is a module in most distributions: modprobe tcp_vegas.");

pub(crate) const ILLINOIS: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::CongestionControl { name: "illinois" }],
)])
.noting("It is a module in most distributions: modprobe tcp_illinois.");

pub(crate) const HYBLA: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[
            Step::CongestionControl { name: "hybla" },
            Step::ModuleParameter {
                module: "tcp_hybla",
                name: "rtt0",
                value: Setting::Parameter("reference"),
            },
        ],
    ),
    Way::new(At::Sender, &[Step::CongestionControl { name: "hybla" }])
        .instead("with the module's rtt0 unchanged, 25 ms by default"),
])
.noting("It is a module in most distributions: modprobe tcp_hybla.");

pub(crate) const HTCP: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::CongestionControl { name: "htcp" }],
)])
.noting("It is a module in most distributions: modprobe tcp_htcp.");

pub(crate) const YEAH: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::CongestionControl { name: "yeah" }],
)])
.noting("It is a module in most distributions: modprobe tcp_yeah.");

pub(crate) const CDG: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[
            Step::CongestionControl { name: "cdg" },
            Step::ModuleParameter {
                module: "tcp_cdg",
                name: "use_tolerance",
                value: Setting::Parameter("tolerance"),
            },
        ],
    ),
    Way::new(At::Sender, &[Step::CongestionControl { name: "cdg" }])
        .instead("with the module's use_tolerance unchanged, off by default"),
])
.noting("It is a module in most distributions: modprobe tcp_cdg.");

pub(crate) const DCTCP: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[
        Step::CongestionControl { name: "dctcp" },
        Step::fixed_sysctl("net.ipv4.tcp_ecn", "1"),
    ],
)])
.noting(
    "It is a module in most distributions: modprobe tcp_dctcp. RFC 8257 §1 keeps it off the \
     Internet: in a queue that marks rarely it takes other flows' share.",
);

pub(crate) const BBR: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::CongestionControl { name: "bbr" }],
)])
.noting("It is a module in most distributions: modprobe tcp_bbr.");

pub(crate) const BBR_V3: Deployment = Deployment::by(&[
    Way::new(At::Sender, &[Step::CongestionControl { name: "bbr3" }]).only_in(PATCHED),
    Way::new(At::Sender, &[Step::CongestionControl { name: "bbr" }])
        .only_in(PATCHED)
        .with_module("tcp_bbr", "3"),
])
.noting(
    "Linux itself has version 1. Which version a kernel's bbr is, the module says once it is \
     loaded: /sys/module/tcp_bbr/version.",
);

pub(crate) const HYSTART: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[
        Step::CongestionControl { name: "cubic" },
        Step::ModuleParameter {
            module: "tcp_cubic",
            name: "hystart",
            value: Setting::Fixed("1"),
        },
    ],
)])
.noting("This is the default of CUBIC, and holds for all namespaces of a machine.");

pub(crate) const PACING: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[Step::Qdisc {
            words: "fq",
            value: Setting::Fixed(""),
        }],
    ),
    Way::new(
        At::Sender,
        &[Step::SocketOption {
            name: "SO_MAX_PACING_RATE",
            value: Setting::Fixed("18446744073709551614"),
        }],
    ),
]);

pub(crate) const SMALL_QUEUE: Deployment = Deployment::by(&[Way::new(At::Sender, &[])
    .instead("with the shift that the driver asks for, 7 unless it says otherwise")])
.noting("The shift is compiled into the driver.");

pub(crate) const WSC_BEST_START: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::route("initcwnd", Setting::Parameter("window"))],
)])
.noting("Add a route for this peer only.");

pub(crate) const DUPACK_THRESHOLD: Deployment = Deployment::by(&[
    Way::new(
        At::Sender,
        &[
            Step::sysctl("net.ipv4.tcp_reordering", Setting::Parameter("segments")),
            Step::fixed_sysctl("net.ipv4.tcp_recovery", "0"),
        ],
    ),
    Way::new(
        At::Sender,
        &[
            Step::route("reordering", Setting::Parameter("segments")),
            Step::fixed_sysctl("net.ipv4.tcp_recovery", "0"),
        ],
    ),
])
.noting(
    "This is where the threshold begins; it adapts upwards to net.ipv4.tcp_max_reordering. \
     RACK, the default, decides by time instead and is off here.",
);

pub(crate) const LIMITED_TRANSMIT: Deployment = Deployment::by(&[Way::BY_ITSELF.when("on", 1)])
    .noting("Linux has no setting that turns it off.");

pub(crate) const INITIAL_WINDOW: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::route("initcwnd", Setting::Parameter("segments"))],
)])
.noting(
    "Ten is the default. The peer's window must allow it: there, ip route change ROUTE \
     initrwnd with the same value.",
);

pub(crate) const MAX_WINDOW: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::sysctl(
        "net.ipv4.tcp_wmem",
        Setting::BufferSizes {
            first: 16_384,
            parameter: "segments",
            unit: 1448,
        },
    )],
)
.instead(
    "a send buffer of as many full segments, which a blocked writer fills again once a third \
     of it is free",
)])
.noting(
    "No setting of Linux bounds the congestion window itself: the route attribute cwnd lock is \
     read only for destinations that are remembered from earlier connections, and a receiver's \
     clamp (the attribute window, TCP_WINDOW_CLAMP) of 20 segments lets twice as many be in \
     flight.",
);

pub(crate) const TIMESTAMPS: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[Step::sysctl(
        "net.ipv4.tcp_timestamps",
        Setting::Parameter("on"),
    )],
)])
.noting("1 is the default.");

pub(crate) const FAST_OPEN: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[
        Step::fixed_sysctl("net.ipv4.tcp_fastopen", "3"),
        Step::SocketOption {
            name: "TCP_FASTOPEN_CONNECT",
            value: Setting::Fixed("1"),
        },
        Step::SocketOption {
            name: "TCP_FASTOPEN",
            value: Setting::Fixed("1024"),
        },
    ],
)])
.noting(
    "The sysctl alone changes nothing, the programs have to take part: the one that connects sets \
     TCP_FASTOPEN_CONNECT before connect(2) and writes at once, or sends by sendto(2) with \
     MSG_FASTOPEN; the other sets TCP_FASTOPEN, its limit on pending requests, on the listening \
     socket. Harm: a server may be given the data of a SYN twice (RFC 7413 §2.1 and §6.1), so \
     that \
     only a request that may be repeated belongs there, such as a GET or a TLS hello; a middlebox \
     may drop SYNs with the option or with data (§7.1), which costs the first timeout, 1 s, \
     before the SYN is retransmitted without them; and the same cookie in each SYN makes a client \
     recognizable.",
);

pub(crate) const NODELAY: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::SocketOption {
        name: "TCP_NODELAY",
        value: Setting::Fixed("1"),
    }],
)])
.noting(
    "Better still, the program writes each message at once: writev(2), or TCP_CORK around the \
     parts.",
);

pub(crate) const MTU_PROBING: Deployment = Deployment::by(&[Way::new(
    At::Sender,
    &[Step::fixed_sysctl("net.ipv4.tcp_mtu_probing", "1")],
)])
.noting(
    "A connection finds the hole after its first timeouts, so that the first transfer still \
     waits some seconds. No model of a path here has an MTU: in a simulation it changes \
     nothing.",
);

pub(crate) const DSACK: Deployment = Deployment::by(&[Way::new(
    At::BothEnds,
    &[
        Step::sysctl("net.ipv4.tcp_dsack", Setting::Parameter("on")),
        Step::fixed_sysctl("net.ipv4.tcp_sack", "1"),
    ],
)])
.noting("1 is the default.");

pub(crate) const RECEIVE_WINDOW: Deployment = Deployment::by(&[Way::new(
    At::Receiver,
    &[Step::route("window", Setting::Parameter("bytes"))],
)
.instead("a clamp of the window; Linux may advertise up to twice as much")])
.noting("A program can set SO_RCVBUF or TCP_WINDOW_CLAMP on its socket.");

pub(crate) const RECEIVE_BUFFER: Deployment = Deployment::by(&[Way::new(
    At::Receiver,
    &[Step::sysctl(
        "net.ipv4.tcp_rmem",
        Setting::BufferSizes {
            first: 131_072,
            parameter: "bytes",
            unit: 1,
        },
    )],
)])
.noting(
    "The sysctl's third number is the largest that the kernel lets a buffer grow to; a program \
     that sets SO_RCVBUF itself switches that growth off, and is bounded by net.core.rmem_max: \
     there the program has to ask for more or not at all.",
);
