//! The journal: what a deployment changes, written down before it is changed.
//!
//! One file for each network namespace holds the deployment, and its name holds how far it is:
//!
//! ```text
//!   (none) ──write──▶ N.making ──rename──▶ N.deployed ──rename──▶ N.undoing ──remove──▶ (none)
//!                         └───────────────rename────────────────────▲
//! ```
//!
//! After the first write every step is a rename, which is whole or has not happened, and needs no
//! room on the disk. What is found as `making` or `undoing` belongs to a process that has died.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use super::change::Change;
use crate::error::{Error, Result, Tried};

/// How far a deployment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Being made: some changes may be there, others not.
    Making,
    /// All changes are there.
    Deployed,
    /// Being put back.
    Undoing,
}

impl Stage {
    const ALL: [Self; 3] = [Self::Making, Self::Deployed, Self::Undoing];

    const fn name(self) -> &'static str {
        match self {
            Self::Making => "making",
            Self::Deployed => "deployed",
            Self::Undoing => "undoing",
        }
    }
}

/// A deployment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The remedies, as they were given.
    pub remedies: String,
    /// The target, as on the command line.
    pub target: String,
    /// The part of the connections that is treated, of 10000, if there is a control group.
    pub share: Option<u32>,
    /// When it was made, in seconds since 1970.
    pub since: u64,
    /// When it ends by itself, in nanoseconds of `CLOCK_BOOTTIME`.
    pub until_ns: Option<u64>,
    /// What tells it from the deployments before and after it: when it was made, in nanoseconds of
    /// `CLOCK_BOOTTIME`.
    pub id: u64,
    /// What is changed, in this order.
    pub changes: Vec<Change>,
    /// What a user should know of it.
    pub notes: Vec<String>,
    /// The congestion control that treated connections have, if it is one that they get.
    pub control: Option<String>,
}

/// The journal of a network namespace.
#[derive(Debug)]
pub struct Journal {
    directory: PathBuf,
    number: u64,
}

/// Nobody else changes anything as long as this lives. Its file goes with it.
#[derive(Debug)]
pub struct Locked {
    _file: File,
    path: PathBuf,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Before the lock is let go: who waited for it sees that its file has no name any more.
        let _ = fs::remove_file(&self.path);
    }
}

impl Journal {
    /// The journal in `directory` of the namespace with that number.
    pub const fn new(directory: PathBuf, number: u64) -> Self {
        Self { directory, number }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The directory, made if it is not there.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn prepare(&self) -> Result<()> {
        fs::create_dir_all(&self.directory)
            .tried(|| format!("cannot make {}", self.directory.display()))
    }

    /// Takes the lock, or with `waiting` waits for it.
    ///
    /// # Errors
    ///
    /// Another process has it.
    pub fn lock(&self, waiting: bool) -> Result<Locked> {
        let path = self.path("lock");
        let failed = || format!("cannot lock {}", path.display());
        let operation = if waiting {
            FlockOperation::LockExclusive
        } else {
            FlockOperation::NonBlockingLockExclusive
        };
        loop {
            let file = File::options()
                .create(true)
                .append(true)
                .open(&path)
                .tried(failed)?;
            match flock(&file, operation) {
                // One whose holder has removed it locks nobody else out.
                Ok(()) if is_named(&file, &path).tried(failed)? => {
                    return Ok(Locked { _file: file, path });
                }
                Ok(()) | Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    return Err(Error::new("another airtcp is changing this machine")
                        .remedied_by("wait until it has ended"));
                }
                Err(cause) => return Err(Error::system(failed(), cause)),
            }
        }
    }

    /// The deployment and how far it is, if there is one.
    ///
    /// # Errors
    ///
    /// The journal cannot be read or is none.
    pub fn read(&self) -> Result<Option<(Stage, Entry)>> {
        for stage in Stage::ALL {
            let path = self.path(stage.name());
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(cause) if cause.kind() == ErrorKind::NotFound => continue,
                Err(cause) => {
                    return Err(Error::system(
                        format!("cannot read {}", path.display()),
                        cause,
                    ));
                }
            };
            let entry = serde_json::from_str(&text).map_err(|error| {
                Error::new(format!("{}: {error}", path.display())).remedied_by(
                    "another version of airtcp wrote it, or somebody else: undeploy with that one",
                )
            })?;
            return Ok(Some((stage, entry)));
        }
        Ok(None)
    }

    /// Writes a deployment down that is about to be made.
    ///
    /// # Errors
    ///
    /// The disk is full, or the directory forbids it. Nothing is written then.
    pub fn write(&self, entry: &Entry) -> Result<()> {
        let (unfinished, path) = (self.path("new"), self.path(Stage::Making.name()));
        let written = serde_json::to_vec_pretty(entry)
            .map_err(std::io::Error::from)
            .and_then(|bytes| {
                let mut file = File::create(&unfinished)?;
                file.write_all(&bytes)?;
                file.sync_all()?;
                fs::rename(&unfinished, &path)?;
                self.sync()
            });
        written.map_err(|cause| {
            // Whatever is half written is not looked at.
            let _ = fs::remove_file(&unfinished);
            Error::system(format!("cannot write {}", path.display()), cause)
                .remedied_by("nothing was changed")
        })
    }

    /// Says how far it is now.
    ///
    /// # Errors
    ///
    /// The file is gone.
    pub fn advance(&self, from: Stage, to: Stage) -> Result<()> {
        let (before, after) = (self.path(from.name()), self.path(to.name()));
        fs::rename(&before, &after)
            .and_then(|()| self.sync())
            .tried(|| format!("cannot rename {}", before.display()))
    }

    /// Nothing is deployed any more.
    ///
    /// # Errors
    ///
    /// The directory forbids it.
    pub fn remove(&self) -> Result<()> {
        let path = self.path(Stage::Undoing.name());
        fs::remove_file(&path)
            .and_then(|()| self.sync())
            .tried(|| format!("cannot remove {}", path.display()))
    }

    fn path(&self, stage: &str) -> PathBuf {
        self.directory.join(format!("{}.{stage}", self.number))
    }

    /// Names are on the disk only when their directory is.
    fn sync(&self) -> std::io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }
}

/// Whether an open file is still the one of this name.
fn is_named(file: &File, path: &Path) -> std::io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(cause),
    }
}
