//! The proxy as operators run it: the program itself, between a client and a server in separate
//! namespaces.
//!
//! Where the system forbids namespaces each test is skipped with a message.
#![cfg(target_os = "linux")]

mod deaths;
mod ends;
mod handover;
#[path = "../limits/mod.rs"]
mod limits;
mod own;
mod own_transparent;
#[path = "../payload/mod.rs"]
mod payload;
mod pressure;
mod transparent;
mod world;
