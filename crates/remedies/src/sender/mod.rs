//! Remedies at the TCP endpoint that sends the data.

pub(crate) mod bbr;
pub(crate) mod bbr_v3;
pub(crate) mod coin;
pub(crate) mod cubic;
pub(crate) mod dsack_undo;
pub(crate) mod dupack_threshold;
pub(crate) mod eifel;
pub(crate) mod f_rto;
pub(crate) mod fack;
pub(crate) mod go_back_n;
pub(crate) mod hystart;
pub(crate) mod hystart_plus_plus;
pub(crate) mod initial_window;
pub(crate) mod jersey;
pub(crate) mod limited_transmit;
pub(crate) mod linux_rto;
pub(crate) mod max_window;
pub(crate) mod mbiaz;
pub(crate) mod min_rto;
pub(crate) mod newreno;
pub(crate) mod newzag;
pub(crate) mod oracle;
pub(crate) mod pacing;
pub(crate) mod prr;
pub(crate) mod rack_tlp;
pub(crate) mod rate_halving;
pub(crate) mod reno;
pub(crate) mod rto_deviation;
pub(crate) mod rto_factor;
pub(crate) mod rtt_sampling;
pub(crate) mod sack;
pub(crate) mod selective_repeat;
pub(crate) mod spike;
pub(crate) mod tahoe;
pub(crate) mod timestamps;
pub(crate) mod veno;
pub(crate) mod veno_classifier;
pub(crate) mod westwood;
pub(crate) mod wsc;
pub(crate) mod wsc_best_start;
pub(crate) mod wsc_corrected_rtt;
pub(crate) mod wsc_dynamic_dupack;
pub(crate) mod wsc_rtt_clusters;
pub(crate) mod zbs;
pub(crate) mod zigzag;

use airtcp_tcp::Profile;

use crate::Changes;

/// Takes over what `profile` says of loss repair, and nothing else of it.
fn repair_as(profile: Profile, changes: &mut Changes<'_>) {
    let airtcp_tcp::Config { recovery, sack, .. } = profile.config();
    changes.tcp.recovery = recovery;
    changes.tcp.sack = sack;
}
