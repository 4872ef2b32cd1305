//! The sender's behaviour between the detection of a loss and its repair.
//!
//! ```text
//!            duplicate ACKs, SACK, time              all of it acknowledged
//!   ┌──────┐ ─────────────────────▶ ┌──────────────┐ ──────────────────────▶ ┌──────┐
//!   │ Open │                        │ FastRecovery │                         │ Open │
//!   └──────┘ ──┐                    └──────────────┘                         └──────┘
//!              │ timer expired            │ timer expired                        ▲
//!              └──────────────────▶ ┌─────────────┐ ─────────────────────────────┘
//!                                   │   Timeout   │
//!                                   └─────────────┘
//! ```
//!
//! If the sender finds that nothing was lost, [`Undo`] returns from either to Open at once.

use alloc::boxed::Box;

mod fast_recovery;
pub mod proportional_rate;
mod undo;

pub use fast_recovery::{FastRecovery, Pace};
pub use proportional_rate::{Bound, ProportionalRate};
pub use undo::Undo;

/// The sender's state. Data of a state lives in its variant.
#[derive(Clone, Debug, Default)]
pub enum Phase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Repairing a loss found by acknowledgments; boxed, so that very many senders in other states
    /// fit in memory.
    FastRecovery(Box<FastRecovery>),
    /// Repairing after the timer expired.
    Timeout {
        /// Recovered when everything below this offset is acknowledged (RFC 6582 §3.2 step 4,
        /// RFC 6675 §5.1).
        recover: u64,
        /// Whether the response to new data may still show the timeout to be spurious (F-RTO, RFC
        /// 5682).
        tests_new_data: bool,
    },
}
