//! Congestion controls from object files that a scenario names.

use std::collections::BTreeMap;
use std::sync::Arc;

use airtcp_remedies::bpf::{Constants, Object, unsuited};
use airtcp_tcp::Config;
use airtcp_tcp::config::{BpfControl, CongestionControl, Constant, ControlName, TcpTable};

use crate::error::Problem;

/// The key of the object file in the table at `path`.
pub(crate) fn file_key(path: &str) -> String {
    format!("{path}.congestion_control.bpf")
}

/// The object file that a table names, if it names one.
pub(crate) fn object_of(table: &TcpTable) -> Option<&BpfControl> {
    match &table.congestion {
        Some(ControlName::Bpf(control)) => Some(control),
        _ => None,
    }
}

/// The same, mutable.
pub(crate) fn object_of_mut(table: &mut TcpTable) -> Option<&mut BpfControl> {
    match &mut table.congestion {
        Some(ControlName::Bpf(control)) => Some(control),
        _ => None,
    }
}

/// Sets the control of the object file that the table at `path` names.
pub(crate) fn set(
    config: &mut Config,
    table: &TcpTable,
    path: &str,
    files: &BTreeMap<String, Arc<[u8]>>,
) -> Result<(), Problem> {
    let Some(named) = object_of(table) else {
        return Ok(());
    };
    let key = file_key(path);
    let Some(bytes) = files.get(&key) else {
        return Err(Problem::at(key, "the object file was not read"));
    };
    let object =
        Object::read(&named.bpf, bytes.to_vec()).map_err(|error| Problem::at(key, error))?;
    let mut constants = Constants::new();
    for (name, value) in &named.constants {
        match value {
            Constant::Whole(value) => constants.insert(name.clone(), *value),
            Constant::Other(_) => {
                return Err(Problem::at(
                    format!("{path}.congestion_control.constants.{name}"),
                    object.expectation(name),
                ));
            }
        };
    }
    let control = object
        .control(&constants)
        .map_err(|error| Problem::at(format!("{path}.congestion_control.constants"), error))?;
    config.congestion = CongestionControl::External(control);
    Ok(())
}

/// Refuses choices with which a control that is not compiled in is not called as Linux calls it.
pub(crate) fn check(config: &Config) -> Result<(), Problem> {
    match unsuited(config) {
        None => Ok(()),
        Some((key, value)) => Err(Problem::at(
            format!("tcp.{key}"),
            format!(
                "a congestion control of your own needs Linux's choices, with {key} = \
                 {value}; set tcp.profile = \"linux\""
            ),
        )),
    }
}
