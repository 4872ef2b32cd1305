//! Routers that tell each sender to send a packet more or a packet less, and senders that do.

use airtcp_link::{AbcConfig, Discipline};
use airtcp_tcp::config::{CongestionControl, EcnUse};
use airtcp_units::Duration;

use crate::choices::WINDOW;
use crate::{Changes, Deployment, MediumChange, Parameter, Place, Remedy, Values};

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

pub(crate) const REMEDY: Remedy = Remedy {
    name: "abc",
    place: Place::Link,
    effect: "marks each packet accelerate or brake by the link's capacity and the queue's delay; \
             senders open or close the window by a packet for each",
    source: "Goyal et al., ABC: A Simple Explicit Congestion Controller for Wireless Networks, \
             NSDI 2020, and its authors' code (github.com/prateshg/ABC-NSDI2020)",
    parameters: &[
        Parameter::number(
            "eta",
            "",
            0.98,
            (0.5, 1.0),
            "share of the capacity that is aimed at",
        ),
        Parameter::time(
            "delta",
            Duration::from_millis(133),
            (MILLISECOND, Duration::from_secs(10)),
            "time in which the queue beyond dt is to drain; stable above two thirds of a round \
             trip",
        ),
        Parameter::time(
            "dt",
            Duration::from_millis(50),
            (MILLISECOND, SECOND),
            "delay in the queue that is left alone, so that a rate that varies finds packets",
        ),
    ],
    deployment: Deployment::none(
        "No way: base stations and access points have no ABC, and no released kernel has its \
         qdisc, its receiver's echo in the nonce flag, or its sender; the authors publish a module \
         for both ends and a patch of mahimahi. L4S has since taken ECT(1) for another purpose \
         (RFC 9331).",
    ),
    decides: WINDOW,
    apply,
};

fn apply(values: &Values<'_>, changes: &mut Changes<'_>) {
    changes.tcp.congestion = CongestionControl::Abc;
    changes.tcp.ecn = EcnUse::Request;
    changes.medium(MediumChange::Discipline(Discipline::Abc(AbcConfig {
        eta: values.number("eta"),
        delta: values.time("delta"),
        target: values.time("dt"),
        ..AbcConfig::default()
    })));
}
