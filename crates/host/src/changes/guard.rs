//! The guard over changes: a process that outlives the one that makes them, and completes its work.
//!
//! If the other process ends without a message, the guard takes the lock and reads the journal:
//! changes half made or half undone are undone. If the deployment has an end, the guard waits for
//! it, then undoes the deployment.

use std::path::Path;
use std::process::Stdio;

use clap::Args;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::time::Timespec;

use super::journal::{Journal, Stage};
use super::{Places, Record, engine};
use crate::clock::boot_time_ns;
use crate::daemon::guard::{Guard, Sign, confirm, watch};
use crate::error::{Error, Result, Tried};

/// Maximum duration of a single wait, in seconds: the clock of a suspended machine continues, and a
/// wait does not.
const MAX_WAIT: u64 = 30;

/// Guard another process's changes: started by airtcp-net itself
#[derive(Args, Clone, Debug)]
pub struct Options {
    #[command(flatten)]
    places: Places,
}

/// Starts a guard over records of one kind, and waits until it watches. `program` is airtcp-net.
/// Once dismissed it takes the lock only at the end of the deployment.
///
/// # Errors
///
/// It cannot be started.
pub fn start<R: Record>(program: &Path, places: &Places) -> Result<Guard> {
    let [state, pins] = [&places.state, &places.pins].map(|place| place.as_os_str());
    let words = [R::GUARD, "--state", "--pins"].map(AsRef::as_ref);
    let [command, state_is, pins_are] = words;
    // It may outlive those who read this process's errors.
    Guard::start(
        program,
        [command, state_is, state, pins_are, pins],
        Stdio::null(),
    )
}

/// The guard's life, from start to end.
///
/// # Errors
///
/// A change could not be undone; the journal identifies it.
pub fn run<R: Record>(options: &Options) -> Result<i32> {
    let journal = options.places.journal::<R>()?;
    let found = if watch(Sign::End)? {
        // The other process still holds the lock, but changes nothing more.
        let found = current(&journal)?.and_then(|(id, until)| Some((id, until?)));
        confirm()?;
        found
    } else {
        settle(&journal)?
    };
    let Some((id, until_ns)) = found else {
        return Ok(0);
    };
    if wait(&journal, id, until_ns)? {
        let lock = journal.wait_for_lock()?;
        if current(&journal)?.is_some_and(|(now, _)| now == id) {
            engine::undo(&journal, &lock, false, &mut |_| {})?;
        }
    }
    Ok(0)
}

/// Undoes the unfinished work of a dead process. Returns the deployment that has an end.
fn settle<R: Record>(journal: &Journal<R>) -> Result<Option<(u64, u64)>> {
    let lock = journal.wait_for_lock()?;
    match journal.read()? {
        Some((Stage::Making | Stage::Undoing, _)) => {
            engine::undo(journal, &lock, false, &mut |_| {})?;
            Ok(None)
        }
        Some((Stage::Deployed, record)) => Ok(record.until_ns().map(|until| (record.id(), until))),
        None => Ok(None),
    }
}

/// Waits until the end of a deployment; returns false if it was undone before.
fn wait<R: Record>(journal: &Journal<R>, id: u64, until_ns: u64) -> Result<bool> {
    let watched = || format!("cannot watch {}", journal.directory().display());
    let changes = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)
        .tried(watched)?;
    inotify::add_watch(
        &changes,
        journal.directory(),
        inotify::WatchFlags::MOVE | inotify::WatchFlags::DELETE,
    )
    .tried(watched)?;
    loop {
        if current(journal)?.is_none_or(|(now, _)| now != id) {
            return Ok(false);
        }
        let left = until_ns.saturating_sub(boot_time_ns());
        if left == 0 {
            return Ok(true);
        }
        let seconds = (left / 1_000_000_000).min(MAX_WAIT);
        let whole = seconds == MAX_WAIT;
        let time = Timespec {
            tv_sec: seconds as i64,
            tv_nsec: if whole {
                0
            } else {
                (left % 1_000_000_000) as i64
            },
        };
        let mut polled = [PollFd::new(&changes, PollFlags::IN)];
        match poll(&mut polled, Some(&time)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(cause) => return Err(Error::system(watched(), cause)),
        }
        // The name does not matter: the journal is read again.
        while rustix::io::read(&changes, &mut [0; 4096]).is_ok() {}
    }
}

/// The current deployment and its end.
fn current<R: Record>(journal: &Journal<R>) -> Result<Option<(u64, Option<u64>)>> {
    Ok(match journal.read()? {
        Some((Stage::Deployed, record)) => Some((record.id(), record.until_ns())),
        _ => None,
    })
}
