//! Bytes and many connections around the TCP core: a TCP stack without a device, a clock or a
//! thread.
//!
//! ```text
//!   listen, connect, accept         write, read, release             next_event
//!            │                              │                             ▲
//!            ▼                              ▼                             │
//!   ┌──────────────────────────────── Endpoint ─────────────────────────────────┐
//!   │ listeners: backlog, SYN cookies · connections by 4-tuple · TIME-WAIT ·    │
//!   │ one heap of wake-ups · each connection a Stream: the core and two buffers │
//!   └───────────────────────────────────────────────────────────────────────────┘
//!            ▲                              │                             │
//!            │                              ▼                             ▼
//!   handle_packet(now, bytes)     poll_transmit(now, buffer)      next_wakeup, on_wakeup(now)
//! ```
//!
//! A driver owns the device and the clock. It hands in packets that arrive, sends polled packets
//! until there are no more, and returns when a packet arrives or the next wake-up is due:
//!
//! ```
//! use airtcp_endpoint::{Endpoint, Linger, ListenOptions, Options, Read, Settings};
//! use airtcp_units::Instant;
//!
//! let now = Instant::ZERO;
//! let (mut client, mut server) = (
//!     Endpoint::new(Settings::new([1; 16])),
//!     Endpoint::new(Settings::new([2; 16])),
//! );
//! let listener = server.listen("10.0.0.2:80".parse()?, ListenOptions::default())?;
//! let (from, to) = ("10.0.0.1:0".parse()?, "10.0.0.2:80".parse()?);
//! let greeter = client.connect(now, from, to, &Options::default())?;
//! client.write(greeter, b"hello")?;
//!
//! // The wire between them.
//! let mut packet = Vec::new();
//! loop {
//!     let sent = if client.poll_transmit(now, &mut packet).is_some() {
//!         server.handle_packet(now, &packet)
//!     } else if server.poll_transmit(now, &mut packet).is_some() {
//!         client.handle_packet(now, &packet)
//!     } else {
//!         break;
//!     };
//!     sent?;
//! }
//!
//! let guest = server.accept(listener).expect("the handshake is complete");
//! let mut bytes = [0; 16];
//! assert_eq!(server.read(guest, &mut bytes)?, Read::Bytes(5));
//! assert_eq!(&bytes[..5], b"hello");
//! server.release(now, guest, Linger::Background)?;
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Everything is bounded by [`Settings`] and [`Options`]: connections, those being opened, closed
//! ones that are remembered, answers to strays, bytes. No input makes it panic.
//!
//! Needs `alloc` and atomic pointers, and no `std`: it runs on a processor without an operating
//! system.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod cookie;
mod endpoint;
mod error;
mod fast_open;
mod ids;
mod keep_alive;
mod listener;
mod receive_buffer;
mod secret;
mod send_buffer;
mod settings;
mod stream;
mod time_wait;
mod tuple;
mod wakeups;

pub use endpoint::{Counters, Cut, Departure, Endpoint, Event, Handled, Transmit};
pub use error::{ConnectError, ListenError, StreamError};
pub use fast_open::{CacheSettings, FastOpenCache, FastOpenConnect, FastOpenKeys, FastOpenListen};
pub use ids::{ConnectionId, ListenerId};
pub use keep_alive::KeepAlive;
pub use listener::ListenOptions;
pub use settings::{Linger, Options, Settings};
pub use stream::{Read, Readiness, Stream};
pub use time_wait::TIME_WAIT;
pub use tuple::FourTuple;
