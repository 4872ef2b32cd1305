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
//! | [`world`] | the sockets, time, the packets that leave, and the blocked call |
//! | [`system`] | the stack as this namespace's sysctls describe it |
//!
//! [`airtcp_script::posix`] implements the calls themselves.
#![cfg(target_os = "linux")]

mod interface;
mod machine;
mod memory;
mod system;
mod world;
