//! Changes of the machine that are undone even if the process that made them dies: recorded before
//! they are made, and undone by the first process that finds them without an owner.
//!
//! ```text
//!   changes ── journal ── engine ──▶ the machine
//!                 ▲                      │
//!               guard ◀── any death ─────┘ puts back
//! ```
//!
//! The users of this module define the changes and the additional records.

pub mod engine;
pub mod guard;
pub mod journal;
mod places;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Result;
pub use places::Places;

/// A change that can be undone. Making and undoing may be repeated and may follow a crash: each
/// first looks at the present state.
pub trait Change {
    /// Makes the change.
    ///
    /// # Errors
    ///
    /// The system refuses it.
    fn make(&self) -> Result<()>;

    /// Restores the old state.
    ///
    /// # Errors
    ///
    /// The system refuses it.
    fn undo(&self) -> Result<Undone>;
}

/// How undoing a change ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undone {
    /// The old state is restored.
    Back,
    /// Modified by another party since, and therefore kept; describes the present state.
    Left(String),
}

/// The record of a group of changes.
pub trait Record: Serialize + DeserializeOwned {
    /// One of the changes.
    type Change: Change;

    /// The hidden command with which airtcp-net guards such changes.
    const GUARD: &'static str;
    /// Advice for a change that cannot be undone.
    const REMEDY: &'static str;

    /// The changes, in order.
    fn changes(&self) -> &[Self::Change];

    /// Distinguishes it from earlier and later ones: the time at which it was made, in nanoseconds
    /// of `CLOCK_BOOTTIME`.
    fn id(&self) -> u64;

    /// Time at which it expires, in nanoseconds of `CLOCK_BOOTTIME`.
    fn until_ns(&self) -> Option<u64> {
        None
    }
}
