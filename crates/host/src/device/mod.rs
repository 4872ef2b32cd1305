//! Network devices: the TUN devices that carry real packets into a link, their addresses and
//! routes.

pub mod bridge;
pub mod discipline;
pub mod pair;
pub mod root;
mod route;
pub mod statistics;
mod tcmsg;
pub mod tuntap;

use std::io::IoSlice;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, read, write, writev};

use crate::error::{Error, Result, Tried};
use crate::interface::{self, Network};
pub use route::{Metric, make_default_route};
use tuntap::Layer;

/// A TUN device: packets that the kernel sends into it can be read, and packets written to it are
/// received by the kernel. It is removed with this value.
#[derive(Debug)]
pub struct Tun {
    device: OwnedFd,
    name: String,
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
    /// read or written, follows a virtio header (linux/virtio_net.h, struct virtio_net_hdr), and
    /// may have the maximum length of IP.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn with_offload(name: &str, mtu: u16, networks: &[Network]) -> Result<Self> {
        Self::make(name, mtu, networks, true)
    }

    fn make(name: &str, mtu: u16, networks: &[Network], offload: bool) -> Result<Self> {
        let device = tuntap::open(name, Layer::Packets, offload).map_err(|cause| {
            let missing = cause.kind() == std::io::ErrorKind::NotFound;
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
        // Before addresses: the kernel takes one of IPv6 only with IPv6's smallest MTU.
        interface::set_mtu(name, mtu)?;
        for network in networks {
            interface::add_address(name, *network)?;
        }
        interface::bring_up(name)?;
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
        match read(&self.device, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(Errno::AGAIN) => Ok(None),
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
        self.is_taken(write(&self.device, packet))
    }

    /// As [`write`](Self::write), for a packet in pieces.
    ///
    /// # Errors
    ///
    /// The device is gone.
    pub fn write_pieces<const N: usize>(&self, pieces: [&[u8]; N]) -> Result<bool> {
        self.is_taken(writev(&self.device, &pieces.map(IoSlice::new)))
    }

    fn is_taken(&self, written: rustix::io::Result<usize>) -> Result<bool> {
        match written {
            Ok(_) => Ok(true),
            // A packet unknown to the kernel is lost, as on any network; a device that is down may
            // come up again.
            Err(Errno::AGAIN | Errno::INVAL | Errno::IO) => Ok(false),
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
