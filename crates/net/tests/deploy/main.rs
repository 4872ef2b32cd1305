//! Deployments in network namespaces of their own: nothing of this machine is touched.
#![cfg(target_os = "linux")]

mod catalogue;
mod deaths;
mod machine;
mod programs;
mod radio;
mod words;
