//! Pipes that pass data without copying (splice(2)), each in use only while it contains data.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// Capacity of a pipe, in bytes: the kernel counts it in pages, one per segment.
pub const ROOM: usize = 256 << 10;
/// Number of unused pipes kept for reuse.
const KEPT: usize = 16;

/// An empty pipe.
#[derive(Debug)]
pub struct Pipe {
    /// The reading end.
    pub out: OwnedFd,
    /// The writing end.
    pub into: OwnedFd,
}

/// The pipes of all connections.
#[derive(Debug)]
pub struct Pipes {
    idle: Vec<Pipe>,
    lent: usize,
    most: usize,
}

impl Pipes {
    /// Creates a pool with a limit on the pipes in use.
    pub const fn new(most: usize) -> Self {
        Self {
            idle: Vec::new(),
            lent: 0,
            most,
        }
    }

    /// Lends a pipe, or returns `None` if all are in use or the system has no more.
    pub fn lend(&mut self) -> Option<Pipe> {
        if self.lent >= self.most {
            return None;
        }
        let pipe = self.idle.pop().or_else(make)?;
        self.lent += 1;
        Some(pipe)
    }

    /// Counts a pipe lent by another process.
    pub const fn adopt(&mut self) {
        self.lent += 1;
    }

    /// Returns an empty pipe to the pool.
    pub fn take_back(&mut self, pipe: Pipe) {
        self.lent -= 1;
        if self.idle.len() < KEPT {
            self.idle.push(pipe);
        }
    }

    /// Accounts for a pipe that is dropped with its contents.
    pub fn drop_full(&mut self, pipe: Pipe) {
        self.lent -= 1;
        drop(pipe);
    }

    /// Number of pipes in use.
    pub const fn lent(&self) -> usize {
        self.lent
    }
}

fn make() -> Option<Pipe> {
    let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    // A smaller one is enough if fs.pipe-user-pages-soft allows no more.
    let _ = fcntl_setpipe_size(&into, ROOM);
    Some(Pipe { out, into })
}
