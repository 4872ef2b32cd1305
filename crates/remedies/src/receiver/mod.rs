//! Remedies at the TCP endpoint that receives the data.

mod ack_rate;
mod delayed_ack;
mod dsack;
mod freeze_tcp;
mod hand_off_acks;
mod mss_clamp;
mod receive_buffer;
mod receive_window;
mod tack;

use crate::Remedy;

/// The choice that bounds the window offered.
const LARGEST_OFFER: &str = "the largest window that the receiver offers";

/// In the order of the catalogue.
pub(crate) const ALL: &[Remedy] = &[
    delayed_ack::REMEDY,
    ack_rate::REMEDY,
    dsack::REMEDY,
    receive_window::REMEDY,
    receive_buffer::REMEDY,
    tack::REMEDY,
    freeze_tcp::REMEDY,
    hand_off_acks::REMEDY,
    mss_clamp::REMEDY,
];
