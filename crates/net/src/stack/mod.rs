//! airtcp's own TCP on this machine's wire: an [`Endpoint`](airtcp_endpoint::Endpoint) behind a TUN
//! device, with the kernel as its peer.
//!
//! | module | what it is for |
//! |---|---|
//! | [`driver`] | a device, a clock and an endpoint: for an event loop of one's own |
//! | [`socket`] | blocking streams as `std::net` has them, with a thread that drives |
//! | [`send`], [`serve`] | the commands |

pub mod driver;
mod exchange;
mod interrupts;
pub mod options;
mod raw;
pub mod send;
pub mod serve;
pub mod socket;
mod stats;
