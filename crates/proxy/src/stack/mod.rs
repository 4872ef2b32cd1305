//! airtcp's TCP on this machine's network: an [`Endpoint`](airtcp_endpoint::Endpoint) on a TUN
//! device, with the kernel as its peer.
//!
//!
//! module
//! purpose
//!
//! |---|---|
//! | [`driver`] | a device, a clock and an endpoint: for a custom event loop |
//! | [`socket`] | blocking streams as in `std::net`, with a driving thread |
//! | [`send`], [`serve`] | the commands |

pub mod driver;
mod exchange;
pub mod options;
mod raw;
pub mod send;
pub mod serve;
pub mod socket;
mod stats;
