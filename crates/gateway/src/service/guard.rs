//! The guard: a process that outlives the gateway. When the gateway is gone without a message, or
//! no longer reports, the guard ends it and removes its rules; packets then bypass it.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, Command, Stdio};

use airtcp_host::error::{Error, Result, Tried};
use clap::Args;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::datapath::inline::open_bridge;
use crate::rules::Rules;

/// The hidden command with which the program starts itself as a guard.
pub const COMMAND: &str = "gateway-guard";
/// The gateway's message while it is well, and when it needs no guard any more.
const WELL: u8 = b'.';
const DISMISSED: u8 = b'!';
/// Its message before it removes the rules, after which it is silent.
const ENDING: u8 = b'-';
/// How often the guard looks, in nanoseconds. Silence is counted in its looks: a machine that
/// stops for seconds stops both processes, and the gateway comes first afterwards.
const LOOK_NS: i64 = 250_000_000;
/// Looks without a message after which a gateway is ended: two seconds.
const SILENT_LOOKS: u32 = 8;
/// The same for one that is ending: half a minute.
const ENDING_LOOKS: u32 = 120;

/// The state to be cleaned up when the gateway is gone.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Cleanup {
    /// Rules that lead packets into a queue that nobody serves.
    Rules(Rules),
    /// Two devices between which nothing passes any more.
    Join(String, String),
}

/// The guard's arguments.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The gateway's process
    process: i32,
    /// Changes to put right, as JSON
    cleanup: String,
}

/// A guard that watches this process.
#[derive(Debug)]
pub struct Guard {
    process: Child,
    pipe: ChildStdin,
}

impl Guard {
    /// Starts a guard.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(cleanup: &Cleanup) -> Result<Self> {
        let failed = || "cannot start the guard".to_owned();
        let program = std::env::current_exe().tried(failed)?;
        let cleanup =
            serde_json::to_string(cleanup).map_err(|error| Error::new(error.to_string()))?;
        let mut process = Command::new(program)
            .arg(COMMAND)
            .arg(std::process::id().to_string())
            .arg(cleanup)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .env_remove("NOTIFY_SOCKET")
            .spawn()
            .tried(failed)?;
        let pipe = process.stdin.take().ok_or_else(|| Error::new(failed()))?;
        Ok(Self { process, pipe })
    }

    /// Reports that the gateway is well.
    pub fn beat(&mut self) {
        // A guard that was killed guards nothing; the gateway continues.
        let _ = self.pipe.write(&[WELL]);
    }

    /// Reports that the gateway removes the rules itself, which takes time on a busy machine.
    pub fn ending(&mut self) {
        let _ = self.pipe.write(&[ENDING]);
    }

    /// Dismisses the guard: there is nothing left to clean up.
    pub fn dismiss(mut self) {
        let _ = self.pipe.write(&[DISMISSED]);
        drop(self.pipe);
        let _ = self.process.wait();
    }
}

/// The guard's life.
///
/// # Errors
///
/// Its arguments are invalid.
pub fn run(options: &Options) -> Result<i32> {
    // A separate session: the terminal's signals to the gateway do not reach it.
    let _ = rustix::process::setsid();
    let cleanup: Cleanup = serde_json::from_str(&options.cleanup).map_err(|error| {
        Error::new(format!(
            "the guard is started by the gateway alone: {error}"
        ))
    })?;
    if !is_dismissed() {
        if let Some(process) = Pid::from_raw(options.process) {
            // It is gone, or it hangs.
            let _ = kill_process(process, Signal::KILL);
        }
        match cleanup {
            // A successor's rules lead elsewhere.
            Cleanup::Rules(rules) if rules.are_installed() => rules.remove(),
            Cleanup::Rules(_) => {}
            Cleanup::Join(one, other) => open_bridge(&one, &other)?,
        }
    }
    Ok(0)
}

/// Waits until the gateway dismisses the guard, and returns true, or until it is gone or silent.
fn is_dismissed() -> bool {
    let mut input = std::io::stdin();
    let look = Timespec {
        tv_sec: 0,
        tv_nsec: LOOK_NS,
    };
    let (mut silent, mut longest) = (0, SILENT_LOOKS);
    loop {
        let mut waited = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)];
        match poll(&mut waited, Some(&look)) {
            Ok(0) if silent + 1 >= longest => return false,
            Ok(0) => {
                silent += 1;
                continue;
            }
            Ok(_) => silent = 0,
            Err(_) => continue,
        }
        let mut words = [0; 64];
        match input.read(&mut words) {
            Ok(0) | Err(_) => return false,
            Ok(length) if words[..length].contains(&DISMISSED) => return true,
            Ok(length) if words[..length].contains(&ENDING) => longest = ENDING_LOOKS,
            Ok(_) => {}
        }
    }
}
