//! Congestion controls that are not compiled in: a BPF program, or whatever else implements
//! [`Operations`].

mod bpf;
mod operations;

pub use bpf::BpfProgram;
pub use operations::{
    AckSample, Call, DeliverySample, ExternalControl, News, Operations, Socket, Source, State,
    WindowEvent, Zeros,
};
