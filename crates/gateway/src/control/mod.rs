//! The gateway's external interface: control socket, report, `airtcp gateway status`.

pub mod control_socket;
pub mod report;
pub mod status;
