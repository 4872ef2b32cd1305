//! A build without BPF: every request is refused with the reason.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Constants, Group, Program, Treatment, Verdicts, available};
use crate::error::{Error, Result};

/// A registered congestion control, which does not exist in this build.
#[derive(Debug)]
pub enum Registered {}

impl Registered {
    /// Refuses.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn new(_program: Program<'_>, _name: &str, _constants: &Constants) -> Result<Self> {
        Err(refused())
    }

    /// Unreachable: there is nothing to read.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn verdicts(&self) -> Result<Vec<Verdicts>> {
        match *self {}
    }

    /// Unreachable: there is nothing to keep.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn keep(&mut self, _directory: &Path) -> Result<()> {
        match *self {}
    }
}

/// Refuses.
///
/// # Errors
///
/// Always.
pub fn treat(_treatment: &Treatment, _cgroup: &Path, _directory: &Path) -> Result<()> {
    Err(refused())
}

/// Refuses.
///
/// # Errors
///
/// Always.
pub fn groups(_directory: &Path) -> Result<BTreeMap<u64, Group>> {
    Err(refused())
}

fn refused() -> Error {
    match available() {
        Err(error) => error,
        Ok(()) => Error::new("this airtcp-net was built without BPF"),
    }
}
