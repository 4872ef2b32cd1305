//! Who is served next among packets that wait: one file an order.

pub mod airtime;
pub(crate) mod by_station;
pub mod deadline;
pub mod retransmission;
pub(crate) mod round_robin;

pub use retransmission::RetransmissionOrder;
pub(crate) use retransmission::RetryScheduler;
