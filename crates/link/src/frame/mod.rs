//! The vocabulary of all parts of a link: packets as they are handed over, queued and sent, the
//! stations, and the fate of a packet or a frame.

pub mod occupancy;
pub mod offer;
pub mod outcome;
pub mod pending;
pub(crate) mod queued;
pub mod retry_limit;
pub mod station;
pub mod transmission;

pub use occupancy::{ChannelObserver, Fate, FrameKind, Occupancy};
pub use offer::{Offer, PacketClass, Urgency};
pub use outcome::Outcome;
pub use pending::PendingPacket;
pub(crate) use queued::QueuedPacket;
pub use retry_limit::RetryLimit;
pub use station::{ACCESS_POINT, MOBILE};
pub use transmission::{Admission, Transmission};
