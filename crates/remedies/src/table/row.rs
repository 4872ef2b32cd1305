//! Rows of one kind, and their shared parts.

use airtcp_tcp::Profile;
use airtcp_tcp::config::{CongestionControl, SlowStart, SpuriousResponse};
use airtcp_units::Duration;

use crate::choices::{CAUSE_OF_LOSS, REPAIR, WINDOW};
use crate::deployment::Way;
use crate::{Changes, Deployment, Parameter, Place, Remedy};

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
