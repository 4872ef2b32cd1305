//! One series of probes in the form of every program and language: each reads the same.

mod csv;
mod damaged;
mod iputils;
mod kin;
mod lens;
mod named;
mod refused;
mod series;
mod summaries;
mod traces;
mod transfers;
mod windows;
mod windows_tools;
