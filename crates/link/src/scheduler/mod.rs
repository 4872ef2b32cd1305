//! Who is served next among packets that wait: one file an order.

pub mod airtime;
pub mod deadline;
pub mod retransmission;
pub(crate) mod round_robin;

pub use retransmission::RetransmissionOrder;
pub(crate) use retransmission::RetryScheduler;
