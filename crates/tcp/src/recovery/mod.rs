//! How the sender behaves between the detection of a loss and its repair.
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
//! Where the sender finds that nothing was lost, [`Undo`] takes either back to Open at once.

mod fast_recovery;
pub mod proportional_rate;
mod undo;

pub use fast_recovery::{FastRecovery, Pace};
pub use proportional_rate::ProportionalRate;
pub use undo::Undo;

/// Where the sender stands. What a state needs lives in its variant.
#[derive(Clone, Debug, Default)]
pub enum Phase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Repairing a loss found by acknowledgments; boxed, so that very many senders fit that are
    /// not.
    FastRecovery(Box<FastRecovery>),
    /// Repairing after the timer expired.
    Timeout {
        /// Recovered when everything below this offset is acknowledged (RFC 6582 §3.2 step 4,
        /// RFC 6675 §5.1).
        recover: u64,
        /// Whether the timeout may still turn out spurious by what new data shows (F-RTO, RFC
        /// 5682).
        tests_new_data: bool,
    },
}
