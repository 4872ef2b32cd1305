//! Time, rate, size and probability as integer types that parse and print with units.
//!
//! Inside the core a quantity is an integer of its smallest unit (nanoseconds, bits per second,
//! bytes), so that arithmetic is exact and the same on every machine. At the edge, in scenarios
//! and on the terminal, it is text with a unit: `"15 ms"`, `"11 Mbit/s"`, `"64 KiB"`, `"1 %"`.
//!
//! The feature `schema` lets configuration files hold them: serde reads and writes their text,
//! schemars describes it, and [`bounded`] values know their range.
//!
//! Needs `alloc` but not `std`.
#![cfg_attr(not(test), no_std)]

extern crate alloc;

mod bit_rate;
mod byte_count;
mod compact;
mod duration;
mod instant;
mod nearest;
mod probability;
#[cfg(feature = "schema")]
mod schema;
#[cfg(test)]
mod tests;
mod text;

pub use bit_rate::BitRate;
pub use byte_count::ByteCount;
pub use compact::{Compact, Spare};
pub use duration::Duration;
pub use instant::Instant;
pub use probability::Probability;
#[cfg(feature = "schema")]
pub use schema::{bounded, written};
pub use text::ParseError;
