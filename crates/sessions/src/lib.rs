//! Best start (Srinivasan, "Efficient TCP enhancements for hybrid networks", §3.3): the window that
//! past sessions with a peer ended with, at this time of the day, day of the week and month of the
//! year, as the first window of the next.
//!
//! One SQLite file, for many readers and writers at once. Whatever is wrong with it never stops
//! TCP: a damaged file is set aside and a new one begun, a file of anything else is left alone, and
//! an error is a [`Warning`] and no answer.

mod cell;
mod database;
mod warning;

pub use cell::{Cell, Precision};
pub use database::{Limits, Sessions};
pub use warning::Warning;
