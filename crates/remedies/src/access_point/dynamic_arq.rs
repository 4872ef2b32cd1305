//! TCP-aware dynamic ARQ.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::information_box::{InformationBoxConfig, PassiveMethod};
use airtcp_link::scheduler::deadline::{Counted, DeadlineOrder, Weighed};
use airtcp_units::Duration;

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dynamic-arq",
    place: Place::AccessPoint,
    effect: "retransmits first the packets whose senders are closest to timing out, and drops \
             those already timed out",
    source: "Mahmoodi, Friderikos, Holland & Aghvami, VTC 2007, §III-A",
    parameters: &[
        Parameter::switch(
            "timestamps",
            0,
            "1: round trips are read from timestamps; 0: from data and acknowledgments",
        ),
        Parameter::time(
            "tick",
            Duration::from_millis(500),
            (Duration::from_nanos(1), Duration::from_secs(1)),
            "clock tick with timestamps = 1; the paper's is 500 ms",
        ),
        Parameter::time(
            "floor",
            Duration::from_millis(500),
            (Duration::ZERO, Duration::from_secs(60)),
            "the shortest timeout that a sender is believed to have",
        ),
        Parameter::count(
            "urgent",
            "round trips",
            2,
            (0, 1000),
            "with less time left than this a packet goes before all others",
        ),
        Parameter::count(
            "fresh",
            "",
            1,
            (0, 255),
            "how many of the retry queues go before packets that were never sent",
        ),
        Parameter::count(
            "retries",
            "",
            3,
            (1, 255),
            "N_ret, the most retransmissions of a packet, and the number of retry queues",
        ),
        Parameter::count(
            "weighs",
            "",
            1,
            (0, 2),
            "meaning of the RTO in a packet's weight: 1: the time left on its sender's \
             timer; 2: the timer's length; 0: unused, so that only the retry queues count",
        ),
        Parameter::switch(
            "expire",
            1,
            "1: a packet whose sender's timer has expired is dropped; 0: it is still sent",
        ),
        Parameter::switch(
            "per-packet",
            0,
            "0: the limit applies to each frame of a packet, as in the usual scheme; 1: to \
             all its frames together",
        ),
        Parameter::count(
            "window",
            "ms a segment",
            0,
            (0, 1000),
            "how much less of its time left a packet's weight has for each segment that \
             its sender has in flight (§V): a timeout costs a large window more",
        ),
    ],
    deployment: Deployment::none(
        "It belongs into the access point's driver, and no driver has it. airtcp gateway \
         dynamic-arq marks the packets that are urgent (docs/guides/gateway.md).",
    ),
    decides: "the order of retransmissions at the access point",
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.install(AgentConfig::Information(InformationBoxConfig {
        method: if values.is_on("timestamps") {
            PassiveMethod::Timestamps {
                tick: values.time("tick"),
            }
        } else {
            PassiveMethod::SelfClocking
        },
        timeout_floor: values.time("floor"),
        ..InformationBoxConfig::default()
    }));
    changes.medium(MediumChange::Order(DeadlineOrder {
        urgent_round_trips: values.count("urgent"),
        retransmissions: values.count("retries"),
        ahead_of_fresh: values.count("fresh"),
        weighed: match values.count("weighs") {
            0 => Weighed::Nothing,
            1 => Weighed::TimeLeft,
            _ => Weighed::Length,
        },
        drops_expired: values.is_on("expire"),
        counted: if values.is_on("per-packet") {
            Counted::Packet
        } else {
            Counted::Frame
        },
        window_weight: Duration::from_millis(u64::from(values.count("window"))),
    }));
}
