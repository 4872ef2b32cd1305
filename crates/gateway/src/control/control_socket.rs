//! Requests to the gateway, from `airtcp gateway status`, a successor, or Prometheus.
//!
//! A separate thread serves the clients, so that a slow one does not delay packets; the gateway's
//! thread only answers requests from a channel.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use airtcp_host::daemon::metrics;
use airtcp_host::error::{Error, Result, Tried};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};

use super::report::Report;

/// Time allowed for a request.
const PATIENCE: Duration = Duration::from_secs(1);
/// Maximum length of a request.
const MAX: u64 = 4096;
/// Interval between updates of the file for Prometheus.
const EVERY: Duration = Duration::from_secs(10);

/// A request to the gateway's thread.
#[derive(Debug)]
pub enum Request {
    /// Asks for its report.
    Report(Sender<Box<Report>>),
    /// Asks it to hold no new packets, release the held ones, and end: a successor has taken over.
    Drain,
}

/// The requests, on the gateway thread's side.
#[derive(Debug)]
pub struct ControlSocket {
    from: Receiver<Request>,
    wake_rx: OwnedFd,
    path: PathBuf,
    /// The socket's path until the gateway takes over its final name.
    waiting: PathBuf,
    is_named: bool,
}

/// The socket path of the gateway on a device in a namespace.
pub fn socket_path(state: &Path, cookie: u64, mobile: &str) -> PathBuf {
    state.join(format!("gateway-{cookie}-{mobile}.sock"))
}

impl ControlSocket {
    /// Starts listening. The socket gets its final name only with [`take_name`](Self::take_name).
    ///
    /// # Errors
    ///
    /// The folder or an address is not available.
    pub fn listen(
        path: PathBuf,
        prometheus: Option<SocketAddr>,
        file: Option<PathBuf>,
    ) -> Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).tried(|| format!("cannot make {}", folder.display()))?;
        let waiting = path.with_extension(format!("{}.new", std::process::id()));
        let _ = fs::remove_file(&waiting);
        let socket = UnixListener::bind(&waiting)
            .tried(|| format!("cannot listen on {}", waiting.display()))?;
        let web = match prometheus {
            Some(address) => Some(listen_again(address)?),
            None => None,
        };
        let (to, from) = channel();
        let (wake_rx, wake_tx) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)
            .tried(|| "cannot make a pipe".to_owned())?;
        let thread = ControlThread {
            socket,
            web,
            file,
            to,
            wake_tx,
        };
        Builder::new()
            .name("control".to_owned())
            .spawn(move || thread.run())
            .tried(|| "cannot start the control thread".to_owned())?;
        Ok(Self {
            from,
            wake_rx,
            path,
            waiting,
            is_named: false,
        })
    }

    /// Publishes this gateway under its device's name.
    ///
    /// # Errors
    ///
    /// The folder does not allow it.
    pub fn take_name(&mut self) -> Result<()> {
        fs::rename(&self.waiting, &self.path)
            .tried(|| format!("cannot rename {}", self.waiting.display()))?;
        self.is_named = true;
        Ok(())
    }

    /// Records that a successor has taken the name: it is not removed at the end.
    pub const fn give_name_away(&mut self) {
        self.is_named = false;
    }

    /// The next request.
    pub fn next(&self) -> Option<Request> {
        let mut wakes = [0; 16];
        while rustix::io::read(&self.wake_rx, &mut wakes[..]).is_ok_and(|length| length > 0) {}
        self.from.try_recv().ok()
    }
}

impl AsFd for ControlSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake_rx.as_fd()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let path = if self.is_named {
            &self.path
        } else {
            &self.waiting
        };
        let _ = fs::remove_file(path);
    }
}

/// Listens on an address even while the previous gateway, which drains, still does.
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
struct ControlThread {
    socket: UnixListener,
    web: Option<TcpListener>,
    file: Option<PathBuf>,
    to: Sender<Request>,
    wake_tx: OwnedFd,
}

impl ControlThread {
    /// Serves clients until the gateway's thread is gone.
    fn run(self) {
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
                if self
                    .report()
                    .is_none_or(|report| write_file(file, &report).is_err())
                {
                    tracing::warn!(file = %file.display(), "the metrics cannot be written");
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
                && !self.answer(stream)
            {
                return;
            }
            if came.get(1) == Some(&true)
                && let Some(Ok((stream, _))) = self.web.as_ref().map(TcpListener::accept)
            {
                // A client that is slow gets no answer.
                let _ = metrics::answer(stream, || {
                    self.report()
                        .map_or(String::new(), |report| report.prometheus())
                });
            }
        }
    }

    /// Answers a client. Returns whether the gateway still runs.
    fn answer(&self, mut stream: UnixStream) -> bool {
        let _ = stream.set_read_timeout(Some(PATIENCE));
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let mut word = String::new();
        let mut lines = BufReader::new(Read::by_ref(&mut stream).take(MAX));
        if lines.read_line(&mut word).is_err() {
            return true;
        }
        let answer = match word.trim() {
            "status" => {
                let Some(report) = self.report() else {
                    return false;
                };
                let text = report.to_string();
                serde_json::json!({ "report": report, "text": text }).to_string()
            }
            "drain" => {
                if self.ask(Request::Drain).is_none() {
                    return false;
                }
                "draining".to_owned()
            }
            _ => "expected status or drain".to_owned(),
        };
        let _ = writeln!(stream, "{answer}");
        true
    }

    fn report(&self) -> Option<Box<Report>> {
        let (to, from) = channel();
        self.ask(Request::Report(to))?;
        from.recv_timeout(PATIENCE).ok()
    }

    fn ask(&self, request: Request) -> Option<()> {
        self.to.send(request).ok()?;
        // A full pipe wakes the thread as well.
        let _ = rustix::io::write(&self.wake_tx, &[1]);
        Some(())
    }
}

/// Writes the file atomically: a reader never sees half of it.
fn write_file(path: &Path, report: &Report) -> std::io::Result<()> {
    let unfinished = path.with_extension("new");
    fs::write(&unfinished, report.prometheus())?;
    fs::rename(&unfinished, path)
}

/// Sends a request to the gateway that listens on a socket. `None` if it is gone.
///
/// # Errors
/// It does not respond.
pub fn ask(path: &Path, word: &str) -> Result<Option<String>> {
    let failed = || format!("the gateway of {} does not answer", path.display());
    let mut stream = match UnixStream::connect(path) {
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
    Ok(Some(answer.trim().to_owned()))
}
