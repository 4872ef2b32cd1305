//! Runs as files: pcapng for Wireshark and tcptrace, qlog, and a scenario that plays the link back.

mod copies;
mod pcapng;
mod qlog;
mod replay;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

pub use pcapng::PcapWriter;
pub use qlog::{LossTrigger, Metrics, QlogWriter};
pub use replay::ReplayWriter;

/// A recording could not be written. Its text names the file and the reason.
#[derive(Debug)]
pub struct RecordError {
    path: PathBuf,
    source: io::Error,
}

impl RecordError {
    fn new(path: &Path, source: io::Error) -> Self {
        Self {
            path: path.to_path_buf(),
            source,
        }
    }

    /// The file that could not be written.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let remedy = match self.source.kind() {
            io::ErrorKind::NotFound => "; expected an existing folder",
            io::ErrorKind::StorageFull => "; free some space, or shorten the run",
            io::ErrorKind::PermissionDenied => "; choose a folder that you may write to",
            _ => "",
        };
        write!(f, "cannot write {:?}: {}{remedy}", self.path, self.source)
    }
}

impl std::error::Error for RecordError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Creates a file at `path`, replacing an old one.
fn create(path: &Path) -> Result<BufWriter<File>, RecordError> {
    let file = File::create(path).map_err(|error| RecordError::new(path, error))?;
    Ok(BufWriter::with_capacity(1 << 16, file))
}

#[cfg(test)]
mod tests;
