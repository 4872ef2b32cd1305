//! Schedules of the receiver's acknowledgments.

use airtcp_units::Duration;

use crate::choices::ACKNOWLEDGMENTS;
use crate::deployment::{At, Setting, Step, Way};
use crate::key::key;
use crate::{Changes, Deployment, Key, Parameter, Place, Quantity, Remedy};

use Quantity::{Count, Time};

const SEGMENTS: Key = key!(delayed_ack: DelayedAckTable, segments);

const fn schedule(name: &'static str) -> Remedy {
    Remedy::new(name, Place::Receiver).decides(ACKNOWLEDGMENTS)
}

/// Otherwise each train that is read would be acknowledged, however few its segments are (a train
/// ends with a pushed one), and each segment while the window grows.
fn by_schedule_alone(to: &mut Changes<'_>) {
    let ack = &mut to.tcp.delayed_ack;
    (ack.on_reading, ack.on_growth) = (false, false);
}

pub(crate) const DELAYED_ACK: Remedy = schedule("delayed-ack")
    .effect("acknowledges every n-th segment, or after a delay")
    .from("RFC 1122 §4.2.3.2, RFC 5681 §4.2")
    .takes(&[
        Parameter::key("segments", SEGMENTS, Count(1)).in_unit("segments"),
        Parameter::key(
            "timeout",
            key!(delayed_ack: DelayedAckTable, timeout),
            Time(Duration::from_millis(40)),
        )
        .within(
            Time(Duration::from_millis(1)),
            Time(Duration::from_millis(500)),
        )
        .advised("RFC 1122: below 500 ms"),
    ])
    .sets(|_, to| by_schedule_alone(to))
    .by(Deployment::by(&[
        Way::new(
            At::Receiver,
            &[Step::route("quickack", Setting::Fixed("1"))],
        )
        .when("segments", 1),
        Way::new(At::Receiver, &[])
            .instead("with a wait of 40 ms, whatever the timeout is")
            .when("segments", 2),
    ])
    .noting(
        "No setting of Linux has more than two segments acknowledged together. A program can set \
         TCP_QUICKACK on its socket, after each read. The 40 ms are compiled in; a sock_ops BPF \
         program can lower the longest wait with TCP_BPF_DELACK_MAX.",
    ));

/// The effect at the receiver: it knows R, and the option's bytes take no room. The sender's
/// request is constant during the connection; `after` covers its absence in slow start.
pub(crate) const ACK_RATE: Remedy = schedule("ack-rate")
    .effect(
        "acknowledges every R-th segment, as the sender requests by a TCP option: fewer ACKs on \
         the channel",
    )
    .from("draft-ietf-tcpm-ack-rate-request (TARR)")
    .takes(&[
        Parameter::key("segments", SEGMENTS, Count(10))
            .in_unit("segments")
            // The option has seven bits for it.
            .within(Count(1), Count(127))
            .advised("R of the option"),
        Parameter::key(
            "after",
            key!(delayed_ack: DelayedAckTable, quick),
            Count(100),
        )
        .in_unit("segments")
        .advised("a sender should not ask for fewer in slow start"),
    ])
    .sets(|_, to| by_schedule_alone(to))
    .no_way(
        "No Linux knows the option, and how many segments a receiver acknowledges together is \
         compiled in: a route's `quickack` has each acknowledged, and none has fewer.",
    );

/// Configures the receiver only. The paper's sender subtracts the receiver's delay from its round
/// trips, learns of losses by packet number, and paces; a BBR sender paces and filters round trips
/// by itself, as the paper's does.
pub(crate) const TACK: Remedy = schedule("tack")
    .effect("acknowledges a few times per round trip, and losses immediately")
    .from("Li et al., TACK, SIGCOMM 2020, equation 3 and §4.4")
    .takes(&[
        Parameter::key(
            "beta",
            key!(delayed_ack: DelayedAckTable, most_a_round_trip),
            Count(4),
        )
        .in_unit("acknowledgments"),
        Parameter::key("segments", SEGMENTS, Count(2)).in_unit("segments"),
    ])
    .sets(|_, to| {
        by_schedule_alone(to);
        to.tcp.delayed_ack.compressed = false;
    })
    .no_way(
        "No kernel schedules acknowledgments by the round trip: the rule is compiled in. The \
         paper's own stack is in user space.",
    );
