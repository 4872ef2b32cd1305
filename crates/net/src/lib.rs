//! A scenario on real packets, on Linux: between namespaces, with the kernel's TCP at its ends.
#![cfg(target_os = "linux")]

pub mod bpf;
pub mod cli;
pub mod control;
pub mod deploy;
pub mod device;
pub mod emulate;
pub mod error;
pub mod gateway;
pub mod guest;
pub mod inside;
pub mod measure;
pub mod namespace;
pub mod nftables;
pub mod proxy;
pub mod record;
pub mod request;
pub mod stack;
