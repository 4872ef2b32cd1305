//! Medium access: stations that share a channel, and retransmission of damaged frames.
//!
//! A medium is handed packets and the time; it returns its next wake-up, and reports the fate of
//! each packet. All media use the types of [`frame`](crate::frame).
//!
//! Common parts are written once. 802.11 b, g, a ([`dcf`]) and n, ac, ax ([`edca`]) contend by
//! `contention`, and share the rules of `exchange` for when the medium is idle; the content of an
//! exchange and its retransmissions are specific to each. All report by `outcomes` and
//! `frame_reporter`, and damage frames by [`damage`].

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
pub mod own_retry_limits;
pub mod ran;
pub mod resequencer;
pub mod selective_repeat;
pub mod send_window;
mod stations;
pub mod transmit_queue;
pub mod way;

pub use medium::Medium;
