//! The diversion of `--transparent`: connections that pass through this machine come to the proxy's
//! listeners, and both their addresses stay (Documentation/networking/tproxy.rst).
//!
//! ```text
//!   packet ──▶ prerouting: to an address of this machine's? ─────────────▶ as without a proxy
//!                          a SYN from the clients' device? ── listener, mark ─┐
//!                          of a transparent socket here? ── mark ─────────────┤
//!                                        local, by lo ◀── the mark's table ◀──┘
//! ```
//!
//! Without a listener a packet is not marked and goes on as if there were no proxy; so do those of
//! connections that are older than the proxy. SYNs come first, since TPROXY knows that one may take
//! the place of a connection in TIME-WAIT (nf_tproxy_handle_time_wait4).

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use crate::deploy::route::ip;
use crate::error::{Error, Result};
use crate::nftables::{Batch, Expression, Family, Hook, Meta};

const TABLE: &str = "airtcp_proxy";
const CHAIN: &str = "divert";
/// NF_INET_PRE_ROUTING and NF_IP_PRI_MANGLE.
const BEFORE_ROUTING: Hook = Hook {
    kind: "filter",
    point: 0,
    priority: -150,
};
/// The mark of packets that stay here, and the routing table that keeps them: "at".
const MARK: u32 = 0x6174;
/// The order of the rule among those of routing: before the main table's.
const PREFERENCE: &str = "6174";
/// RTN_LOCAL of `linux/rtnetlink.h`.
const LOCAL: u32 = 2;
/// SYN, and the flags that tell it from what follows: FIN, RST and ACK (RFC 9293 §3.1).
const SYN: u8 = 0x02;
const OF_HANDSHAKES: u8 = 0x17;
/// IFNAMSIZ of `linux/if.h`.
const NAME_LENGTH: usize = 16;

/// What is diverted where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diversion {
    /// The device by which clients come in.
    pub device: String,
    /// The ports that are meant; all if empty.
    pub ports: Vec<u16>,
    /// The port of the proxy's listeners.
    pub listener: u16,
    /// IPv6 too.
    pub has_v6: bool,
}

impl Diversion {
    /// Makes it. What is there of an earlier one is replaced.
    ///
    /// # Errors
    ///
    /// The kernel refuses a rule or a route.
    pub fn make(&self) -> Result<()> {
        self.table().send().map_err(|cause| {
            Error::system("cannot divert connections", cause).remedied_by(
                "the kernel needs nf_tables with tproxy, socket and fib: as root, modprobe -a \
                 nft_tproxy nft_socket nft_fib_inet",
            )
        })?;
        for is_v6 in self.families() {
            let table = MARK.to_string();
            let kept = [
                "route", "replace", "local", "default", "dev", "lo", "table", &table,
            ];
            ip(is_v6, &kept)?;
            if !is_ruled(is_v6)? {
                ip(is_v6, &rule("add").each_ref().map(String::as_str))?;
            }
        }
        Ok(())
    }

    /// Takes it away, whatever of it is there.
    ///
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn undo(&self) -> Result<()> {
        match Batch::new(Family::Both).without_table(TABLE).send() {
            Err(cause) if cause.kind() != ErrorKind::NotFound => {
                return Err(Error::system("cannot remove the table of nf_tables", cause));
            }
            _ => {}
        }
        for is_v6 in self.families() {
            if is_ruled(is_v6)? {
                ip(is_v6, &rule("del").each_ref().map(String::as_str))?;
            }
            // A table that has never been used has no routes, and a kernel says so as an error.
            let _ = ip(is_v6, &["route", "flush", "table", &MARK.to_string()]);
        }
        Ok(())
    }

    /// Whether it is there.
    ///
    /// # Errors
    ///
    /// The kernel does not say.
    pub fn is_there(&self) -> Result<bool> {
        for is_v6 in self.families() {
            if !is_ruled(is_v6)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What it is, in words.
    pub fn words(&self) -> String {
        let ports = match self.ports.as_slice() {
            [] => String::new(),
            ports => {
                let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
                format!(" to port {}", ports.join(", "))
            }
        };
        format!(
            "TCP connections from {}{ports} are diverted to the proxy's port {} (nf_tables {TABLE}, \
             ip rule fwmark {MARK:#x})",
            self.device, self.listener
        )
    }

    fn families(&self) -> impl Iterator<Item = bool> + use<> {
        [false, true].into_iter().take(1 + usize::from(self.has_v6))
    }

    fn table(&self) -> Batch {
        let marked = [
            Expression::value(&MARK.to_ne_bytes()),
            Expression::store(Meta::Mark),
            Expression::accept(),
        ];
        let tcp = [
            Expression::load(Meta::Protocol),
            Expression::is(&[libc::IPPROTO_TCP as u8]),
        ];
        let ours = [Expression::is_transparent(), Expression::is(&[1])];
        let of_a_socket = [&tcp[..], &ours, &marked].concat();
        let to_this_machine = [
            Expression::destination_kind(),
            Expression::is(&LOCAL.to_ne_bytes()),
            Expression::accept(),
        ];
        let mut name = [0; NAME_LENGTH];
        for (to, from) in name.iter_mut().zip(self.device.bytes()) {
            *to = from;
        }
        let [flags, masked] = Expression::flags(OF_HANDSHAKES);
        let from_clients = [
            Expression::load(Meta::InputName),
            Expression::is(&name),
            flags,
            masked,
            Expression::is(&[SYN]),
        ];
        let to_proxy = [
            Expression::value(&self.listener.to_be_bytes()),
            Expression::to_listener(),
        ];
        // What is there of an earlier one goes; nothing is between the two.
        let mut batch = Batch::new(Family::Both)
            .table(TABLE)
            .without_table(TABLE)
            .table(TABLE)
            .chain(TABLE, CHAIN, BEFORE_ROUTING)
            .rule(TABLE, CHAIN, &to_this_machine);
        let ports: Vec<Option<u16>> = match self.ports.as_slice() {
            [] => vec![None],
            ports => ports.iter().copied().map(Some).collect(),
        };
        for port in ports {
            let to_port = port.map(|port| {
                [
                    Expression::destination_port(),
                    Expression::is(&port.to_be_bytes()),
                ]
            });
            let to_port = to_port.as_ref().map_or(&[][..], |both| &both[..]);
            let rule = [&tcp[..], &from_clients, to_port, &to_proxy, &marked].concat();
            batch = batch.rule(TABLE, CHAIN, &rule);
        }
        batch.rule(TABLE, CHAIN, &of_a_socket)
    }
}

/// The words of ip-rule(8) for the rule that looks marked packets up in their own table.
fn rule(verb: &str) -> [String; 8] {
    let words = ["rule", verb, "fwmark", "", "lookup", "", "pref", PREFERENCE];
    let mut words = words.map(str::to_owned);
    words[3] = format!("{MARK:#x}");
    words[5] = MARK.to_string();
    words
}

fn is_ruled(is_v6: bool) -> Result<bool> {
    let rules = ip(is_v6, &["rule", "show", "pref", PREFERENCE])?;
    Ok(rules.contains(&format!("fwmark {MARK:#x}")))
}
