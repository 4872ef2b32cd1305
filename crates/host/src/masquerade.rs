//! Address translation: packets that leave by one device, or from one address, take the address of
//! the outgoing device.
//!
//! One nf_tables table with one rule. It is removed with its namespace, or with its owner.

use std::io;
use std::net::Ipv4Addr;

use crate::error::{Error, Result};
use crate::nftables::{Batch, Expression, Family, Hook, Meta, Owner};

const CHAIN: &str = "out";
/// NF_INET_POST_ROUTING and NF_IP_PRI_NAT_SRC.
const SOURCE_NAT: Hook = Hook {
    kind: "nat",
    point: 4,
    priority: 100,
};

/// The packets to be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    /// Packets that leave by the device with this index.
    By(u32),
    /// Packets from this address.
    From(Ipv4Addr),
}

impl Leaving {
    /// Packets that leave by this device of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// There is no such device.
    pub fn by(device: &str) -> Result<Self> {
        crate::interface::index(device).map(Self::By)
    }

    const fn family(self) -> Family {
        match self {
            Self::By(_) => Family::Both,
            Self::From(_) => Family::V4,
        }
    }

    fn rule(self) -> [Expression; 3] {
        let [load, is_equal] = match self {
            Self::By(device) => [
                Expression::load(Meta::OutputDevice),
                Expression::is(&device.to_ne_bytes()),
            ],
            Self::From(address) => [Expression::source_v4(), Expression::is(&address.octets())],
        };
        [load, is_equal, Expression::masquerade()]
    }
}

/// Translates in the calling thread's namespace, until the namespace ends.
///
/// # Errors
///
/// The kernel has no nf_tables with masquerading.
pub fn masquerade(leaving: &Leaving) -> Result<()> {
    let batch = Batch::new(leaving.family()).table("airtcp");
    with_rule(batch, "airtcp", *leaving).send().map_err(refused)
}

/// A translation with the lifetime of this value, in the namespace in which it was created.
#[derive(Debug)]
pub struct Masquerade {
    _owner: Owner,
}

impl Masquerade {
    /// Translates in the calling thread's namespace, with a table of this name.
    ///
    /// # Errors
    ///
    /// Such a table exists, or the kernel has no nf_tables with masquerading, or no tables with
    /// owners.
    pub fn new(table: &str, leaving: &Leaving) -> Result<Self> {
        let owner = Owner::new().map_err(refused)?;
        let batch = Batch::new(leaving.family()).owned_table(table);
        with_rule(batch, table, *leaving)
            .send_by(&owner)
            .map_err(refused)?;
        Ok(Self { _owner: owner })
    }
}

fn with_rule(batch: Batch, table: &str, leaving: Leaving) -> Batch {
    batch
        .chain(table, CHAIN, SOURCE_NAT)
        .rule(table, CHAIN, &leaving.rule())
}

fn refused(cause: io::Error) -> Error {
    Error::system("cannot translate addresses", cause)
        .remedied_by("the kernel needs nf_tables with masquerading: as root, modprobe nft_masq")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    /// The kernel accepts both rules, the second while its owner lives.
    #[test]
    fn the_kernel_takes_the_rules() {
        let namespace = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) => {
                airtcp_needs::skip(error);
                return;
            }
        };
        let source = Leaving::From(Ipv4Addr::new(192, 0, 2, 1));
        namespace
            .enter(|| {
                assert!(Leaving::by("nowhere").is_err_and(|e| e.to_string().contains("nowhere")));
                if let Err(error) = masquerade(&Leaving::by("lo")?) {
                    airtcp_needs::skip(error);
                    return Ok(());
                }
                let held = match Masquerade::new("held", &source) {
                    Ok(held) => held,
                    Err(error) => {
                        airtcp_needs::skip(error);
                        return Ok(());
                    }
                };
                // Another owner's table is not changed.
                assert!(Masquerade::new("held", &source).is_err());
                drop(held);
                Masquerade::new("held", &source).map(drop)
            })
            .unwrap();
    }
}
