//! The form of the settings in a configuration file.

use airtcp_units::bounded::{Bytes, DAY, MICROSECOND, Real, Span, Whole};
pub use airtcp_units::written::{Written, completed, read};

/// A retransmission timeout: 1 µs to a day.
pub type Timeout = Span<MICROSECOND, DAY>;
/// A smoothing gain, up to 1.
pub type Gain = Real<1, 1_000_000>;
/// A number of segments.
pub type Segments = Whole<1, 1_000_000_000>;
/// A number of segments affected by one event.
pub type FewSegments = Whole<1, 1_000_000>;
/// A threshold in bytes, up to 1 PB.
pub type Amount = Bytes<1, 1_000_000_000_000_000>;
