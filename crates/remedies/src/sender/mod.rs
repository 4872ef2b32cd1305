//! Remedies at the TCP endpoint that sends the data.

pub(crate) mod dupack_threshold;
pub(crate) mod go_back_n;
pub(crate) mod initial_window;
pub(crate) mod limited_transmit;
pub(crate) mod max_window;
pub(crate) mod min_rto;
pub(crate) mod newreno;
pub(crate) mod reno;
pub(crate) mod rto_deviation;
pub(crate) mod rto_factor;
pub(crate) mod rtt_sampling;
pub(crate) mod sack;
pub(crate) mod selective_repeat;
pub(crate) mod tahoe;
pub(crate) mod timestamps;

use airtcp_tcp::Profile;

use crate::Changes;

/// Takes over what `profile` says of loss repair, and nothing else of it.
fn repair_as(profile: Profile, changes: &mut Changes<'_>) {
    let airtcp_tcp::Config { recovery, sack, .. } = profile.config();
    changes.tcp.recovery = recovery;
    changes.tcp.sack = sack;
}
