//! Remedies at the TCP endpoint that sends the data.

mod bbr;
mod bbr_v3;
mod c2tcp;
mod coin;
mod cubic;
mod dsack_undo;
mod dupack_threshold;
mod eifel;
mod f_rto;
mod fack;
mod go_back_n;
mod hystart;
mod hystart_plus_plus;
mod illinois;
mod initial_window;
mod jersey;
mod ledbat;
mod limited_transmit;
mod linux_rto;
mod max_window;
mod mbiaz;
mod min_rto;
mod mtu_probing;
mod newreno;
mod newzag;
mod nodelay;
mod oracle;
mod pacing;
mod prague;
mod prr;
mod rack_tlp;
mod rate_halving;
mod reno;
mod rto_deviation;
mod rto_factor;
mod rtt_sampling;
mod sack;
mod selective_repeat;
mod send_buffer;
mod small_queue;
mod spike;
mod tahoe;
mod timestamps;
mod vegas;
mod veno;
mod veno_classifier;
mod westwood;
mod wsc;
mod wsc_best_start;
mod wsc_corrected_rtt;
mod wsc_dynamic_dupack;
mod wsc_rtt_clusters;
mod zbs;
mod zigzag;

use airtcp_tcp::Profile;

use crate::{Changes, Remedy};

/// The choice that bounds the data in flight.
const LARGEST_WINDOW: &str = "the sender's largest window";

/// Copies the settings of loss repair from `profile`, and no others.
fn repair_as(profile: Profile, changes: &mut Changes<'_>) {
    let airtcp_tcp::Config { recovery, sack, .. } = profile.config();
    changes.tcp.recovery = recovery;
    changes.tcp.sack = sack;
}

/// In the order of the catalogue: from the timer to the window.
pub(crate) const ALL: &[Remedy] = &[
    rto_factor::REMEDY,
    min_rto::REMEDY,
    linux_rto::REMEDY,
    rtt_sampling::REMEDY,
    rto_deviation::REMEDY,
    eifel::REMEDY,
    f_rto::REMEDY,
    dsack_undo::REMEDY,
    go_back_n::REMEDY,
    selective_repeat::REMEDY,
    tahoe::REMEDY,
    reno::REMEDY,
    newreno::REMEDY,
    sack::REMEDY,
    rack_tlp::REMEDY,
    fack::REMEDY,
    prr::REMEDY,
    rate_halving::REMEDY,
    newzag::REMEDY,
    zigzag::REMEDY,
    spike::REMEDY,
    mbiaz::REMEDY,
    zbs::REMEDY,
    veno_classifier::REMEDY,
    oracle::REMEDY,
    coin::REMEDY,
    cubic::REMEDY,
    westwood::REMEDY,
    veno::REMEDY,
    vegas::REMEDY,
    illinois::REMEDY,
    c2tcp::REMEDY,
    jersey::REMEDY,
    bbr::REMEDY,
    bbr_v3::REMEDY,
    prague::REMEDY,
    ledbat::REMEDY,
    hystart::REMEDY,
    hystart_plus_plus::REMEDY,
    pacing::REMEDY,
    small_queue::REMEDY,
    wsc::REMEDY,
    wsc_corrected_rtt::REMEDY,
    wsc_dynamic_dupack::REMEDY,
    wsc_best_start::REMEDY,
    wsc_rtt_clusters::REMEDY,
    dupack_threshold::REMEDY,
    limited_transmit::REMEDY,
    initial_window::REMEDY,
    max_window::REMEDY,
    send_buffer::REMEDY,
    timestamps::REMEDY,
    nodelay::REMEDY,
    mtu_probing::REMEDY,
];
