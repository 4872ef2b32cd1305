//! The uplink from the far end of a link to the machine's network.

mod carrier;
mod nat;
pub mod tied;

use std::fs;
use std::net::IpAddr;
use std::sync::Arc;

use airtcp_host::error::{Error, Result};
use airtcp_host::namespace::Namespace;

use carrier::{Carried, Carrier};
use nat::Nat;

/// The uplink's device, in the far end's namespace.
const DEVICE: &str = "out0";

/// A running uplink. Dropping it ends it.
#[derive(Debug)]
pub enum Uplink {
    /// A program carries the packets through its sockets.
    Carried(Carried),
    /// The machine forwards them with its address.
    Translated(Nat),
}

impl Uplink {
    /// Connects `server`'s namespace, to which packets of up to `mtu` bytes arrive, to the
    /// machine's network: through a program if one is installed, without changes to the machine,
    /// else as root by address translation. Call it from a thread that lives as long as the
    /// emulator.
    ///
    /// # Errors
    ///
    /// No program is installed and the machine does not translate, or the program fails.
    pub fn start(server: &Arc<Namespace>, mtu: u16) -> Result<Self> {
        server.enter(|| {
            // slirp4netns advertises itself as an IPv6 router: accepted even if forwarding.
            set("ipv6/conf/default/accept_ra", "2");
            set("ipv6/conf/all/forwarding", "1");
            set("ipv4/ip_forward", "1");
            Ok(())
        })?;
        if let Some(carrier) = Carrier::installed() {
            return Carried::start(carrier, server, mtu).map(Self::Carried);
        }
        Nat::start(server, mtu)
            .map(Self::Translated)
            .map_err(|why| {
                Error::new(format!(
                "the far end has no way out to the machine's network: neither slirp4netns nor \
                 pasta is installed, and by address translation: {why}"
            ))
            .remedied_by(
                "install slirp4netns or pasta (package passt), or give the far end a command by \
                 --server",
            )
            })
    }

    /// Its resolver. `None` if the machine is its only resolver.
    pub fn resolver(&self) -> Option<IpAddr> {
        match self {
            Self::Carried(carried) => Some(IpAddr::V4(carried.resolver())),
            Self::Translated(nat) => nat.resolver(),
        }
    }
}

/// Changes a setting of the thread's namespace. Without IPv6 its settings do not exist, and no
/// packets need them.
fn set(key: &str, value: &str) {
    let _ = fs::write(format!("/proc/sys/net/{key}"), value);
}
