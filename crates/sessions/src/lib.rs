//! Best start (Srinivasan, "Efficient TCP enhancements for hybrid networks", §3.3): the final
//! window of past sessions with a peer, at this time of the day, day of the week and month of the
//! year, as the initial window of the next.
//!
//! One file, for many processes that read and write at once. No error of it stops TCP: a damaged
//! file is set aside and a new one begun, any other file is left alone, and an error gives a
//! [`Warning`] and no window.

mod cell;
mod file;
mod history;
mod sessions;
mod warning;

pub use cell::{Cell, Precision};
pub use history::Limits;
pub use sessions::Sessions;
pub use warning::Warning;
