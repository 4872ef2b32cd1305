//! A deployment as recorded.

use airtcp_host::changes::Record;
use serde::{Deserialize, Serialize};

use crate::change::Change;

/// A deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The remedies, as given.
    pub remedies: String,
    /// The target, as on the command line.
    pub target: String,
    /// The treated share of the connections, of 10000, if there is a control group.
    pub share: Option<u32>,
    /// Time at which it was made, in seconds since 1970.
    pub since: u64,
    /// Time at which it expires, in nanoseconds of `CLOCK_BOOTTIME`.
    pub until_ns: Option<u64>,
    /// Distinguishes it from earlier and later deployments: the time at which it was made, in
    /// nanoseconds of `CLOCK_BOOTTIME`.
    pub id: u64,
    /// Its changes, in order.
    pub changes: Vec<Change>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The congestion control of treated connections, if one is deployed.
    pub control: Option<String>,
}

impl Record for Entry {
    type Change = Change;

    const GUARD: &'static str = "guard";
    const REMEDY: &'static str = "undeploy tries again; undeploy --forget leaves it as it is";

    fn changes(&self) -> &[Change] {
        &self.changes
    }

    fn id(&self) -> u64 {
        self.id
    }

    fn until_ns(&self) -> Option<u64> {
        self.until_ns
    }
}
