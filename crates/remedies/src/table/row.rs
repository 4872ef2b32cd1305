//! Rows of one kind, and their shared parts.

use airtcp_tcp::Profile;
use airtcp_tcp::config::{CongestionControl, SlowStart, SpuriousResponse, UNBURST_SHIFT};
use airtcp_units::Duration;

use crate::choices::{CAUSE_OF_LOSS, REPAIR, WINDOW};
use crate::deployment::Way;
use crate::{Changes, Deployment, Parameter, Place, Remedy, Values};

pub(super) const fn sender(name: &'static str) -> Remedy {
    Remedy::new(name, Place::Sender)
}

pub(super) const fn receiver(name: &'static str) -> Remedy {
    Remedy::new(name, Place::Receiver)
}

/// A congestion control.
pub(super) const fn control(name: &'static str) -> Remedy {
    sender(name).decides(WINDOW)
}

/// A classifier of losses, which Linux lacks unless a row says otherwise.
pub(super) const fn classifier(name: &'static str) -> Remedy {
    sender(name).decides(CAUSE_OF_LOSS).no_way(NOT_IN_LINUX)
}

/// A way to repair losses.
pub(super) const fn repair(name: &'static str) -> Remedy {
    sender(name).decides(REPAIR)
}

pub(super) const BY_ITSELF: Deployment = Deployment::by(&[Way::BY_ITSELF]);
const NOT_IN_LINUX: &str = "Not in Linux: it needs a congestion control in BPF or a kernel module.";
pub(super) const ON_OR_OFF: &str = "1: on; 0: off";

/// Veno's backlog.
pub(super) const BACKLOG: Parameter = Parameter::number(
    "beta",
    "segments",
    3.0,
    (0.0, 1000.0),
    "backlog from which on a loss means congestion",
);

/// The utility functions of PCC, of rates in Mbit/s.
pub(super) const EXPONENT: Parameter = Parameter::number(
    "t",
    "",
    0.9,
    (0.1, 0.99),
    "exponent of the rate in the utility",
);
pub(super) const LATENCY: Parameter = Parameter::number(
    "b",
    "",
    900.0,
    (0.0, 100_000.0),
    "weight of growing round trips in it; at 0 only losses count",
);
pub(super) const LOSS: Parameter = Parameter::number(
    "c",
    "",
    11.35,
    (0.0, 1000.0),
    "weight of the loss rate in it: at a rate of x Mbit/s, losses up to t*x^(t-1)/c are tolerated",
);

/// Chooses a control of PCC's with its utility function. Its packets leave one by one.
pub(super) fn paced_by_utility(
    control: CongestionControl,
    values: &Values<'_>,
    to: &mut Changes<'_>,
) {
    to.tcp.congestion = control;
    to.tcp.pacing_shift = UNBURST_SHIFT;
    to.tcp.pcc_exponent = values.number("t");
    to.tcp.pcc_latency = values.number("b");
    to.tcp.pcc_loss = values.number("c");
}

/// Segments in the network's queues, for Vegas.
pub(super) const fn queued(name: &'static str, default: u64, effect: &'static str) -> Parameter {
    Parameter::count(name, "segments", default, (1, 1000), effect)
}

/// A delay of 100 ms that a control aims at, at most `most`.
pub(super) const fn aim(name: &'static str, most: Duration, effect: &'static str) -> Parameter {
    let bounds = (Duration::from_millis(1), most);
    Parameter::time(name, Duration::from_millis(100), bounds, effect)
}

pub(super) const TEN_SECONDS: Duration = Duration::from_secs(10);

/// Copies the settings of loss repair from `profile`, and no others.
pub(super) fn repair_as(profile: Profile, to: &mut Changes<'_>) {
    let airtcp_tcp::Config { recovery, sack, .. } = profile.config();
    (to.tcp.recovery, to.tcp.sack) = (recovery, sack);
}

/// Undoes needless recoveries, if nothing is done about them yet.
pub(super) fn undo(to: &mut Changes<'_>) {
    if to.tcp.spurious_response == SpuriousResponse::None {
        to.tcp.spurious_response = SpuriousResponse::Restore;
    }
}

/// Chooses a congestion control that begins by the standard's slow start: in Linux only CUBIC has
/// HyStart (`tcp_cubic.c`).
pub(super) fn standard_start(control: CongestionControl, to: &mut Changes<'_>) {
    (to.tcp.congestion, to.tcp.slow_start) = (control, SlowStart::Standard);
}
