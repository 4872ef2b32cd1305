//! The physical layer of IEEE 802.11: modes, durations of frames, and errors caused by noise.

pub mod aggregate;
pub mod control;
pub mod error_rate;
pub mod family;
mod ldpc;
pub mod mode;
pub mod ppdu;
mod signal;
pub mod standard;
pub mod timing;

pub use control::{BasicRates, ControlFrame};
pub use family::{Family, GuardInterval, Width};
pub use mode::{Coding, Mode, ModeError};
pub use ppdu::{Airtime, PacketPadding};
pub use standard::{Band, Standard};
pub use timing::{Phy, PhyError, Preamble};
