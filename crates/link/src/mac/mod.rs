//! Medium access: stations that share a channel, and what is retransmitted when a frame is damaged.
//!
//! A medium is handed packets and the time; it says when it wants to be woken, and reports the fate
//! of each packet. All media speak in the types of [`frame`](crate::frame).
//!
//! What several of them need is written once. 802.11 b, g, a ([`dcf`]) and n, ac, ax ([`edca`])
//! contend by `contention`, and take the medium behind an `exchange` for idle by the same rules;
//! what they send in one, and what of it is retransmitted when, is their own. All report by
//! `outcomes` and `frame_reporter`, and damage frames by [`damage`].

pub mod arq;
pub mod cellular;
mod contention;
pub mod damage;
pub mod dcf;
pub mod edca;
mod exchange;
mod fragmentation;
mod frame_reporter;
#[cfg(test)]
mod history;
pub mod medium;
mod outcomes;
pub mod resequencer;
pub mod selective_repeat;
pub mod send_window;
mod stations;
pub mod transmit_queue;
pub mod way;

pub use medium::Medium;
