//! A TUN device, a clock and an endpoint, driven by their owner.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

use airtcp_endpoint::{Cut, Endpoint, Handled, Settings};
use airtcp_host::clock::{Clock, since_1970, wait};
use airtcp_host::device::Tun;
use airtcp_host::error::{Result, Tried};
use airtcp_host::interface::Network;
use airtcp_host::pcapng::Capture;
use airtcp_packet::wire::Checksums;
use airtcp_units::Instant;
use rustix::event::{PollFd, PollFlags, poll};

use super::raw::Raw;

/// Packets read before timers are checked, and with offload before the resulting packets are sent,
/// so that acknowledgments keep up with the data.
const TURN: usize = 32;
/// The longest packet, with the header before it.
const MAX: usize = 65_536 + OFFLOAD_BYTES;
/// The largest payload of one packet that the device segments: 64 KiB less IPv6's and all other
/// headers.
const LARGEST_BURST: u16 = 65_000;
/// Offset of the checksum in TCP's header (RFC 9293 §3.1).
const CHECKSUM_AT: u16 = 16;
/// Length of the header before a packet on a device with offload (virtio 1.2 §5.1.6, in this
/// machine's byte order).
const OFFLOAD_BYTES: usize = 10;
/// Its flags: the checksum must be completed, or has been verified.
const NEEDS_CHECKSUM: u8 = 1;
const DATA_VALID: u8 = 2;
/// Its types: a packet that must not be segmented, and TCP over IPv4 and IPv6.
const WHOLE: u8 = 0;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;

/// The properties of a device.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// The longest packet on it.
    pub mtu: u16,
    /// The kernel's addresses on it; the endpoint's are any others of the same networks.
    pub networks: Vec<Network>,
    /// Whether the kernel segments packets and computes checksums.
    pub offload: bool,
}

/// An endpoint on a TUN device. It polls as readable when there is something to [pump](Self::pump).
pub struct Driver {
    endpoint: Endpoint,
    tun: Tun,
    clock: Clock,
    offload: bool,
    buffer: Vec<u8>,
    headers: Vec<u8>,
    capture: Option<Capture>,
    /// Output of packets that do not leave by the device.
    raw: Option<Raw>,
}

impl std::fmt::Debug for Driver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Driver")
            .field("tun", &self.tun)
            .field("endpoint", &self.endpoint.counters())
            .finish_non_exhaustive()
    }
}

impl Driver {
    /// Creates the device in the calling thread's namespace, and an endpoint with a secret from the
    /// system.
    ///
    /// # Errors
    ///
    /// The device cannot be created; names the missing requirement.
    pub fn new(device: &Device) -> Result<Self> {
        let mut secret = [0; 16];
        File::open("/dev/urandom")
            .and_then(|mut file| file.read_exact(&mut secret))
            .tried(|| "cannot read /dev/urandom".to_owned())?;
        let settings = Settings {
            mtu: device.mtu,
            largest_burst: if device.offload { LARGEST_BURST } else { 0 },
            ..Settings::new(secret)
        };
        Self::with_endpoint(device, Endpoint::new(settings))
    }

    /// As [`new`](Self::new), with the caller's endpoint; its MTU and bursts must fit the device.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_endpoint(device: &Device, endpoint: Endpoint) -> Result<Self> {
        let make = if device.offload {
            Tun::with_offload
        } else {
            Tun::new
        };
        Ok(Self {
            endpoint,
            tun: make(&device.name, device.mtu, &device.networks)?,
            clock: Clock::start(),
            offload: device.offload,
            buffer: vec![0; MAX],
            headers: Vec::new(),
            capture: None,
            raw: None,
        })
    }

    /// An endpoint amid connections of others: packets are only read from the device, and leave by
    /// raw sockets. Packets that are not the endpoint's are forwarded.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new), or the process may not send such packets.
    pub fn amid_others(device: &Device, endpoint: Endpoint) -> Result<Self> {
        let raw = Some(Raw::new()?);
        Ok(Self {
            raw,
            ..Self::with_endpoint(device, endpoint)?
        })
    }

    /// Writes every packet into a pcapng file from now on, as on the device: with offload, before
    /// segmentation and without its checksum.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub fn capture(&mut self, path: &Path) -> Result<()> {
        let capture = Capture::create(path, "airtcp", &["tun".to_owned()])
            .tried(|| format!("cannot make {}", path.display()))?;
        self.capture = Some(capture);
        Ok(())
    }

    /// Ends the capture: writes out the buffer.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn finish_capture(&mut self) -> Result<()> {
        match self.capture.take() {
            Some(capture) => capture
                .finish()
                .tried(|| "cannot write the capture".to_owned()),
            None => Ok(()),
        }
    }

    /// The endpoint.
    #[must_use]
    pub const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// The endpoint, mutable. [Flush](Self::flush) afterwards.
    pub const fn endpoint_mut(&mut self) -> &mut Endpoint {
        &mut self.endpoint
    }

    /// The current time on the endpoint's clock.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Processes a limited number of arrived packets, so that responses are not late, handles
    /// expired timers, and sends. Returns whether more packets may have arrived.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn pump(&mut self) -> Result<bool> {
        let mut more = true;
        for _ in 0..TURN {
            let now = self.clock.now();
            let mut buffer = std::mem::take(&mut self.buffer);
            let read = self.tun.read(&mut buffer);
            if let Ok(Some(length)) = read {
                self.take(now, &buffer[..length]);
            }
            self.buffer = buffer;
            // Data released by an acknowledgment leaves before the next is read: in slow start the
            // next one counts only if the window is full. With offload, one packet represents many.
            if !self.offload {
                self.flush()?;
            }
            if read?.is_none() {
                more = false;
                break;
            }
        }
        self.endpoint.on_wakeup(self.clock.now());
        self.flush()?;
        Ok(more)
    }

    fn take(&mut self, now: Instant, bytes: &[u8]) {
        let (packet, checksums) = if self.offload {
            let Some((header, packet)) = bytes.split_first_chunk::<OFFLOAD_BYTES>() else {
                return;
            };
            let [flags, kind, ..] = *header;
            let is_trusted = flags & (NEEDS_CHECKSUM | DATA_VALID) != 0 || kind != WHOLE;
            let checksums = if is_trusted {
                Checksums::Trusted
            } else {
                Checksums::Verified
            };
            (packet, checksums)
        } else {
            (bytes, Checksums::Verified)
        };
        note(&mut self.capture, false, [packet, &[], &[]]);
        // A packet that is not TCP, or is damaged, has no recipient: the endpoint counts it.
        let handled = self.endpoint.handle_packet_with(now, packet, checksums);
        if let Some(raw) = &self.raw
            && matches!(handled, Ok(Handled::Stray) | Err(_))
        {
            raw.send([packet]);
        }
    }

    /// Sends everything pending.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn flush(&mut self) -> Result<()> {
        let now = self.clock.now();
        // The payload goes to the kernel from where it is stored.
        while let Some((transmit, [first, second])) =
            self.endpoint.poll_pieces(now, &mut self.headers)
        {
            let headers = &self.headers;
            note(&mut self.capture, true, [headers, first, second]);
            // A full queue loses packets, as on any network.
            if let Some(raw) = &self.raw {
                raw.send([headers, first, second]);
            } else if self.offload {
                let before = transmit.cut.map_or([0; OFFLOAD_BYTES], before);
                self.tun.write_pieces([&before, headers, first, second])?;
            } else {
                self.tun.write_pieces([headers, first, second])?;
            }
        }
        Ok(())
    }

    /// Time without work unless a packet arrives; `None` for no limit.
    #[must_use]
    pub fn idle_for(&self) -> Option<Duration> {
        let next = self.endpoint.next_wakeup();
        (next != Instant::FAR_FUTURE)
            .then(|| Duration::from_nanos((next - self.clock.now()).as_nanos()))
    }

    /// Waits until a packet arrives, the next timer expires, `until`, or `other` becomes readable.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn wait(&self, until: Instant, other: Option<BorrowedFd<'_>>) -> Result<()> {
        let timeout = wait(self.clock.now(), self.endpoint.next_wakeup().min(until));
        let device = PollFd::new(&self.tun, PollFlags::IN);
        let waited = match &other {
            Some(other) => {
                let mut both = [device, PollFd::new(other, PollFlags::IN)];
                poll(&mut both, timeout.as_ref())
            }
            None => poll(&mut [device], timeout.as_ref()),
        };
        match waited {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error).tried(|| "cannot wait for packets".to_owned()),
        }
    }
}

impl AsFd for Driver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

/// Writes a packet into the capture, if there is one.
fn note(kept: &mut Option<Capture>, is_out: bool, pieces: [&[u8]; 3]) {
    let Some(capture) = kept else {
        return;
    };
    if capture
        .write(0, is_out, since_1970(), &pieces.concat())
        .is_err()
    {
        // A full disk ends the capture, not the connections.
        eprintln!("airtcp-net: the capture cannot be written, and ends here");
        *kept = None;
    }
}

/// The header before a packet that the device cuts into segments.
fn before(cut: Cut) -> [u8; OFFLOAD_BYTES] {
    let mut header = [0; OFFLOAD_BYTES];
    header[..2].copy_from_slice(&[NEEDS_CHECKSUM, if cut.is_ipv6 { TCP_V6 } else { TCP_V4 }]);
    let numbers = [cut.payload_at, cut.payload_bytes, cut.tcp_at, CHECKSUM_AT];
    for (place, number) in header[2..].chunks_exact_mut(2).zip(numbers) {
        place.copy_from_slice(&number.to_ne_bytes());
    }
    header
}
