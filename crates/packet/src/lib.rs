//! Packets on a link: TCP segments as values, sequence arithmetic, the wire codec.
//!
//! A [`Segment`] carries a length in place of its payload, so that a simulator moves a small plain
//! value. [`wire`] turns it into the bytes of a real packet and back; [`pcapng`] puts such bytes
//! into a capture.
//!
//! Needs `alloc` but not `std`.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod ecn;
mod fast_open;
mod feedback;
mod flags;
mod forecast;
pub mod pcapng;
mod sack;
mod segment;
mod sequence;
mod tail_options;
pub mod wire;

pub use ecn::Ecn;
pub use fast_open::FastOpen;
pub use feedback::LinkFeedback;
pub use flags::Flags;
pub use forecast::Forecast;
pub use sack::{SackBlock, SackBlocks};
pub use segment::{Segment, Timestamps};
pub use sequence::SequenceNumber;
pub use tail_options::TailOptions;
