//! Network devices: the TUN devices that carry real packets into a link, their addresses and
//! routes.

pub mod bridge;
pub mod discipline;
pub mod pair;
pub mod root;
mod route;
pub mod statistics;

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::error::{Error, Result, Tried};
use crate::interface::Network;
pub use route::{Metric, make_default_route};

/// A TUN device: packets that the kernel sends into it can be read, and packets written to it are
/// received by the kernel. It is removed with this value.
pub struct Tun {
    device: SyncDevice,
    name: String,
}

impl fmt::Debug for Tun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tun").field(&self.name).finish()
    }
}

impl Tun {
    /// Creates a device in the calling thread's namespace, up, with these addresses, non-blocking:
    /// reads and writes return `WouldBlock` instead of waiting.
    ///
    /// # Errors
    ///
    /// `/dev/net/tun` is missing or forbidden, or the name or an address is refused.
    pub fn new(name: &str, mtu: u16, networks: &[Network]) -> Result<Self> {
        Self::make(name, mtu, networks, false)
    }

    /// As [`new`](Self::new), for a device with segmentation and checksum offload: every packet,
    /// read or written, follows a [virtio header](tun_rs::VirtioNetHdr), and may have the maximum
    /// length of IP.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_offload(name: &str, mtu: u16, networks: &[Network]) -> Result<Self> {
        Self::make(name, mtu, networks, true)
    }

    fn make(name: &str, mtu: u16, networks: &[Network], offload: bool) -> Result<Self> {
        let mut builder = DeviceBuilder::new()
            .name(name)
            .layer(Layer::L3)
            .mtu(mtu)
            .offload(offload)
            .packet_information(false);
        for network in networks {
            builder = match network.address {
                IpAddr::V4(address) => builder.ipv4(address, network.prefix, None),
                IpAddr::V6(address) => builder.ipv6(address, network.prefix),
            };
        }
        let device = builder.build_sync().map_err(|cause| {
            let missing = cause.kind() == io::ErrorKind::NotFound;
            let error = Error::system(format!("cannot make the TUN device {name}"), cause);
            if missing {
                error.remedied_by(
                    "/dev/net/tun is not there: as root, modprobe tun, or give the container the \
                     device",
                )
            } else {
                error
            }
        })?;
        device
            .set_nonblocking(true)
            .tried(|| format!("cannot set {name} not to wait"))?;
        for network in networks.iter().filter(|network| network.address.is_ipv6()) {
            route::await_local(network.address)
                .tried(|| format!("{name} does not get the address {}", network.address))?;
        }
        Ok(Self {
            device,
            name: name.to_owned(),
        })
    }

    /// The device's name in its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a default route through this device, by way of these hosts. The device has no use for
    /// them, but programs look for the gateways of a default route. Call it in the device's
    /// namespace.
    ///
    /// # Errors
    ///
    /// The kernel refuses the route.
    pub fn make_default_route(&self, gateways: [IpAddr; 2]) -> Result<()> {
        gateways
            .into_iter()
            .try_for_each(|gateway| make_default_route(&self.name, gateway))
    }

    /// Routes `destination`, a network with a prefix of `prefix` bits, into this device, with these
    /// TCP attributes. Call it in the device's namespace.
    ///
    /// # Errors
    ///
    /// The kernel refuses the route or an attribute.
    pub fn route(&self, destination: IpAddr, prefix: u8, metrics: &[Metric]) -> Result<()> {
        route::add(&self.name, destination, prefix, None, metrics)
    }

    /// Reads a packet. `None` if no packet is waiting.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn read(&self, buffer: &mut [u8]) -> Result<Option<usize>> {
        match self.device.recv(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(Error::system(
                format!("cannot read from {}", self.name),
                error,
            )),
        }
    }

    /// Writes a packet. Returns whether the kernel took it: its queue may be full.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn write(&self, packet: &[u8]) -> Result<bool> {
        self.is_taken(self.device.send(packet))
    }

    /// As [`write`](Self::write), for a packet in pieces.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn write_pieces<const N: usize>(&self, pieces: [&[u8]; N]) -> Result<bool> {
        let pieces = pieces.map(io::IoSlice::new);
        self.is_taken(self.device.send_vectored(&pieces))
    }

    fn is_taken(&self, written: io::Result<usize>) -> Result<bool> {
        match written {
            Ok(_) => Ok(true),
            // A packet unknown to the kernel is lost, as on any network.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::InvalidInput
                ) =>
            {
                Ok(false)
            }
            // The device is down: it may come up again.
            Err(error) if error.raw_os_error() == Some(libc::EIO) => Ok(false),
            Err(error) => Err(Error::system(
                format!("cannot write to {}", self.name),
                error,
            )),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}
