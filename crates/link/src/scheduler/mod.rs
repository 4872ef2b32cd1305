//! The order of service among queued packets: one file per order.

pub mod airtime;
pub(crate) mod by_station;
pub mod deadline;
pub mod retransmission;
pub(crate) mod round_robin;

pub use retransmission::RetransmissionOrder;
pub(crate) use retransmission::RetryScheduler;
