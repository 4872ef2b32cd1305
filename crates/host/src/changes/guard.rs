//! The guard: a process that outlives the one that changes the machine, and completes its work.
//!
//! It holds the other end of a pipe. If the pipe hangs up without a message, for any cause of the
//! other process's end, the guard takes the lock and reads the journal: changes half made or half
//! undone are undone. If the deployment has an end, the guard waits for it, then undoes the
//! deployment.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::time::Timespec;

use super::journal::{Journal, Stage};
use super::{Places, Record, engine};
use crate::clock::boot_time_ns;
use crate::error::{Error, Result, Tried};

/// Maximum duration of a single wait, in seconds: the clock of a suspended machine continues, and a
/// wait does not.
const MAX_WAIT: u64 = 30;
/// The guard's message once it watches, and once it knows that the work is done.
const READY: u8 = b'.';
/// The message to the guard when the work is done.
const DONE: u8 = b'!';

/// A guard that watches this process until this value is dropped.
#[derive(Debug)]
pub struct Guard {
    _process: Child,
    /// Hangs up when this process ends.
    pipe: ChildStdin,
    said: ChildStdout,
}

impl Guard {
    /// Starts a guard over records of one kind, and waits until it watches. `program` is
    /// airtcp-net.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn start<R: Record>(program: &Path, places: &Places) -> Result<Self> {
        let failed = || format!("cannot start the guard, {}", program.display());
        let mut process = Command::new(program)
            .arg(R::GUARD)
            .arg("--state")
            .arg(&places.state)
            .arg("--pins")
            .arg(&places.pins)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .tried(failed)?;
        let (Some(pipe), Some(mut said)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::new(failed()));
        };
        let mut ready = [0];
        said.read_exact(&mut ready).tried(failed)?;
        Ok(Self {
            _process: process,
            pipe,
            said,
        })
    }

    /// Reports to the guard that the work is done, and waits for its answer: after that it takes
    /// the lock only at the end of the deployment.
    pub fn dismiss(mut self) {
        // A guard that was killed does not answer, and takes no lock.
        if self.pipe.write_all(&[DONE]).is_ok() {
            let _ = self.said.read(&mut [0]);
        }
    }
}

/// The guard's life, from start to end.
///
/// # Errors
///
/// A change could not be undone; the journal identifies it.
pub fn watch<R: Record>(places: &Places) -> Result<i32> {
    // A separate session: the terminal's signals to the others do not reach it.
    rustix::process::setsid().tried(|| "cannot leave the session".to_owned())?;
    let journal = places.journal::<R>()?;
    say_ready()?;
    let mut word = [0];
    let is_done = matches!(std::io::stdin().read(&mut word), Ok(1)) && word == [DONE];
    let found = if is_done {
        // The other process still holds the lock, but changes nothing more.
        let found = current(&journal)?.and_then(|(id, until)| Some((id, until?)));
        say_ready()?;
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

fn say_ready() -> Result<()> {
    std::io::stdout()
        .write_all(&[READY])
        .and_then(|()| std::io::stdout().flush())
        .tried(|| "cannot say that the guard watches".to_owned())
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
