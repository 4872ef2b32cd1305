//! The TCP endpoint as a sans-IO state machine.
//!
//! A [`Connection`] owns no clock, no socket, no thread and no random source. It is handed segments
//! and the time, and answers with segments to send and the next instant at which it wants to be
//! woken; a simulator drives it with virtual time, a gateway with real time.
//!
//! ```text
//!                 write, close                                read
//!   application ───────────────┐                        ┌──────────────▶ application
//!                              ▼                        │
//!                         ┌────────┐  acknowledgments ┌──────────┐
//!   poll ◀── segments ─── │ sender │ ◀─────────────── │ receiver │
//!                         └────────┘                  └──────────┘
//!                              ▲      connection           ▲
//!   handle ── segments ────────┴────── (RFC 9293) ─────────┘
//! ```
//!
//! The send side is a small machine over replaceable parts: [`congestion`] says how large the
//! window is, [`loss_detection`] what is lost, [`timeout`] when to give up waiting, [`recovery`]
//! how to send while repairing. Streams are ranges of 64-bit offsets; 32-bit sequence numbers live
//! only at the edge, in [`connection`].
//!
//! [`relay`] puts two connections back to back: split TCP.
//!
//! Not implemented: **urgent data, keep-alive, ECN, path MTU discovery**.

pub mod config;
pub mod congestion;
pub mod connection;
pub mod delivery_rate;
pub mod link_feedback;
pub mod loss_detection;
pub mod loss_differentiation;
pub mod observer;
pub mod receiver;
pub mod recovery;
pub mod relay;
pub mod rtt;
pub mod sender;
pub mod timeout;

pub use config::{Config, Profile};
pub use connection::{Connection, End, State};
pub use observer::{Event, Observer};
pub use relay::{Relay, Side};
pub use sender::Counters;
