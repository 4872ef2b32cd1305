//! The lab: what its page asks of the core, wherever the core is.
//!
//! ```text
//!   page -> `airtcp lab` -> the Python extension -+-> a chosen link -> sliders (Description)
//!   page -> a worker -> the WebAssembly module ---+                 -> two sides played (Play)
//!                                                                   -> one seed of both (Seed)
//! ```
//!
//! It owns no clock: whoever plays measures how long a stretch takes.

mod chosen;
mod columns;
mod controls;
mod describe;
mod dropped;
mod play;
mod seeds;
mod verdict;

pub use chosen::{Chosen, Files, LabError, MAX_FLOWS, MAX_S, Source};
pub use controls::{Control, Controls, Kind, Pick, Switch, Word};
pub use describe::{Description, Remedy, describe, remedies};
pub use dropped::{Dropped, dropped};
pub use play::{Message, Play};
pub use seeds::{Seed, seed};
pub use verdict::verdict;
