//! Pipes that data passes through without being copied (splice(2)), lent while it is in them.

use std::os::fd::OwnedFd;

use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};

/// Room of a pipe, in bytes: the kernel takes it for pages, of which a segment fills one each.
pub const ROOM: usize = 256 << 10;
/// Pipes that are kept for the next who needs one.
const KEPT: usize = 16;

/// A pipe with nothing in it.
#[derive(Debug)]
pub struct Pipe {
    /// Where data comes out.
    pub out: OwnedFd,
    /// Where data goes in.
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
    /// Pipes, with a limit on those lent at a time.
    pub const fn new(most: usize) -> Self {
        Self {
            idle: Vec::new(),
            lent: 0,
            most,
        }
    }

    /// A pipe, or `None` where all are lent or the system has no more.
    pub fn lend(&mut self) -> Option<Pipe> {
        if self.lent >= self.most {
            return None;
        }
        let pipe = self.idle.pop().or_else(make)?;
        self.lent += 1;
        Some(pipe)
    }

    /// Takes an empty pipe back.
    pub fn take_back(&mut self, pipe: Pipe) {
        self.lent -= 1;
        if self.idle.len() < KEPT {
            self.idle.push(pipe);
        }
    }

    /// Takes back one that goes with what is in it.
    pub fn drop_full(&mut self, pipe: Pipe) {
        self.lent -= 1;
        drop(pipe);
    }

    /// How many are lent.
    pub const fn lent(&self) -> usize {
        self.lent
    }
}

fn make() -> Option<Pipe> {
    let (out, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).ok()?;
    // A smaller one will do where fs.pipe-user-pages-soft forbids it.
    let _ = fcntl_setpipe_size(&into, ROOM);
    Some(Pipe { out, into })
}
