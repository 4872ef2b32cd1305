//! Where changes are written down.

use std::path::PathBuf;

use clap::Args;

use super::Record;
use super::journal::Journal;
use crate::error::Result;
use crate::namespace::cookie;

/// Default directory of the journal: memory that a restart of the machine clears, like everything
/// that is changed.
const STATE: &str = "/run/airtcp";
/// Default directory of BPF pins.
const PINS: &str = "/sys/fs/bpf/airtcp";

/// Places of persistent state.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct Places {
    /// Where deployments are written down
    #[arg(long, value_name = "DIR", default_value = STATE, hide = true)]
    pub state: PathBuf,
    /// Where BPF links are kept, on a BPF file system
    #[arg(long, value_name = "DIR", default_value = PINS, hide = true)]
    pub pins: PathBuf,
}

impl Places {
    /// Opens the journal of the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// The namespace cannot be identified, or the directory cannot be created.
    pub fn journal<R: Record>(&self) -> Result<Journal<R>> {
        let journal = Journal::new(self.state.clone(), cookie()?);
        journal.prepare()?;
        Ok(journal)
    }
}
