//! Deployments in separate network namespaces: nothing of this machine is touched.
#![cfg(target_os = "linux")]

mod catalogue;
mod deaths;
mod fast_open;
mod machine;
mod programs;
mod radio;
mod words;
