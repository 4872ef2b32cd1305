//! Python bindings: conversion only. `python/airtcp/_core.pyi` declares the types.

mod capture;
mod columns;
mod control;
mod distribution;
mod environments;
mod errors;
mod lab;
mod many;
mod recorded_parts;
mod recordings;
mod result;
mod run;
mod running;
mod scenario;
mod script;
mod sessions;
mod table;

/// The Rust core: scenarios in, runs out. Conversion only; the public face is `airtcp`.
#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::capture::{Capture, read_air, read_capture, read_quic};
    #[pymodule_export]
    use crate::control::{PySocket, compile_with, register_control};
    #[pymodule_export]
    use crate::distribution::{
        beta_quantile, gamma_quantile, gamma_share, student_t_quantile, student_t_share,
    };
    #[pymodule_export]
    use crate::environments::{PyEnvironments, observed};
    #[pymodule_export]
    use crate::lab::{LabPlay, LabSource, lab_remedies, lab_verdict};
    #[pymodule_export]
    use crate::many::run_many;
    #[pymodule_export]
    use crate::recordings::{ping_events, read_recording, recording_formats};
    #[pymodule_export]
    use crate::result::RunResult;
    #[pymodule_export]
    use crate::run::{probes, run};
    #[pymodule_export]
    use crate::running::{Running, Stretch};
    #[pymodule_export]
    use crate::scenario::{Scenario, deployments, remedies, remedies_of, schema};

    #[pymodule_export]
    use crate::script::{profiles, script};
    #[pymodule_export]
    use crate::sessions::{record_session, session_window};
    #[pymodule_export]
    use crate::table::{Table, table};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("engine_version", airtcp_sim::ENGINE_VERSION)?;
        crate::errors::add_to(module)
    }
}
