//! A scenario on real packets, on Linux: between namespaces, recorded, and with the kernel's TCP at
//! its ends as a testbed.
//!
//! ```text
//!   run ──┐                    ┌─▶ record
//!         ├─▶ link ── network ─┤
//!   measure ┘                  └─▶ reports to stations
//! ```
#![cfg(target_os = "linux")]

pub mod carried_traffic;
pub mod end;
pub mod inside;
pub mod link;
pub mod measure;
pub mod record;
pub mod request;
pub mod run;
pub mod uplink;
