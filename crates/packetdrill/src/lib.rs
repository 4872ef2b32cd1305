//! Runs the scripts of Google's packetdrill against airtcp's
//! [`Endpoint`](airtcp_endpoint::Endpoint):
//!
//! ```text
//! packetdrill --so_filename=libairtcp_packetdrill.so --so_flags=LOCAL_ADDRESS script.pkt
//! ```
//!
//! packetdrill makes its system calls, hands in and takes out packets, waits and reads the time
//! through a table of functions (`packetdrill.h`), which `packetdrill_interface_init` fills. Time
//! is virtual: it passes when packetdrill waits, and by a microsecond per query.
//!
//! | file | |
//! |---|---|
//! | [`interface`] | the table of functions |
//! | [`memory`] | pointers and numbers of C on one side, slices and results on the other |
//! | [`machine`] | the two threads: calls that wait and calls that do not |
//! | [`world`] | the endpoint, its sockets, time, and the packets that leave |
//! | [`socket`] | the state of a descriptor |
//! | [`calls`] | sockets are made, opened, read, written and closed |
//! | [`fast_open`] | data in SYNs |
//! | [`options`] | socket options and ioctls |
//! | [`readiness`] | poll and epoll |
//! | [`interest`] | the interest list of epoll |
//! | [`system`] | the stack as this namespace's sysctls describe it |
//!
//! [`tcp_info`]
//! the contents of `TCP_INFO`
//!
#![cfg(target_os = "linux")]

mod calls;
mod fast_open;
mod fast_open_options;
mod interest;
mod interface;
mod machine;
mod memory;
mod options;
mod readiness;
mod socket;
mod system;
mod tcp_info;
mod world;
