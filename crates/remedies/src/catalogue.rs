//! The list of all remedies.

use crate::{Remedy, access_point, link, proxy, receiver, sender};

/// Every remedy, by place and then from the timer to the window.
static CATALOGUE: &[Remedy] = &[
    sender::rto_factor::REMEDY,
    sender::min_rto::REMEDY,
    sender::linux_rto::REMEDY,
    sender::rtt_sampling::REMEDY,
    sender::rto_deviation::REMEDY,
    sender::eifel::REMEDY,
    sender::f_rto::REMEDY,
    sender::dsack_undo::REMEDY,
    sender::go_back_n::REMEDY,
    sender::selective_repeat::REMEDY,
    sender::tahoe::REMEDY,
    sender::reno::REMEDY,
    sender::newreno::REMEDY,
    sender::sack::REMEDY,
    sender::rack_tlp::REMEDY,
    sender::fack::REMEDY,
    sender::prr::REMEDY,
    sender::rate_halving::REMEDY,
    sender::newzag::REMEDY,
    sender::zigzag::REMEDY,
    sender::spike::REMEDY,
    sender::mbiaz::REMEDY,
    sender::zbs::REMEDY,
    sender::veno_classifier::REMEDY,
    sender::oracle::REMEDY,
    sender::coin::REMEDY,
    sender::cubic::REMEDY,
    sender::westwood::REMEDY,
    sender::veno::REMEDY,
    sender::jersey::REMEDY,
    sender::bbr::REMEDY,
    sender::bbr_v3::REMEDY,
    sender::hystart::REMEDY,
    sender::hystart_plus_plus::REMEDY,
    sender::pacing::REMEDY,
    sender::wsc::REMEDY,
    sender::wsc_corrected_rtt::REMEDY,
    sender::wsc_dynamic_dupack::REMEDY,
    sender::wsc_best_start::REMEDY,
    sender::wsc_rtt_clusters::REMEDY,
    sender::dupack_threshold::REMEDY,
    sender::limited_transmit::REMEDY,
    sender::initial_window::REMEDY,
    sender::max_window::REMEDY,
    sender::timestamps::REMEDY,
    receiver::delayed_ack::REMEDY,
    receiver::dsack::REMEDY,
    receiver::freeze_tcp::REMEDY,
    receiver::hand_off_acks::REMEDY,
    link::queue::REMEDY,
    link::inf_retry::REMEDY,
    access_point::delay_injection::REMEDY,
    access_point::static_delay::REMEDY,
    access_point::random_delay::REMEDY,
    access_point::dynamic_arq::REMEDY,
    access_point::snoop::REMEDY,
    access_point::wtcp::REMEDY,
    access_point::ebsn::REMEDY,
    proxy::split_tcp::REMEDY,
];

/// Every remedy there is.
pub fn catalogue() -> &'static [Remedy] {
    CATALOGUE
}

/// The remedy of that name.
pub fn find(name: &str) -> Option<&'static Remedy> {
    CATALOGUE.iter().find(|remedy| remedy.name == name)
}
