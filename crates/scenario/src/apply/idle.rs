//! Refuses remedies that would have no effect, with the reason.

use airtcp_remedies::{ConfiguredRemedy, Idle, Selection};
use airtcp_tcp::Config;

use crate::error::Problem;
use crate::link::Link;
use crate::names::{FlowDirection, Topology};

/// The remedies of `selection` that `endpoints` already have without it.
///
/// # Errors
/// A remedy sets a choice that no endpoint reads, or needs a device that `senders` lack.
pub(super) fn check(
    selection: &Selection,
    endpoints: &[Config],
    senders: Senders,
) -> Result<Vec<String>, Problem> {
    let mut already_so = Vec::new();
    for (position, one) in selection.as_slice().iter().enumerate() {
        let name = one.remedy.name;
        let idle: Vec<_> = endpoints
            .iter()
            .map(|tcp| selection.idle(position, tcp))
            .collect();
        if idle.iter().all(|idle| *idle == Some(Idle::AlreadySo)) {
            already_so.push(name.to_owned());
        } else if let Some(Some(Idle::Unread(why))) = idle.first()
            && idle.iter().all(Option::is_some)
        {
            return Err(nothing(name, why));
        }
        if senders == Senders::Wired && listens_to_own_device(one) {
            return Err(nothing(
                name,
                "it is about a sender with a wireless device, and none sends over the air first; \
                 set flows.direction = \"up\" with topology = \"wlan\", \"selective-repeat\" or \
                 \"arq\"",
            ));
        }
    }
    Ok(already_so)
}

/// Refuses a remedy that is about a host's later connections to the same other host where each
/// host has one connection.
pub(super) fn check_reopening(selection: &Selection) -> Result<(), Problem> {
    let opens_fast = |one: &&ConfiguredRemedy| {
        let mut tcp = Config::default();
        one.apply(&mut tcp);
        tcp.fast_open
    };
    match selection.as_slice().iter().find(opens_fast) {
        None => Ok(()),
        Some(one) => Err(nothing(
            one.remedy.name,
            "a client has a server's cookie from its second connection to it on, and no two hosts \
             open one after another here; set flows.count and flows.start_spread, flows.bytes for \
             short flows, and wlan.stations where each flow has another mobile",
        )),
    }
}

/// Location of the senders' own network devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Senders {
    /// At least one sender transmits over the air first.
    OnAir,
    /// All are at the wired end.
    Wired,
}

impl Senders {
    pub(super) fn of(link: &Link, topology: Topology, directions: &[FlowDirection]) -> Self {
        let Link::Medium(medium) = link else {
            return Self::Wired;
        };
        let both_ends = matches!(
            topology,
            Topology::WlanWiredWlan | Topology::SelectiveRepeatBothEnds
        );
        let uploads = directions.contains(&FlowDirection::Up) && medium.back().is_none();
        if both_ends || uploads {
            Self::OnAir
        } else {
            Self::Wired
        }
    }
}

/// Whether a remedy acts only on feedback from the sender's own device.
fn listens_to_own_device(one: &ConfiguredRemedy) -> bool {
    let mut tcp = Config::default();
    one.apply(&mut tcp);
    let feedback = tcp.link_feedback;
    let hears = feedback.corrected_rtt.is_some() || feedback.dynamic_threshold.is_some();
    tcp.small_queue || hears && feedback.rtt_clusters.is_none()
}

fn nothing(name: &str, why: &str) -> Problem {
    Problem::at(
        "remedies",
        format!("{name:?} would change nothing here: {why}"),
    )
}
