//! The diversion of `--transparent`: connections that pass through this machine reach the proxy's
//! listeners, with both their addresses unchanged (Documentation/networking/tproxy.rst).
//!
//! ```text
//!   packet ──▶ prerouting: to an address of this machine's? ─────────────▶ as without a proxy
//!                          a SYN from the clients' device? ── listener, mark ─┐
//!                          of a transparent socket here? ── mark ─────────────┤
//!                                        local, by lo ◀── the mark's table ◀──┘
//! ```
//!
//! If airtcp's endpoint has one of the two sides, packets from that side go to its device instead,
//! by a separate mark and table:
//!
//! ```text
//!   packet ──▶ prerouting: TCP, or a router's error, of the endpoint's side? ── mark ─┐
//!                                        the TUN device ◀── that mark's table ◀───────┘
//! ```
//!
//! Without a listener a packet is not marked and passes as if there were no proxy; so do packets of
//! connections older than the proxy. The route to the endpoint is removed with its device: without
//! it the mark has no effect. SYNs come first, since TPROXY knows that one may replace a connection
//! in TIME-WAIT (nf_tproxy_handle_time_wait4).

use std::io::ErrorKind;

use airtcp_host::error::{Error, Result};
use airtcp_host::iproute::ip;
use airtcp_host::nftables::{Batch, Expression, Family, Hook, Meta};
use rustix::net::{Protocol, ipproto};
use serde::{Deserialize, Serialize};

use crate::options::Mobile;

const TABLE: &str = "airtcp_proxy";
const CHAIN: &str = "divert";
/// NF_INET_PRE_ROUTING and NF_IP_PRI_MANGLE.
const BEFORE_ROUTING: Hook = Hook {
    kind: "filter",
    point: 0,
    priority: -150,
};
/// The mark of diverted packets, and the routing table for them: "at".
const MARK: u32 = 0x6174;
/// The priority of the routing rule: before the main table's.
const PREFERENCE: &str = "6174";
/// The same of packets that go to the endpoint's device.
const ENDPOINT_MARK: u32 = 0x6175;
const ENDPOINT_PREFERENCE: &str = "6175";
/// Errors of routers by protocol and type: destination unreachable, which is packet too long as
/// well (RFC 792), and both of IPv6 (RFC 4443 §3).
const ROUTER_ERRORS: [(Protocol, u8); 3] = [
    (ipproto::ICMP, 3),
    (ipproto::ICMPV6, 1),
    (ipproto::ICMPV6, 2),
];
/// RTN_LOCAL of `linux/rtnetlink.h`.
const LOCAL: u32 = 2;
/// SYN, and the flags that distinguish it from later segments: FIN, RST and ACK (RFC 9293 §3.1).
const SYN: u8 = 0x02;
const OF_HANDSHAKES: u8 = 0x17;
/// IFNAMSIZ of `linux/if.h`.
const NAME_LENGTH: usize = 16;

/// The diverted connections, and their listeners.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diversion {
    /// The device on which clients arrive.
    pub device: String,
    /// The ports concerned; all if empty.
    pub ports: Vec<u16>,
    /// The port of the proxy's listeners.
    pub listener: u16,
    /// Whether IPv6 is diverted too.
    pub has_v6: bool,
    /// The side of airtcp's endpoint, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<EndpointSide>,
}

/// The side of airtcp's endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointSide {
    /// Its TUN device.
    pub device: String,
    /// Its side.
    pub side: Mobile,
}

impl Diversion {
    /// Makes the diversion, replacing an earlier one.
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
            for lead in self.leads() {
                let table = lead.mark.to_string();
                let mut route = vec!["route", "replace"];
                route.extend(&lead.route);
                ip(is_v6, &[&route[..], &["table", &table]].concat())?;
                if !lead.is_ruled(is_v6)? {
                    lead.rule(is_v6, "add")?;
                }
            }
        }
        Ok(())
    }

    /// Removes the diversion, as far as it exists.
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
            for lead in self.leads() {
                if lead.is_ruled(is_v6)? {
                    lead.rule(is_v6, "del")?;
                }
                // A table that has never been used has no routes, and a kernel reports that as an
                // error.
                let _ = ip(is_v6, &["route", "flush", "table", &lead.mark.to_string()]);
            }
        }
        Ok(())
    }

    /// Its description.
    pub fn words(&self) -> String {
        let ports = match self.ports.as_slice() {
            [] => String::new(),
            ports => {
                let ports: Vec<_> = ports.iter().map(u16::to_string).collect();
                format!(" to port {}", ports.join(", "))
            }
        };
        let device = &self.device;
        let listener = format!("the proxy's port {}", self.listener);
        let by = format!("(nf_tables {TABLE}, ip rule fwmark {MARK:#x}");
        let Some(endpoint) = &self.endpoint else {
            return format!(
                "TCP connections from {device}{ports} are diverted to {listener} {by})"
            );
        };
        let to = match endpoint.side {
            Mobile::Clients => endpoint.device.clone(),
            Mobile::Servers => format!(
                "{listener}, and their servers' answers to {}",
                endpoint.device
            ),
        };
        format!(
            "TCP connections from {device}{ports} are diverted to {to} {by} and \
             {ENDPOINT_MARK:#x})"
        )
    }

    fn families(&self) -> impl Iterator<Item = bool> + use<> {
        [false, true].into_iter().take(1 + usize::from(self.has_v6))
    }

    /// The routes of marked packets.
    fn leads(&self) -> impl Iterator<Item = Lead<'_>> {
        let to_this_machine = Lead {
            mark: MARK,
            preference: PREFERENCE,
            route: ["local", "default", "dev", "lo"].into(),
        };
        let to_endpoint = self.endpoint.as_ref().map(|endpoint| Lead {
            mark: ENDPOINT_MARK,
            preference: ENDPOINT_PREFERENCE,
            route: ["default", "dev", &endpoint.device].into(),
        });
        [to_this_machine].into_iter().chain(to_endpoint)
    }

    fn table(&self) -> Batch {
        let to_this_machine = [
            Expression::destination_kind(),
            Expression::is(&LOCAL.to_ne_bytes()),
            Expression::accept(),
        ];
        // Earlier rules are replaced in the same transaction.
        let batch = Batch::new(Family::Both)
            .table(TABLE)
            .without_table(TABLE)
            .table(TABLE)
            .chain(TABLE, CHAIN, BEFORE_ROUTING)
            .rule(TABLE, CHAIN, &to_this_machine);
        let ours = [Expression::is_transparent(), Expression::is(&[1])];
        let of_a_socket = [&tcp()[..], &ours, &marked(MARK)].concat();
        let rules = match self.endpoint.as_ref().map(|endpoint| endpoint.side) {
            None => [self.handshakes(), vec![of_a_socket]].concat(),
            Some(Mobile::Clients) => [self.of_clients(), vec![of_a_socket]].concat(),
            Some(Mobile::Servers) => {
                [self.handshakes(), vec![of_a_socket], self.of_servers()].concat()
            }
        };
        let add = |batch: Batch, rule: &Vec<_>| batch.rule(TABLE, CHAIN, rule);
        rules.iter().fold(batch, add)
    }

    /// Diverts clients' SYNs to the listener.
    fn handshakes(&self) -> Vec<Vec<Expression>> {
        let [flags, masked] = Expression::flags(OF_HANDSHAKES);
        let begins = [flags, masked, Expression::is(&[SYN])];
        let to_proxy = [
            Expression::value(&self.listener.to_be_bytes()),
            Expression::to_listener(),
        ];
        let rule = |port: Vec<_>| {
            let from_clients = [&tcp()[..], &self.came_in(), &begins, &port].concat();
            [&from_clients[..], &to_proxy, &marked(MARK)].concat()
        };
        let ports = self.ports(Expression::destination_port);
        ports.into_iter().map(rule).collect()
    }

    /// Diverts clients' packets to the endpoint.
    fn of_clients(&self) -> Vec<Vec<Expression>> {
        let segments = self.ports(Expression::destination_port).into_iter();
        let segments = segments.map(|port| [&tcp()[..], &port].concat());
        let all = segments.chain(router_errors());
        let rule = |what: Vec<_>| [&self.came_in()[..], &what, &marked(ENDPOINT_MARK)].concat();
        all.map(rule).collect()
    }

    /// Diverts servers' packets to the endpoint.
    fn of_servers(&self) -> Vec<Vec<Expression>> {
        let name = self.name();
        let to_clients = [
            Expression::load(Meta::InputName),
            Expression::is_not(&name),
            Expression::device_to_destination(),
            Expression::is(&name),
        ];
        let segments = self.ports(Expression::source_port).into_iter();
        let segments = segments.map(|port| [&tcp()[..], &port].concat());
        let all = segments.chain(router_errors());
        let rule = |what: Vec<_>| [&what[..], &to_clients, &marked(ENDPOINT_MARK)].concat();
        all.map(rule).collect()
    }

    /// Matches packets from the clients' device.
    fn came_in(&self) -> [Expression; 2] {
        [
            Expression::load(Meta::InputName),
            Expression::is(&self.name()),
        ]
    }

    /// For each diverted port, matches the value loaded by `load`.
    fn ports(&self, load: fn() -> Expression) -> Vec<Vec<Expression>> {
        match self.ports.as_slice() {
            [] => vec![Vec::new()],
            ports => ports
                .iter()
                .map(|port| vec![load(), Expression::is(&port.to_be_bytes())])
                .collect(),
        }
    }

    /// The name of the clients' device, in the kernel's form.
    fn name(&self) -> [u8; NAME_LENGTH] {
        let mut name = [0; NAME_LENGTH];
        for (to, from) in name.iter_mut().zip(self.device.bytes()) {
            *to = from;
        }
        name
    }
}

fn tcp() -> [Expression; 2] {
    of_protocol(ipproto::TCP)
}

fn of_protocol(protocol: Protocol) -> [Expression; 2] {
    [
        Expression::load(Meta::Protocol),
        Expression::is(&[protocol.as_raw().get() as u8]),
    ]
}

fn router_errors() -> impl Iterator<Item = Vec<Expression>> {
    ROUTER_ERRORS.into_iter().map(|(protocol, kind)| {
        let message = [Expression::message_type(), Expression::is(&[kind])];
        [of_protocol(protocol), message].concat()
    })
}

fn marked(mark: u32) -> [Expression; 3] {
    [
        Expression::value(&mark.to_ne_bytes()),
        Expression::store(Meta::Mark),
        Expression::accept(),
    ]
}

/// The destination of packets with a mark: a routing rule, and the single route of its table.
struct Lead<'a> {
    mark: u32,
    /// The order of the rule.
    preference: &'static str,
    /// In the syntax of ip-route(8).
    route: Vec<&'a str>,
}

impl Lead<'_> {
    fn rule(&self, is_v6: bool, verb: &str) -> Result<()> {
        let (mark, table) = (format!("{:#x}", self.mark), self.mark.to_string());
        let words = ["fwmark", &mark, "lookup", &table, "pref", self.preference];
        ip(is_v6, &[&["rule", verb], &words[..]].concat()).map(drop)
    }

    fn is_ruled(&self, is_v6: bool) -> Result<bool> {
        let rules = ip(is_v6, &["rule", "show", "pref", self.preference])?;
        Ok(rules.contains(&format!("fwmark {:#x}", self.mark)))
    }
}
