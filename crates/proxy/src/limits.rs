//! The system's limits on the proxy: open files, and pipes.

use airtcp_host::error::{Error, Result};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::pipes::ROOM;

/// Default limit on connections.
const USUAL: u64 = 10_000;
/// Listeners, the event queue, standard streams and files opened by libraries.
const OTHERS: u64 = 32;
/// Two sockets.
const PER_CONNECTION: u64 = 2;
/// Two ends.
const PER_PIPE: u64 = 2;
/// Number of pipes given up for more connections: one is nearly always enough.
const FEW_PIPES: u64 = 16;
/// Maximum share of the memory in pipes.
const PART_IN_PIPES: usize = 8;

/// The limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections.
    pub connections: usize,
    /// Pipes.
    pub pipes: usize,
}

impl Limits {
    /// Raises the limit of open files to the need of the requested connections, or of 10 000, and
    /// of as many pipes as fit in `memory` bytes. With fewer pipes, data is copied when they are
    /// all in use; without a request, there may be fewer connections.
    ///
    /// # Errors
    ///
    /// The limit is lower than requested, and the process may not raise it.
    pub fn raise(asked: Option<u32>, memory: usize) -> Result<Self> {
        let pipes = (memory / PART_IN_PIPES / ROOM).clamp(FEW_PIPES as usize, 4096) as u64;
        let wanted = asked.map_or(USUAL, u64::from);
        let files = raise_to(wanted * PER_CONNECTION + pipes * PER_PIPE + OTHERS);
        Self::within(files, asked, pipes)
    }

    /// The limits with `files` open files.
    fn within(files: u64, asked: Option<u32>, pipes: u64) -> Result<Self> {
        let left = files.saturating_sub(OTHERS);
        let connections = match asked.map(u64::from) {
            Some(asked) if asked * PER_CONNECTION > left => {
                let needed = asked * PER_CONNECTION + OTHERS;
                return Err(Error::new(format!(
                    "--connections {asked}: needs {needed} open files, and this process may have \
                     {files}"
                ))
                .remedied_by(format!(
                    "ulimit -n {needed} before it, LimitNOFILE={needed} in a systemd unit, or \
                     --connections {}",
                    left / PER_CONNECTION
                )));
            }
            Some(asked) => asked,
            None => USUAL.min(left.saturating_sub(FEW_PIPES * PER_PIPE) / PER_CONNECTION),
        };
        let room = (left - connections * PER_CONNECTION) / PER_PIPE;
        Ok(Self {
            connections: connections as usize,
            pipes: pipes.min(room) as usize,
        })
    }
}

/// Raises the limit of open files as far as possible. Returns the new limit.
fn raise_to(wanted: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let (soft, hard) = (
        now.current.unwrap_or(u64::MAX),
        now.maximum.unwrap_or(u64::MAX),
    );
    if soft >= wanted {
        return soft;
    }
    // With CAP_SYS_RESOURCE beyond the hard limit, up to fs.nr_open.
    let goals = [(wanted, hard.max(wanted)), (hard.min(wanted), hard)];
    let reached = goals.into_iter().find_map(|(soft, hard)| {
        let limit = Rlimit {
            current: Some(soft),
            maximum: (hard != u64::MAX).then_some(hard),
        };
        setrlimit(Resource::Nofile, limit).ok().map(|()| soft)
    });
    reached.unwrap_or(soft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_files_are_fewer_connections_or_an_error() {
        let within = |files, asked| Limits::within(files, asked, 256);
        let limits = |connections, pipes| Limits { connections, pipes };
        assert_eq!(within(1 << 20, None).unwrap(), limits(10_000, 256));
        assert_eq!(within(1024, None).unwrap(), limits(480, 16));
        assert_eq!(within(1024, Some(400)).unwrap(), limits(400, 96));
        assert_eq!(within(1024, Some(496)).unwrap(), limits(496, 0));
        let error = within(1024, Some(497)).unwrap_err().to_string();
        assert!(error.contains("needs 1026 open files"), "{error}");
        assert!(error.contains("--connections 496"), "{error}");
    }
}
