//! A running program's status: for `status` commands, a successor, Prometheus, and a file.
//!
//! A separate thread serves the clients, so that a slow one does not delay packets; the main
//! thread only answers requests from a channel.

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{self, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::Builder;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use tracing::warn;

use super::metrics;
use crate::error::{Error, Result, Tried};
use crate::privileges::{Calls, CapabilitySet, Needs, folder_of, keep_only};

/// Time allowed for a request.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum length of a request.
const MAX: u64 = 4096;
/// Interval between updates of the file for Prometheus.
const EVERY: Duration = Duration::from_secs(10);
/// The request for a status.
pub const STATUS: &str = "status";

/// A program's status, which its main thread gathers, and the clients' thread words.
pub trait Status: Send {
    /// The answer to a request for the status: one line of JSON.
    fn document(&self) -> String;

    /// The same numbers in Prometheus's text format.
    fn prometheus(&self) -> String;
}

/// A request to the main thread.
pub enum Request {
    /// Asks for its status.
    Status(Sender<Box<dyn Status>>),
    /// One of the [orders](Outlets::orders).
    Order(&'static str),
}

/// Where clients find a status.
#[derive(Debug)]
pub struct Outlets {
    /// The socket for requests, of a line each.
    pub socket: UnixListener,
    /// The address at which Prometheus asks.
    pub prometheus: Option<SocketAddr>,
    /// A file with the same text, replaced regularly.
    pub file: Option<PathBuf>,
    /// Further requests, which the main thread obeys.
    pub orders: &'static [&'static str],
}

/// The requests, on the main thread's side. It polls as readable when there is one.
pub struct Requests {
    from: Receiver<Request>,
    wake: OwnedFd,
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Requests").field(&self.wake).finish()
    }
}

impl Requests {
    /// Serves clients until this value is dropped, in a thread without any privilege.
    ///
    /// # Errors
    ///
    /// An address is not available, or no thread can be started or limited.
    pub fn serve(outlets: Outlets) -> Result<Self> {
        let failed = || "cannot start a thread for the status".to_owned();
        let web = outlets.prometheus.map(listen_again).transpose()?;
        let (to, from) = channel();
        let (wake, waker) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).tried(failed)?;
        let thread = Clients {
            socket: outlets.socket,
            web,
            file: outlets.file,
            orders: outlets.orders,
            to,
            waker,
        };
        let limited = Arc::new(OnceLock::new());
        let result = Arc::clone(&limited);
        Builder::new()
            .name("status".to_owned())
            .spawn(move || {
                let refused = thread.limit().err().map(|error| error.to_string());
                let is_limited = refused.is_none();
                if result.set(refused).is_ok() && is_limited {
                    thread.serve();
                }
            })
            .tried(failed)?;
        match limited.wait() {
            Some(refused) => Err(Error::new(refused)),
            None => Ok(Self { from, wake }),
        }
    }

    /// The next request.
    pub fn next(&self) -> Option<Request> {
        let mut wakes = [0; 16];
        while rustix::io::read(&self.wake, &mut wakes[..]).is_ok_and(|length| length > 0) {}
        self.from.try_recv().ok()
    }
}

impl AsFd for Requests {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// Listens on an address even while the predecessor, which is about to end, still does.
fn listen_again(address: SocketAddr) -> Result<TcpListener> {
    let until = Instant::now() + PATIENCE * 3;
    loop {
        match TcpListener::bind(address) {
            Err(cause) if cause.kind() == ErrorKind::AddrInUse && Instant::now() < until => {
                std::thread::sleep(PATIENCE / 20);
            }
            other => return other.tried(|| format!("cannot listen on {address}")),
        }
    }
}

/// The thread that serves the clients.
struct Clients {
    socket: UnixListener,
    web: Option<TcpListener>,
    file: Option<PathBuf>,
    orders: &'static [&'static str],
    to: Sender<Request>,
    waker: OwnedFd,
}

/// The main thread is gone.
struct Gone;

impl Clients {
    /// Drops every privilege of this thread, except to write the file.
    fn limit(&self) -> Result<()> {
        let writes: Vec<&Path> = self.file.iter().map(|file| folder_of(file)).collect();
        keep_only(&Needs {
            capabilities: CapabilitySet::empty(),
            calls: Calls::Traffic,
            writes: &writes,
            reads: Some(&[]),
        })
    }

    /// Serves clients until the main thread is gone.
    fn serve(self) {
        let longest = Timespec {
            tv_sec: EVERY.as_secs().cast_signed(),
            tv_nsec: 0,
        };
        let mut written = Instant::now();
        loop {
            if let Some(file) = &self.file
                && written.elapsed() >= EVERY
            {
                written = Instant::now();
                let Ok(status) = self.status() else { return };
                if status.is_none_or(|status| write_file(file, &status.prometheus()).is_err()) {
                    warn!(file = %file.display(), "the metrics cannot be written");
                }
            }
            let mut waited = vec![PollFd::new(&self.socket, PollFlags::IN)];
            waited.extend(self.web.iter().map(|web| PollFd::new(web, PollFlags::IN)));
            if poll(&mut waited, Some(&longest)).is_err() {
                continue;
            }
            let came: Vec<_> = waited.iter().map(|one| !one.revents().is_empty()).collect();
            drop(waited);
            if came[0]
                && let Ok((stream, _)) = self.socket.accept()
                && self.answer(stream).is_err()
            {
                return;
            }
            if came.get(1) == Some(&true)
                && let Some(Ok((stream, _))) = self.web.as_ref().map(TcpListener::accept)
            {
                let Ok(status) = self.status() else { return };
                // A client that is slow gets no answer.
                let page = || status.map_or_else(String::new, |status| status.prometheus());
                let _ = metrics::answer(stream, page);
            }
        }
    }

    /// Answers a client.
    fn answer(&self, mut stream: UnixStream) -> std::result::Result<(), Gone> {
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let mut word = String::new();
        let mut lines = BufReader::new(Read::by_ref(&mut stream).take(MAX));
        if lines.read_line(&mut word).is_err() {
            return Ok(());
        }
        let word = word.trim();
        let order = self.orders.iter().find(|order| **order == word);
        let answer = match order {
            Some(order) => {
                self.ask(Request::Order(order))?;
                format!("{order}: taken")
            }
            None if word == STATUS => match self.status()? {
                Some(status) => status.document(),
                // The client is told nothing by a program that hangs.
                None => return Ok(()),
            },
            None => format!(
                "expected {}",
                [&[STATUS], self.orders].concat().join(" or ")
            ),
        };
        let _ = writeln!(stream, "{answer}");
        Ok(())
    }

    /// The status. `None` if the main thread takes too long.
    fn status(&self) -> std::result::Result<Option<Box<dyn Status>>, Gone> {
        let (to, from) = channel();
        self.ask(Request::Status(to))?;
        Ok(from.recv_timeout(PATIENCE).ok())
    }

    fn ask(&self, request: Request) -> std::result::Result<(), Gone> {
        self.to.send(request).map_err(|_| Gone)?;
        // A full pipe wakes the thread as well.
        let _ = rustix::io::write(&self.waker, &[1]);
        Ok(())
    }
}

/// Writes the file atomically: a reader never sees half of it.
fn write_file(path: &Path, text: &str) -> std::io::Result<()> {
    let unfinished = path.with_extension("new");
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}

/// Sends a request to the program that listens on a socket. `None` if it is gone.
///
/// # Errors
///
/// It does not answer.
pub fn ask(address: &net::SocketAddr, word: &str) -> Result<Option<String>> {
    let failed = || match address.as_pathname() {
        Some(path) => format!("no answer from {}", path.display()),
        None => "no answer".to_owned(),
    };
    let mut stream = match UnixStream::connect_addr(address) {
        Ok(stream) => stream,
        Err(cause)
            if [ErrorKind::NotFound, ErrorKind::ConnectionRefused].contains(&cause.kind()) =>
        {
            return Ok(None);
        }
        Err(cause) => return Err(Error::system(failed(), cause)),
    };
    stream.set_read_timeout(Some(PATIENCE * 3)).tried(failed)?;
    writeln!(stream, "{word}").tried(failed)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).tried(failed)?;
    match answer.trim() {
        "" => Err(Error::new(failed())),
        answer => Ok(Some(answer.to_owned())),
    }
}
