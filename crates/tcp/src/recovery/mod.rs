//! How the sender behaves between the detection of a loss and its repair.
//!
//! ```text
//!            duplicate ACKs, SACK                    all of it acknowledged
//!   ┌──────┐ ─────────────────────▶ ┌──────────────┐ ──────────────────────▶ ┌──────┐
//!   │ Open │                        │ FastRecovery │                         │ Open │
//!   └──────┘ ──┐                    └──────────────┘                         └──────┘
//!              │ timer expired            │ timer expired                        ▲
//!              └──────────────────▶ ┌─────────────┐ ─────────────────────────────┘
//!                                   │   Timeout   │
//!                                   └─────────────┘
//! ```

mod fast_recovery;

pub use fast_recovery::FastRecovery;

/// Where the sender stands. What a state needs lives in its variant.
#[derive(Clone, Debug, Default)]
pub enum Phase {
    /// Nothing is known to be lost.
    #[default]
    Open,
    /// Repairing a loss found by acknowledgments.
    FastRecovery(FastRecovery),
    /// Repairing after the timer expired.
    Timeout {
        /// Recovered when everything below this offset is acknowledged (RFC 6582 §3.2 step 4,
        /// RFC 6675 §5.1).
        recover: u64,
    },
}
