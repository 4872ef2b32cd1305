//! Congestion controls written for the Linux kernel's BPF, run on a mirror of a socket.
//!
//! An object file names every member of the kernel's structures that its program touches (CO-RE).
//! The loader (`load`, a feature) lays out a mirror of the socket with those members and no other,
//! and patches the code for it as the kernel's loader does. The code is decoded once and
//! interpreted within numbered regions of memory and a budget of instructions: a program can
//! neither reach anything else nor run for ever.

#![no_std]
#![cfg_attr(
    not(feature = "load"),
    expect(dead_code, reason = "only the loader makes instructions")
)]

extern crate alloc;

mod environment;
mod flow;
mod helper_functions;
mod isa;
mod kfuncs;
#[cfg(feature = "load")]
mod load;
mod maps;
mod memory;
mod mirror;
mod origins;
mod program;
mod sample;
mod stores;
mod trace;
mod trap;
mod verify;
mod vm;

pub use environment::{Environment, Message};
pub use flow::{Arguments, Flow};
#[cfg(feature = "load")]
pub use load::{Error, Options};
pub use mirror::{Layout, Member, Slot};
pub use program::{CongControlArguments, Fault, Line, Operation, Program, Variable};
pub use sample::{Field, Samples};
pub use vm::BUDGET;
