//! Linux's socket calls over the sans-IO [`Endpoint`](airtcp_endpoint::Endpoint): one layer for
//! scripts, which name descriptors, flags and options, and for callers in C, which number them.
//!
//! A call that may block returns [`Poll::Pending`](std::task::Poll): repeat it once packets have
//! arrived or time has passed.
//!
//! | file | content |
//! |---|---|
//! | [`table`] | the sockets by descriptor, their endpoint, and the stack around them |
//! | [`socket`] | the state of a descriptor |
//! | [`opening`] | socket, bind, listen, accept, connect |
//! | [`transfer`] | read, also from the error queue, write, shutdown, close |
//! | [`fast_open`] | data in SYNs |
//! | [`fast_open_options`] | a socket's settings of Fast Open, and the formats of its keys |
//! | [`notices`] | completed zero-copy sends |
//! | [`options`] | the table of socket options |
//! | [`control`] | ioctl and fcntl |
//! | [`readiness`] | the events of poll and epoll |
//! | [`interest`] | an entry of epoll's interest list |
//! | [`tcp_info`] | `TCP_INFO` by name, and as the structure |
//! | [`stopwatch`] | the times in it that are measured from outside |
//! | [`constants`] | numbers by name |
//! | [`errno`] | errors by name |

pub mod constants;
mod control;
mod errno;
mod fast_open;
mod fast_open_options;
mod interest;
mod notices;
mod opening;
mod options;
mod readiness;
mod socket;
mod stopwatch;
mod table;
pub mod tcp_info;
mod transfer;

pub use errno::Errno;
pub use fast_open_options::key_of_words;
pub use options::number_of;
pub use table::{Descriptor, Outcome, Sockets, System};
pub use transfer::Outgoing;
