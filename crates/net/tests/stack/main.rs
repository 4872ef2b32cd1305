//! `airtcp send` and `airtcp serve` as users run them: the program itself on a TUN device, with the
//! kernel's TCP as its peer, in a separate namespace.
//!
//! Where the system forbids namespaces or TUN devices each test is skipped with a message.
#![cfg(target_os = "linux")]

mod device;
mod ends;
mod forged;
#[path = "../limits/mod.rs"]
mod limits;
mod outage;
mod packets;
#[path = "../payload/mod.rs"]
mod payload;
mod transfer;
mod world;
