//! The guard: a process that outlives this one, and finishes its work if it cannot.
//!
//! It holds the other end of a pipe. If the pipe hangs up without a message, for any cause of the
//! other process's end, the guard takes over. It does so too when a process that reports
//! regularly falls silent.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::{Error, Result, Tried};

/// The guard's message once it watches, and once it knows that the work is done.
const READY: u8 = b'.';
/// The message to the guard that the process is well.
const WELL: u8 = b'.';
/// The message to the guard when the work is done.
const DONE: u8 = b'!';
/// The message to the guard before work during which the process is silent.
const ENDING: u8 = b'-';
/// How often the guard looks, in nanoseconds. Silence is counted in its looks: a machine that
/// stops for seconds stops both processes, and the other one comes first afterwards.
const LOOK_NS: i64 = 250_000_000;
/// Looks without a message after which a process is taken to hang: two seconds.
const SILENT_LOOKS: u32 = 8;
/// The same for one that is ending: half a minute.
const ENDING_LOOKS: u32 = 120;

/// A guard that watches this process until this value is dropped.
#[derive(Debug)]
pub struct Guard {
    process: Child,
    /// Hangs up when this process ends.
    pipe: ChildStdin,
    said: ChildStdout,
}

impl Guard {
    /// Starts `program` as a guard, with these arguments, and waits until it watches. Its errors
    /// go to `errors`.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn start<A: AsRef<OsStr>>(
        program: &Path,
        arguments: impl IntoIterator<Item = A>,
        errors: Stdio,
    ) -> Result<Self> {
        let failed = || format!("cannot start the guard, {}", program.display());
        let mut process = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            // Only this process speaks to the service manager.
            .env_remove("NOTIFY_SOCKET")
            .spawn()
            .tried(failed)?;
        let (Some(pipe), Some(mut said)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(Error::new(failed()));
        };
        said.read_exact(&mut [0]).tried(failed)?;
        Ok(Self {
            process,
            pipe,
            said,
        })
    }

    /// Reports that this process is well.
    pub fn beat(&mut self) {
        // A guard that was killed guards nothing; this process continues.
        let _ = self.pipe.write(&[WELL]);
    }

    /// Reports that this process finishes its work itself, which takes time on a busy machine.
    pub fn ending(&mut self) {
        let _ = self.pipe.write(&[ENDING]);
    }

    /// Reports to the guard that the work is done, and waits for its answer or its end.
    pub fn dismiss(mut self) {
        // A guard that was killed does not answer.
        if self.pipe.write_all(&[DONE]).is_ok() && matches!(self.said.read(&mut [0]), Ok(0)) {
            let _ = self.process.wait();
        }
    }
}

/// The sign by which a guard knows that the other process needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Its end.
    End,
    /// Its end, or its silence: it [beats](Guard::beat).
    Silence,
}

/// Watches the process that has started this one. Returns whether it has done its work itself.
///
/// # Errors
///
/// It is gone already.
pub fn watch(sign: Sign) -> Result<bool> {
    // A separate session: the terminal's signals to the others do not reach it.
    rustix::process::setsid().tried(|| "cannot leave the session".to_owned())?;
    confirm()?;
    let input = std::io::stdin();
    let look = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK_NS,
    };
    let look = (sign == Sign::Silence).then_some(&look);
    let (mut silent, mut longest) = (0, SILENT_LOOKS);
    loop {
        let mut waited = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
        match poll(&mut waited, look) {
            Ok(0) if silent + 1 >= longest => return Ok(false),
            Ok(0) => {
                silent += 1;
                continue;
            }
            Ok(_) => silent = 0,
            Err(_) => continue,
        }
        let mut words = [0; 64];
        match rustix::io::read(&input, &mut words) {
            Ok(0) | Err(_) => return Ok(false),
            Ok(length) if words[..length].contains(&DONE) => return Ok(true),
            Ok(length) if words[..length].contains(&ENDING) => longest = ENDING_LOOKS,
            Ok(_) => {}
        }
    }
}

/// Reports that this guard watches, or that it knows that the work is done.
///
/// # Errors
///
/// The other process is gone.
pub fn confirm() -> Result<()> {
    std::io::stdout()
        .write_all(&[READY])
        .and_then(|()| std::io::stdout().flush())
        .tried(|| "cannot report that the guard watches".to_owned())
}
