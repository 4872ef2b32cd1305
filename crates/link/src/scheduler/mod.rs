//! Who is served next among packets that wait: one file an order.

pub mod deadline;
pub mod retransmission;

pub use retransmission::RetransmissionOrder;
pub(crate) use retransmission::RetryScheduler;
