//! What the gateway tells others: its socket for requests, its report, `airtcp gateway status`.

pub mod control_socket;
pub mod report;
pub mod status;
