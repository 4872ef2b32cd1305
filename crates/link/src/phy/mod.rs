//! The physical layer of IEEE 802.11: what a mode is, how long a frame takes, what noise does to
//! it.

pub mod error_rate;
pub mod mode;
pub mod standard;
pub mod timing;

pub use mode::{Mode, Modulation};
pub use standard::Standard;
pub use timing::{Phy, PhyError, Preamble};
