//! Objects that clang compiles from C, read and run.

mod compile;
mod damaged;
mod differential;
mod reading;
mod signatures;
mod stores;
