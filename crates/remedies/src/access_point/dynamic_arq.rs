//! TCP-aware dynamic ARQ.

use airtcp_link::agent::AgentConfig;
use airtcp_link::agent::information_box::{InformationBoxConfig, PassiveMethod};
use airtcp_link::scheduler::deadline::{Counted, DeadlineOrder, Weighed};
use airtcp_units::Duration;

use crate::{Changes, Deployment, MediumChange, Parameter, Place, Quantity, Remedy, Values};

pub(crate) const REMEDY: Remedy = Remedy {
    name: "dynamic-arq",
    place: Place::AccessPoint,
    effect: "retransmits first the packets whose senders are closest to timing out, and drops \
             those already timed out",
    source: "Mahmoodi, Friderikos, Holland & Aghvami, VTC 2007, §III-A",
    parameters: &[
        Parameter {
            name: "timestamps",
            unit: "",
            default: Quantity::Count(0),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1),
            effect: "1: round trips are read from timestamps; 0: from data and acknowledgments",
        },
        Parameter {
            name: "tick",
            unit: "",
            default: Quantity::Time(Duration::from_millis(500)),
            minimum: Quantity::Time(Duration::from_nanos(1)),
            maximum: Quantity::Time(Duration::from_secs(1)),
            effect: "clock tick with timestamps = 1; the paper's is 500 ms",
        },
        Parameter {
            name: "floor",
            unit: "",
            default: Quantity::Time(Duration::from_millis(500)),
            minimum: Quantity::Time(Duration::ZERO),
            maximum: Quantity::Time(Duration::from_secs(60)),
            effect: "the shortest timeout that a sender is believed to have",
        },
        Parameter {
            name: "urgent",
            unit: "round trips",
            default: Quantity::Count(2),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1000),
            effect: "with less time left than this a packet goes before all others",
        },
        Parameter {
            name: "fresh",
            unit: "",
            default: Quantity::Count(1),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(255),
            effect: "how many of the retry queues go before packets that were never sent",
        },
        Parameter {
            name: "retries",
            unit: "",
            default: Quantity::Count(3),
            minimum: Quantity::Count(1),
            maximum: Quantity::Count(255),
            effect: "N_ret, the most retransmissions of a packet, and the number of retry queues",
        },
        Parameter {
            name: "weighs",
            unit: "",
            default: Quantity::Count(1),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(2),
            effect: "meaning of the RTO in a packet's weight: 1: the time left on its sender's \
                     timer; 2: the timer's length; 0: unused, so that only the retry queues count",
        },
        Parameter {
            name: "expire",
            unit: "",
            default: Quantity::Count(1),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1),
            effect: "1: a packet whose sender's timer has expired is dropped; 0: it is still sent",
        },
        Parameter {
            name: "per-packet",
            unit: "",
            default: Quantity::Count(0),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1),
            effect: "0: the limit applies to each frame of a packet, as in the usual scheme; 1: to \
                     all its frames together",
        },
        Parameter {
            name: "window",
            unit: "ms a segment",
            default: Quantity::Count(0),
            minimum: Quantity::Count(0),
            maximum: Quantity::Count(1000),
            effect: "how much less of its time left a packet's weight has for each segment that \
                     its sender has in flight (§V): a timeout costs a large window more",
        },
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
