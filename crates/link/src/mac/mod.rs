//! Medium access: stations that share a channel, and what is retransmitted when a frame is damaged.
//!
//! A medium is handed packets and the time; it says when it wants to be woken, and reports the fate
//! of each packet. All media speak in the types of [`frame`](crate::frame).

pub mod arq;
pub mod cellular;
mod contention;
pub mod damage;
pub mod dcf;
pub mod edca;
pub mod medium;
pub mod resequencer;
pub mod selective_repeat;
pub mod send_window;
pub mod transmit_queue;

pub use medium::Medium;
