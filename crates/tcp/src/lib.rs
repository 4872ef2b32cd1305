//! The TCP endpoint as a sans-IO state machine.
//!
//! A [`Connection`] owns no clock, no socket, no thread and no random source. It is given segments
//! and the time, and returns segments to send and the next instant at which it wants to be woken; a
//! simulator drives it with virtual time, a gateway with real time.
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
//! The send side is a small machine over replaceable parts: congestion control sets the window,
//! loss detection finds lost segments, the timeout decides when to give up waiting, and recovery
//! how to send during a repair. Streams are ranges of 64-bit offsets; 32-bit sequence numbers live
//! only at the edge, in [`Connection`]. A [`Relay`] puts two connections back to back: split TCP.
//!
//! Implemented:
//!
//! - **Connection**: RFC 9293, opened and closed from either side or both at once, with
//!   half-close, reset and TIME-WAIT; challenges (RFC 5961); limits on retransmissions, probes
//!   and orphans.
//! - **Options**: MSS, window scale, timestamps with PAWS (RFC 7323), SACK (RFC 2018), DSACK (RFC
//!   2883).
//! - **Fast Open** (RFC 7413): data in the SYN, and answers before the handshake is complete.
//! - **Loss and recovery**: RFC 5681, 6298, 6582 and 6675, limited transmit (RFC 3042), FACK,
//!   RACK-TLP (RFC 8985), PRR (RFC 6937, 9937), rate halving; Eifel, F-RTO and DSACK undo (RFC
//!   3522, 4015, 5682, 3708).
//! - **Windows**: Reno, CUBIC (RFC 9438), Westwood+, Veno, Vegas, Illinois, Hybla, H-TCP, YeAH,
//!   CDG, DCTCP (RFC 8257), C2TCP, Jersey, BBR versions 1 and 3; HyStart and HyStart++ (RFC 9406);
//!   byte counting (RFC 3465), validation (RFC 7661), restart after idle, pacing; classifiers of
//!   losses.
//! - **Small segments and windows**: Nagle's algorithm as modified by Minshall, TCP_CORK and
//!   MSG_MORE, silly window avoidance on both sides, zero-window probes.
//! - **Receiving**: delayed and quick acknowledgments, reassembly within the buffer, a window of
//!   fixed size or one that follows the application's reads.
//! - **On a wire**: path MTU from routers' reports and by probing (RFC 4821), keep-alive probes,
//!   stateless SYN-ACKs, reports of segments' departures.
//! - **Congestion marks**: ECN (RFC 3168), requested, accepted when the peer requests it, or off.
//!
//! Not implemented: **urgent data** (its bytes are ordinary ones), **authentication (MD5, AO),
//! Multipath TCP**. Bytes, connection tables, cookies and initial sequence numbers (RFC 6528) are
//! in `airtcp-endpoint`.
//!
//! Needs `alloc` but not `std`: logarithms and roots come from `libm`.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod cause;
pub mod config;
mod congestion;
mod connection;
mod delivery_rate;
pub mod external;
mod link_feedback;
mod loss_detection;
pub mod loss_differentiation;
mod observer;
mod receiver;
mod records;
mod recovery;
mod relay;
mod rtt;
mod sender;
mod timeout;

pub use config::{Config, Profile};
pub use connection::{Connection, End, FastOpenAnswer, FastOpenSyn, State, SynData};
pub use loss_detection::{Scoreboard, SentSegment};
pub use observer::{Accepted, Event, Evidence, Insight, Observer};
pub use receiver::Receiver;
pub use records::Records;
pub use recovery::Phase;
pub use relay::{Relay, RelayObserver, Side};
pub use rtt::RttEstimator;
pub use sender::{Counters, Sender};
