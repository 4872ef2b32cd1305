//! Blocking streams as in `std::net`, over airtcp's TCP: a thread drives the device.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use airtcp_endpoint::{ConnectionId, Linger, ListenOptions, ListenerId, Options, StreamError};
use airtcp_host::error::{Result, Tried};
use airtcp_tcp::End;
use airtcp_units::Instant;
use rustix::event::{EventfdFlags, eventfd};

use super::driver::{Device, Driver};

/// A TCP stack on a TUN device, for threads that block. It ends, and the device is removed, with
/// the last of its sockets.
#[derive(Clone, Debug)]
pub struct Stack(Arc<StackThread>);

/// The thread ends with it.
#[derive(Debug)]
struct StackThread {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    driven: Mutex<Driven>,
    /// Signalled on any event of a connection or a listener.
    changed: Condvar,
    /// Readable when the thread must check the timers, or `ends`.
    woken: OwnedFd,
}

#[derive(Debug)]
struct Driven {
    driver: Driver,
    ends: bool,
    /// The error that ended the thread.
    failure: Option<String>,
}

impl Stack {
    /// Creates the device, in the calling thread's namespace, and starts the thread.
    ///
    /// # Errors
    ///
    /// The device cannot be created; names the missing requirement.
    pub fn new(device: &Device) -> Result<Self> {
        Self::with_driver(Driver::new(device)?)
    }

    /// As [`new`](Self::new), over the caller's driver.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn with_driver(driver: Driver) -> Result<Self> {
        let shared = Arc::new(Shared {
            driven: Mutex::new(Driven {
                driver,
                ends: false,
                failure: None,
            }),
            changed: Condvar::new(),
            woken: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
                .tried(|| "cannot make an eventfd".to_owned())?,
        });
        let thread = std::thread::Builder::new()
            .name("airtcp-stack".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.drive()
            })
            .tried(|| "cannot start a thread".to_owned())?;
        Ok(Self(Arc::new(StackThread {
            shared,
            thread: Some(thread),
        })))
    }

    /// Opens a connection from `local`, with port 0 for any port, and waits until it is
    /// established.
    ///
    /// # Errors
    ///
    /// It is refused, or times out, or the addresses do not fit: as for
    /// `std::net::TcpStream::connect`.
    pub fn connect(
        &self,
        local: SocketAddr,
        remote: SocketAddr,
        options: &Options,
    ) -> io::Result<Stream> {
        let mut driven = self.lock();
        let now = driven.driver.now();
        let endpoint = driven.driver.endpoint_mut();
        let id = endpoint
            .connect(now, local, remote, options)
            .map_err(|error| io::Error::new(io::ErrorKind::AddrNotAvailable, error))?;
        let stream = Stream {
            stack: self.clone(),
            id,
        };
        self.send(&mut driven)?;
        let opened = self.wait_for(driven, |driver| {
            let readiness = driver.endpoint().readiness(id);
            match readiness {
                Err(error) => Some(Err(said(error))),
                Ok(readiness) => match readiness.ended {
                    Some(end) => Some(Err(said(StreamError::Ended(end)))),
                    None => readiness.established.then_some(Ok(())),
                },
            }
        })?;
        opened.map(|()| stream)
    }

    /// Listens on `local`.
    ///
    /// # Errors
    ///
    /// Another listener has that address.
    pub fn listen(&self, local: SocketAddr, options: ListenOptions) -> io::Result<Listener> {
        let mut driven = self.lock();
        let listener = driven.driver.endpoint_mut().listen(local, options);
        let id = listener.map_err(|error| io::Error::new(io::ErrorKind::AddrInUse, error))?;
        Ok(Listener {
            stack: self.clone(),
            id,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Driven> {
        self.0.shared.lock()
    }

    /// Sends everything pending, and makes the thread check the timers.
    fn send(&self, driven: &mut Driven) -> io::Result<()> {
        driven.driver.flush().map_err(io::Error::other)?;
        self.0.shared.wake();
        Ok(())
    }

    /// Waits until `done` returns an answer.
    fn wait_for<T>(
        &self,
        mut driven: MutexGuard<'_, Driven>,
        mut done: impl FnMut(&mut Driver) -> Option<T>,
    ) -> io::Result<T> {
        loop {
            if let Some(answer) = done(&mut driven.driver) {
                return Ok(answer);
            }
            if let Some(failure) = &driven.failure {
                return Err(io::Error::other(failure.clone()));
            }
            driven = self
                .0
                .shared
                .changed
                .wait(driven)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Driven> {
        // Only a user's thread can panic; the driver is consistent between calls.
        self.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // A full counter wakes the thread as well.
        let _ = rustix::io::write(&self.woken, &1_u64.to_ne_bytes());
    }

    /// The thread's loop.
    fn drive(&self) {
        loop {
            let mut driven = self.lock();
            if driven.ends {
                return;
            }
            let pumped = driven.driver.pump();
            let mut has_news = false;
            while driven.driver.endpoint_mut().next_event().is_some() {
                has_news = true;
            }
            if has_news || pumped.is_err() {
                self.changed.notify_all();
            }
            let more = match pumped {
                Ok(more) => more,
                Err(error) => {
                    driven.failure = Some(error.to_string());
                    return;
                }
            };
            let until = driven.driver.endpoint().next_wakeup();
            let idle = driven.driver.idle_for();
            drop(driven);
            if !more {
                self.sleep(until, idle);
            }
        }
    }

    fn sleep(&self, until: Instant, idle: Option<std::time::Duration>) {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        debug_assert!(idle.is_some() || until == Instant::FAR_FUTURE);
        let timeout = idle.and_then(|idle| Timespec::try_from(idle).ok());
        let device = {
            let driven = self.lock();
            driven.driver.as_fd().try_clone_to_owned()
        };
        let Ok(device) = device else {
            return;
        };
        let mut both = [
            PollFd::new(&device, PollFlags::IN),
            PollFd::new(&self.woken, PollFlags::IN),
        ];
        let _ = poll(&mut both, timeout.as_ref());
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.woken, &mut count);
    }
}

impl Drop for StackThread {
    fn drop(&mut self) {
        self.shared.lock().ends = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A blocking connection.
#[derive(Debug)]
pub struct Stream {
    stack: Stack,
    id: ConnectionId,
}

/// A blocking listener.
#[derive(Debug)]
pub struct Listener {
    stack: Stack,
    id: ListenerId,
}

impl Listener {
    /// Accepts the next connection; returns it with its peer's address.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn accept(&self) -> io::Result<(Stream, SocketAddr)> {
        let driven = self.stack.lock();
        let (id, remote) = self.stack.wait_for(driven, |driver| {
            let id = driver.endpoint_mut().accept(self.id)?;
            let tuple = driver.endpoint().tuple(id)?;
            Some((id, tuple.remote))
        })?;
        let stack = self.stack.clone();
        Ok((Stream { stack, id }, remote))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut driven = self.stack.lock();
        let now = driven.driver.now();
        driven.driver.endpoint_mut().close_listener(now, self.id);
        let _ = self.stack.send(&mut driven);
    }
}

impl Stream {
    /// The two addresses, the local one first.
    ///
    /// # Errors
    ///
    /// The connection is gone.
    pub fn addresses(&self) -> io::Result<[SocketAddr; 2]> {
        let driven = self.stack.lock();
        let tuple = driven.driver.endpoint().tuple(self.id);
        let tuple = tuple.ok_or(io::ErrorKind::NotConnected)?;
        Ok([tuple.local, tuple.remote])
    }

    /// Shuts one direction, or both.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let mut driven = self.stack.lock();
        let endpoint = driven.driver.endpoint_mut();
        if matches!(how, Shutdown::Read | Shutdown::Both) {
            endpoint.shut_reading(self.id).map_err(said)?;
        }
        if matches!(how, Shutdown::Write | Shutdown::Both) {
            endpoint.shut_writing(self.id).map_err(said)?;
        }
        self.stack.send(&mut driven)
    }
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        use airtcp_endpoint::Read;
        if into.is_empty() {
            return Ok(0);
        }
        let driven = self.stack.lock();
        let count = self.stack.wait_for(driven, |driver| {
            let count = match driver.endpoint_mut().read(self.id, into) {
                Ok(Read::Bytes(count)) => Ok(count),
                Ok(Read::Finished) => finished(driver, self.id),
                Ok(Read::Nothing) => return None,
                Err(error) => Err(said(error)),
            };
            Some(count)
        })??;
        // The window may have opened.
        let mut driven = self.stack.lock();
        self.stack.send(&mut driven)?;
        Ok(count)
    }
}

/// The result of a read at the end of the stream: zero bytes, or the error of a broken connection.
fn finished(driver: &Driver, id: ConnectionId) -> io::Result<usize> {
    let ended = driver.endpoint().readiness(id).map_err(said)?.ended;
    match ended {
        None | Some(End::Orderly) => Ok(0),
        Some(end) => Err(said(StreamError::Ended(end))),
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let driven = self.stack.lock();
        let count = self.stack.wait_for(driven, |driver| {
            match driver.endpoint_mut().write(self.id, bytes) {
                Ok(0) => None,
                Ok(count) => Some(Ok(count)),
                Err(error) => Some(Err(said(error))),
            }
        })??;
        let mut driven = self.stack.lock();
        self.stack.send(&mut driven)?;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&*self).read(into)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Stream {
    /// Written data is delivered in the background, while the stack lives.
    fn drop(&mut self) {
        let mut driven = self.stack.lock();
        let now = driven.driver.now();
        let endpoint = driven.driver.endpoint_mut();
        let _ = endpoint.release(now, self.id, Linger::Background);
        let _ = self.stack.send(&mut driven);
    }
}

/// The error as expected by programs written for `std::net`.
fn said(error: StreamError) -> io::Error {
    let kind = match error {
        StreamError::Unknown => io::ErrorKind::NotConnected,
        StreamError::WritingIsShut | StreamError::Ended(End::Orderly) => io::ErrorKind::BrokenPipe,
        StreamError::Ended(End::Refused) => io::ErrorKind::ConnectionRefused,
        StreamError::Ended(End::Reset) => io::ErrorKind::ConnectionReset,
        StreamError::Ended(End::TimedOut) => io::ErrorKind::TimedOut,
        StreamError::Ended(End::Aborted) => io::ErrorKind::ConnectionAborted,
    };
    io::Error::new(kind, error)
}
