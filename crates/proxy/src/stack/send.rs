//! `airtcp send`: sends a file over airtcp's TCP to a listener.

use std::fs::File;
use std::io::Write as _;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use airtcp_endpoint::{ConnectionId, Linger, Read};
use airtcp_host::error::{Error, Result, Tried};
use airtcp_host::privileges::{Calls, CapabilitySet, Needs, keep_only};
use airtcp_tcp::End;
use airtcp_units::Duration;
use clap::Args;

use super::driver::Driver;
use super::options::StackOptions;
use super::stats::Stats;

/// Limit on the bytes read from the file at a time.
const PIECE: usize = 1 << 18;

/// Send a file over airtcp's TCP, with any remedy
///
/// Packets enter this machine's kernel through a TUN device. The receiver is a program here that
/// listens on the kernel's address of the device (10.112.7.1), or any host to which the kernel
/// forwards and masquerades. Data from the receiver is written to standard output. Needs root, or
/// a private network namespace (unshare -Urn).
///
/// Example: nc -l 9000 > copy & airtcp send FILE 10.112.7.1:9000 --remedy rto-factor:m=10
#[derive(Args, Clone, Debug)]
pub struct Send {
    /// File to send; - for standard input
    pub file: PathBuf,
    /// Address of the receiver
    #[arg(value_name = "HOST:PORT")]
    pub to: String,
    /// The device and the stack.
    #[command(flatten)]
    pub stack: StackOptions,
    /// Abort after this many seconds without an acknowledgment
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
}

/// Sends the file.
///
/// # Errors
///
/// The device cannot be created, the peer refuses, resets or is silent, or the file cannot be read.
pub fn run(options: &Send) -> Result<i32> {
    let to = resolve(&options.to)?;
    let mut file: Box<dyn std::io::Read> = if options.file.as_os_str() == "-" {
        Box::new(std::io::stdin())
    } else {
        let path = &options.file;
        Box::new(File::open(path).tried(|| format!("cannot open {}", path.display()))?)
    };
    let connection = options.stack.connection()?;
    let mut driver = options.stack.driver()?;
    let from = SocketAddr::new(options.stack.address(to.ip()), 0);
    let began = driver.now();
    let id = driver
        .endpoint_mut()
        .connect(began, from, to, &connection)
        .map_err(|error| Error::new(error.to_string()))?;
    if let Some(seconds) = options.timeout {
        let most = Some(Duration::from_secs(seconds.into()));
        let _ = driver.endpoint_mut().set_user_timeout(id, most);
    }
    let mut transfer = Transfer {
        id,
        is_read: false,
        has_answered: false,
        sent: 0,
    };
    let mut stats = Stats::new(options.stack.stats, &connection, began);
    // Only the device, the file and the capture are open.
    keep_only(&Needs {
        capabilities: CapabilitySet::empty(),
        calls: Calls::Traffic,
        writes: &[],
        reads: Some(&[]),
    })?;
    loop {
        let more = driver.pump()?;
        // There is only one connection: no event needs to be examined.
        while driver.endpoint_mut().next_event().is_some() {}
        if transfer.step(&mut driver, &mut *file)? {
            break;
        }
        driver.flush()?;
        stats.print(driver.now(), driver.endpoint());
        if !more && !driver.endpoint().has_event() {
            driver.wait(stats.due(), None)?;
        }
    }
    let took = (driver.now() - began).as_secs_f64();
    let sent = transfer.sent;
    let megabits = sent as f64 * 8.0 / took.max(1e-9) / 1e6;
    eprintln!("{sent} bytes in {took:.3} s: {megabits:.1} Mbit/s");
    finish(&mut driver, id)?;
    Ok(0)
}

fn resolve(text: &str) -> Result<SocketAddr> {
    text.to_socket_addrs()
        .tried(|| format!("{text:?}: expected HOST:PORT, such as 10.112.7.1:9000"))?
        .next()
        .ok_or_else(|| Error::new(format!("{text:?}: the name has no address")))
}

/// A file being sent, and the answer.
struct Transfer {
    id: ConnectionId,
    is_read: bool,
    has_answered: bool,
    sent: u64,
}

impl Transfer {
    /// Continues until it would block. Returns whether everything is acknowledged, and the peer has
    /// closed.
    fn step(&mut self, driver: &mut Driver, file: &mut dyn std::io::Read) -> Result<bool> {
        let endpoint = driver.endpoint_mut();
        // Few large pieces instead of one for each acknowledgment.
        while !self.is_read
            && endpoint
                .readiness(self.id)
                .is_ok_and(|ready| ready.writable)
        {
            let mut read = Ok(0);
            let written = endpoint.write_with(self.id, PIECE, |space| {
                read = file.read(space);
                *read.as_ref().unwrap_or(&0)
            });
            if written.is_err() {
                // The code below reports why.
                break;
            }
            let read = read.tried(|| "cannot read".to_owned())?;
            self.sent += read as u64;
            if read == 0 {
                self.is_read = true;
                let _ = endpoint.shut_writing(self.id);
            }
        }
        self.take_answer(driver)?;
        let readiness = driver.endpoint().readiness(self.id);
        let ended = readiness.ok().and_then(|readiness| readiness.ended);
        match ended {
            Some(End::Orderly) => Ok(true),
            Some(end) => Err(Error::new(
                airtcp_endpoint::StreamError::Ended(end).to_string(),
            )),
            None => {
                let stream = driver.endpoint().stream(self.id);
                let is_delivered = stream.is_none_or(|stream| stream.unacknowledged() == 0);
                Ok(self.is_read && is_delivered && self.has_answered)
            }
        }
    }

    fn take_answer(&mut self, driver: &mut Driver) -> Result<()> {
        let mut answer = [0; 1 << 14];
        loop {
            match driver.endpoint_mut().read(self.id, &mut answer) {
                Ok(Read::Bytes(count)) => std::io::stdout()
                    .write_all(&answer[..count])
                    .tried(|| "cannot write the answer".to_owned())?,
                Ok(Read::Finished) => {
                    self.has_answered = true;
                    return Ok(());
                }
                Ok(Read::Nothing) | Err(_) => return Ok(()),
            }
        }
    }
}

/// Releases the connection, and waits until the peer has the last acknowledgment.
fn finish(driver: &mut Driver, id: ConnectionId) -> Result<()> {
    let now = driver.now();
    let _ = driver.endpoint_mut().release(now, id, Linger::Background);
    let until = now + Duration::from_secs(2);
    while !driver.endpoint().is_empty() && driver.now() < until {
        if !driver.pump()? {
            driver.wait(until, None)?;
        }
    }
    driver.finish_capture()
}
