//! Linux services for all parts with real packets: errors with a remedy, devices, namespaces,
//! netlink, nf_tables, BPF programs, the clock and its lateness, and changes of the machine that
//! are recorded before they are made and undone after any crash.
//!
//! It does not depend on the parts that use it.
#![cfg(target_os = "linux")]

pub mod bpf;
pub mod changes;
pub mod clock;
pub mod daemon;
pub mod device;
pub mod difference;
pub mod error;
pub mod interface;
pub mod iproute;
pub mod lateness;
pub mod link_reports;
pub mod masquerade;
pub mod namespace;
pub mod netlink;
pub mod nftables;
pub mod packet_store;
pub mod pcapng;
pub mod privileges;
pub mod release;
pub mod socket_option;
pub mod tcp_info;
pub mod tcp_settings;
