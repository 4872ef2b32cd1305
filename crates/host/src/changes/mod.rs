//! Changes of the machine that outlive no death of the process that makes them: written down before
//! they are made, and undone by the first process that finds them recorded without an owner.
//!
//! ```text
//!   changes ── journal ── engine ──▶ the machine
//!                 ▲                      │
//!               guard ◀── any death ─────┘ puts back
//! ```
//!
//! What a change is, and what is written down beside it, belongs to those who make it.

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
    /// Changed by someone else since, and therefore left alone; says what.
    Left(String),
}

/// What is written down of changes that belong together.
pub trait Record: Serialize + DeserializeOwned {
    /// One of the changes.
    type Change: Change;

    /// The hidden command by which airtcp-net watches over such changes.
    const GUARD: &'static str;
    /// What the user can do if a change cannot be undone.
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
