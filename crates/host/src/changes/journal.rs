//! The journal: a deployment's changes, written down before they are made.
//!
//! One file per network namespace holds the deployment, and its name gives the stage:
//!
//! ```text
//! (absent) ──write──▶ N.making ──rename──▶ N.deployed ──rename──▶ N.undoing ──remove──▶ (absent)
//!                         └───────────────rename────────────────────▲
//! ```
//!
//! After the first write every step is a rename, which is atomic and needs no room on the disk. A
//! file found as `making` or `undoing` belongs to a process that has died.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::marker::PhantomData;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};

use super::Record;
use crate::error::{Error, Result, Tried};

/// The guard of a process that has died is done within milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// The stage of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Being made: some changes may be in place, others not.
    Making,
    /// All changes are in place.
    Deployed,
    /// Being undone.
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

/// The journal of a network namespace, for records of one kind.
#[derive(Debug)]
pub struct Journal<R> {
    directory: PathBuf,
    number: u64,
    records: PhantomData<fn() -> R>,
}

/// Holds the lock: no other process changes anything while this lives. Its file is removed with it.
#[derive(Debug)]
pub struct Locked {
    file: File,
    path: PathBuf,
}

impl Locked {
    /// A descriptor of the lock: its holder holds the lock.
    ///
    /// # Errors
    ///
    /// The system has no descriptors left.
    pub fn descriptor(&self) -> Result<OwnedFd> {
        let copied = self.file.as_fd().try_clone_to_owned();
        copied.tried(|| format!("cannot copy the lock {}", self.path.display()))
    }

    /// Hands the lock over to another process that has its descriptor.
    pub fn leave(self) {
        // Dropping it would remove its file. The descriptor closes with this process.
        std::mem::forget(self);
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Before the lock is released: a process that waited for it sees that its file no longer
        // has a name.
        let _ = fs::remove_file(&self.path);
    }
}

impl<R: Record> Journal<R> {
    /// Creates the journal in `directory` for the namespace with that number.
    pub const fn new(directory: PathBuf, number: u64) -> Self {
        Self {
            directory,
            number,
            records: PhantomData,
        }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Creates the directory if necessary.
    ///
    /// # Errors
    ///
    /// It cannot be created.
    pub fn prepare(&self) -> Result<()> {
        fs::create_dir_all(&self.directory)
            .tried(|| format!("cannot make {}", self.directory.display()))
    }

    /// Takes the lock, or returns `None` if another process holds it for longer than a few seconds.
    /// The guard of a process that has died holds it for a moment.
    ///
    /// # Errors
    ///
    /// Its file cannot be made or locked.
    pub fn lock(&self) -> Result<Option<Locked>> {
        let start = Instant::now();
        loop {
            let locked = self.try_lock(FlockOperation::NonBlockingLockExclusive)?;
            if locked.is_some() || start.elapsed() > PATIENCE {
                return Ok(locked);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Waits for the lock, with no limit.
    ///
    /// # Errors
    ///
    /// Its file cannot be made or locked.
    pub fn wait_for_lock(&self) -> Result<Locked> {
        loop {
            if let Some(locked) = self.try_lock(FlockOperation::LockExclusive)? {
                return Ok(locked);
            }
        }
    }

    /// Tries once; returns `None` if another process holds the lock, or has just removed its file.
    fn try_lock(&self, operation: FlockOperation) -> Result<Option<Locked>> {
        let path = self.path("lock");
        let failed = || format!("cannot lock {}", path.display());
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .tried(failed)?;
        match flock(&file, operation) {
            // A lock whose holder has removed its file excludes no other process.
            Ok(()) if is_named(&file, &path).tried(failed)? => Ok(Some(Locked { file, path })),
            Ok(()) | Err(rustix::io::Errno::INTR | rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(cause) => Err(Error::system(failed(), cause)),
        }
    }

    /// The lock handed over by another process, by its descriptor.
    pub fn inherit(&self, lock: OwnedFd) -> Locked {
        Locked {
            file: lock.into(),
            path: self.path("lock"),
        }
    }

    /// Reads the deployment and its stage, if there is one.
    ///
    /// # Errors
    ///
    /// The journal cannot be read or is malformed.
    pub fn read(&self) -> Result<Option<(Stage, R)>> {
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
            let record = serde_json::from_str(&text).map_err(|error| {
                Error::new(format!("{}: {error}", path.display())).remedied_by(
                    "another version of airtcp wrote it, or somebody else: undeploy with that one",
                )
            })?;
            return Ok(Some((stage, record)));
        }
        Ok(None)
    }

    /// Records a deployment that is about to be made.
    ///
    /// # Errors
    ///
    /// The disk is full, or the directory does not allow it. In that case nothing is written.
    pub fn write(&self, record: &R) -> Result<()> {
        let (unfinished, path) = (self.path("new"), self.path(Stage::Making.name()));
        let written = serde_json::to_vec_pretty(record)
            .map_err(std::io::Error::from)
            .and_then(|bytes| {
                let mut file = File::create(&unfinished)?;
                file.write_all(&bytes)?;
                file.sync_all()?;
                fs::rename(&unfinished, &path)?;
                self.sync()
            });
        written.map_err(|cause| {
            // A half-written file is never read.
            let _ = fs::remove_file(&unfinished);
            Error::system(format!("cannot write {}", path.display()), cause)
                .remedied_by("nothing was changed")
        })
    }

    /// Records the next stage.
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

    /// Removes the entry: nothing is deployed any more.
    ///
    /// # Errors
    ///
    /// The directory does not allow it.
    pub fn remove(&self) -> Result<()> {
        let path = self.path(Stage::Undoing.name());
        fs::remove_file(&path)
            .and_then(|()| self.sync())
            .tried(|| format!("cannot remove {}", path.display()))
    }

    fn path(&self, stage: &str) -> PathBuf {
        self.directory.join(format!("{}.{stage}", self.number))
    }

    /// Syncs the directory: only then are its names on the disk.
    fn sync(&self) -> std::io::Result<()> {
        File::open(&self.directory)?.sync_all()
    }
}

/// Whether an open file still has this name.
fn is_named(file: &File, path: &Path) -> std::io::Result<bool> {
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        Err(cause) => Err(cause),
    }
}
