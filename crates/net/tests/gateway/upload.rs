//! An upload from the mobile to the wired host through the router, for as long as a test wants.

use std::hash::{DefaultHasher, Hasher};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::{Duration, Instant};

use airtcp_host::error::Tried;

use crate::router::{Router, await_that};

/// The hash of the data covers blocks of this length.
const BLOCK: usize = 8192;

/// An upload under way.
pub struct Upload {
    /// It ends when this many bytes are sent.
    length: Arc<AtomicUsize>,
    arrived: Arc<AtomicUsize>,
    ends: JoinHandle<Uploaded>,
}

/// The outcome of an upload.
pub struct Uploaded {
    /// Whether the received data equals the sent data.
    pub is_whole: bool,
    /// The longest time without a byte.
    pub longest_pause: Duration,
    pub bytes: usize,
}

impl Upload {
    /// Begins one that goes on until it is ended, at most `rate` bytes a second.
    pub fn begin(router: &Router, to: impl Into<IpAddr>, rate: f64) -> Self {
        begin(router, to.into(), usize::MAX, rate)
    }

    /// Waits until `bytes` more have arrived.
    pub fn passes(&self, bytes: usize) {
        let due = self.arrived.load(Ordering::Relaxed) + bytes;
        let has_come = || self.ends.is_finished() || self.arrived.load(Ordering::Relaxed) >= due;
        await_that(has_come, "the upload goes on");
        assert!(!self.ends.is_finished(), "it has ended");
    }

    /// Ends it, when all that was sent has arrived.
    pub fn end(self) -> Uploaded {
        self.length.store(0, Ordering::Relaxed);
        self.whole()
    }

    /// Waits for its end.
    fn whole(self) -> Uploaded {
        self.ends.join().expect("both ends end")
    }
}

/// Uploads `bytes`, at most `rate` bytes a second.
pub fn upload(router: &Router, to: impl Into<IpAddr>, bytes: usize, rate: f64) -> Uploaded {
    begin(router, to.into(), bytes, rate).whole()
}

fn begin(router: &Router, to: IpAddr, bytes: usize, rate: f64) -> Upload {
    let listener = router
        .wired
        .enter(|| TcpListener::bind(SocketAddr::new(to, 0)).tried(|| "cannot listen".to_owned()))
        .expect("the wired host listens");
    let address = listener.local_addr().expect("it has one");
    let out = router
        .mobile
        .enter(|| TcpStream::connect(address).tried(|| "cannot connect".to_owned()))
        .expect("the mobile connects");
    let (come, _) = listener.accept().expect("it has come");
    let length = Arc::new(AtomicUsize::new(bytes));
    let arrived = Arc::new(AtomicUsize::new(0));
    let (until, count) = (length.clone(), arrived.clone());
    let ends = spawn(move || {
        let sender = spawn(move || send(out, &until, rate));
        let received = receive(come, &count);
        let (sent, bytes) = sender.join().expect("the sender ends");
        Uploaded {
            is_whole: received.hash == Some(sent),
            longest_pause: received.longest_pause,
            bytes,
        }
    });
    Upload {
        length,
        arrived,
        ends,
    }
}

/// Sends blocks until `until` bytes are sent; the data's hash and length.
fn send(mut out: TcpStream, until: &AtomicUsize, rate: f64) -> (u64, usize) {
    let (mut hasher, begun) = (DefaultHasher::new(), Instant::now());
    let mut sent = 0;
    while sent < until.load(Ordering::Relaxed) {
        let block: Vec<u8> = (0..BLOCK)
            .map(|at| (((sent + at) * 31) >> 3) as u8)
            .collect();
        out.write_all(&block).expect("the connection goes on");
        hasher.write(&block);
        sent += block.len();
        let ahead = sent as f64 / rate - begun.elapsed().as_secs_f64();
        if ahead > 0.0 {
            std::thread::sleep(Duration::from_secs_f64(ahead));
        }
    }
    (hasher.finish(), sent)
}

struct Received {
    /// Of whole blocks; `None` if another length arrived.
    hash: Option<u64>,
    longest_pause: Duration,
}

fn receive(mut come: TcpStream, arrived: &AtomicUsize) -> Received {
    let (mut hasher, mut block) = (DefaultHasher::new(), vec![0; 1 << 16]);
    let (mut last, mut longest_pause) = (Instant::now(), Duration::ZERO);
    let mut pending = Vec::new();
    while let Ok(length @ 1..) = come.read(&mut block) {
        longest_pause = longest_pause.max(last.elapsed());
        last = Instant::now();
        arrived.fetch_add(length, Ordering::Relaxed);
        pending.extend_from_slice(&block[..length]);
        while pending.len() >= BLOCK {
            let rest = pending.split_off(BLOCK);
            hasher.write(&std::mem::replace(&mut pending, rest));
        }
    }
    Received {
        hash: pending.is_empty().then(|| hasher.finish()),
        longest_pause,
    }
}
