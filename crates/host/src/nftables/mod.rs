//! Tables of nf_tables, written with the messages of `include/uapi/linux/netfilter/nf_tables.h`.
//!
//! A [`Batch`] holds messages that the kernel applies together or not at all; [`list`] reads the
//! present state.

mod expression;
pub mod list;

use std::io;

pub use expression::{Expression, Meta, QueueBy};

use netlink_packet_core::{NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE, NLM_F_REQUEST, NLMSG_ERROR};

use crate::netlink::frame::{append_message, attribute, messages, nested, text};
use crate::netlink::{Connection, Part, error_of};

/// NFNL_SUBSYS_NFTABLES.
const NF_TABLES: u16 = 10;
/// NFNL_MSG_BATCH_BEGIN and NFNL_MSG_BATCH_END.
const BATCH: [u16; 2] = [0x10, 0x11];
/// NFPROTO_UNSPEC.
const UNSPEC: u8 = 0;
/// NFT_MSG_NEWTABLE, NFT_MSG_DELTABLE, NFT_MSG_NEWCHAIN, NFT_MSG_NEWRULE and NFT_MSG_DELRULE.
const NEW_TABLE: u16 = 0;
const DELETE_TABLE: u16 = 2;
const NEW_CHAIN: u16 = 3;
const NEW_RULE: u16 = 6;
const DELETE_RULE: u16 = 8;
/// Adds missing objects, after existing ones.
const CREATE: u16 = NLM_F_CREATE | NLM_F_APPEND;
/// NFT_TABLE_F_OWNER: the table is removed when the socket that made it is closed, and no other
/// process can change it (Linux 5.12 and later).
const OWNED: u32 = 2;

/// The packets seen by a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Family {
    /// NFPROTO_INET: IPv4 and IPv6.
    Both = 1,
    /// NFPROTO_IPV4.
    V4 = 2,
    /// NFPROTO_BRIDGE: packets between ports of a bridge.
    Bridge = 7,
    /// NFPROTO_IPV6.
    V6 = 10,
}

/// The place at which a chain is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The kind of chain: `nat`, `filter`.
    pub kind: &'static str,
    /// The hook (enum nf_inet_hooks).
    pub point: u32,
    /// The order among the chains there (enum nf_ip_hook_priorities).
    pub priority: i32,
}

/// The owner of a table: the table is removed with this value.
#[derive(Debug)]
pub struct Owner(Connection);

impl Owner {
    /// Creates an owner without tables, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel has no nf_tables.
    pub fn new() -> io::Result<Self> {
        Connection::open(Part::Netfilter).map(Self)
    }
}

/// Messages that the kernel applies together or not at all.
#[derive(Clone, Debug)]
pub struct Batch {
    family: Family,
    bytes: Vec<u8>,
    messages: u32,
}

impl Batch {
    /// Creates an empty batch, for tables of this family.
    pub fn new(family: Family) -> Self {
        let mut bytes = Vec::new();
        append_boundary(&mut bytes, BATCH[0], 0);
        Self {
            family,
            bytes,
            messages: 0,
        }
    }

    /// Creates a table; an existing one is left as it is.
    #[must_use]
    pub fn table(self, name: &str) -> Self {
        self.message(NEW_TABLE, CREATE, &text(1, name))
    }

    /// Creates a table that is removed with its [`Owner`].
    #[must_use]
    pub fn owned_table(self, name: &str) -> Self {
        let table = [text(1, name), number(2, OWNED)];
        self.message(NEW_TABLE, CREATE, &table.concat())
    }

    /// Removes a table and its contents.
    #[must_use]
    pub fn without_table(self, name: &str) -> Self {
        self.message(DELETE_TABLE, 0, &text(1, name))
    }

    /// Creates a chain in a table.
    #[must_use]
    pub fn chain(self, table: &str, name: &str, hook: Hook) -> Self {
        let place = [
            number(1, hook.point),
            attribute(2, &hook.priority.to_be_bytes()),
        ];
        let chain = [
            text(1, table),
            text(3, name),
            nested(4, &place),
            text(7, hook.kind),
        ];
        self.message(NEW_CHAIN, CREATE, &chain.concat())
    }

    /// Appends a rule to a chain.
    #[must_use]
    pub fn rule(self, table: &str, chain: &str, expressions: &[Expression]) -> Self {
        self.noted_rule(table, chain, expressions, "")
    }

    /// Appends a rule to a chain, with a note of at most 250 bytes that nft(8) prints as its
    /// comment; no note if it is empty.
    #[must_use]
    pub fn noted_rule(
        self,
        table: &str,
        chain: &str,
        expressions: &[Expression],
        note: &str,
    ) -> Self {
        let steps: Vec<_> = expressions.iter().map(|step| step.0.clone()).collect();
        let mut rule = [text(1, table), text(2, chain), nested(4, &steps)].concat();
        if !note.is_empty() {
            rule.extend(attribute(7, &list::noted(note)));
        }
        self.message(NEW_RULE, CREATE, &rule)
    }

    /// Removes all rules of a chain, which stays.
    #[must_use]
    pub fn without_rules(self, table: &str, chain: &str) -> Self {
        let chain = [text(1, table), text(2, chain)];
        self.message(DELETE_RULE, 0, &chain.concat())
    }

    /// Sends the messages, in the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The kernel's error for the first message that it refuses; in that case nothing has changed.
    pub fn send(self) -> io::Result<()> {
        self.send_by(&Owner::new()?)
    }

    /// Sends the messages in the owner's namespace and on its behalf.
    ///
    /// # Errors
    ///
    /// As [`Self::send`].
    pub fn send_by(mut self, owner: &Owner) -> io::Result<()> {
        append_boundary(&mut self.bytes, BATCH[1], self.messages + 1);
        owner.0.send(&self.bytes)?;
        let mut answered = 0;
        while answered < self.messages {
            for message in messages(&owner.0.receive()?) {
                if message.kind == NLMSG_ERROR {
                    error_of(message.body)?;
                    answered += 1;
                }
            }
        }
        Ok(())
    }

    fn message(mut self, kind: u16, flags: u16, attributes: &[u8]) -> Self {
        self.messages += 1;
        let kind = NF_TABLES << 8 | kind;
        let flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        let header = family_header(self.family as u8, 0);
        append_message(&mut self.bytes, kind, flags, self.messages, |body| {
            body.extend(header);
            body.extend(attributes);
        });
        self
    }
}

/// Appends the message that begins or ends a batch.
fn append_boundary(bytes: &mut Vec<u8>, kind: u16, sequence: u32) {
    append_message(bytes, kind, NLM_F_REQUEST, sequence, |body| {
        body.extend(family_header(UNSPEC, NF_TABLES));
    });
}

/// struct nfgenmsg: family, NFNETLINK_V0 and resource.
const fn family_header(family: u8, resource: u16) -> [u8; 4] {
    let [high, low] = resource.to_be_bytes();
    [family, 0, high, low]
}

/// An attribute with a number, in the network's byte order.
fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::Namespace;

    /// A batch with one refused message changes nothing.
    #[test]
    fn a_batch_is_taken_together_or_not_at_all() {
        let namespace = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) => {
                airtcp_needs::skip(error);
                return;
            }
        };
        let entered = namespace.enter(|| {
            if let Err(error) = Batch::new(Family::Both).table("one").send() {
                airtcp_needs::skip(error);
                return Ok(());
            }
            let refused = Batch::new(Family::Both).table("two").without_table("three");
            assert_eq!(refused.send().unwrap_err().kind(), io::ErrorKind::NotFound);
            assert!(
                Batch::new(Family::Both)
                    .without_table("two")
                    .send()
                    .is_err()
            );
            Batch::new(Family::Both)
                .without_table("one")
                .send()
                .unwrap();
            assert!(
                Batch::new(Family::Both)
                    .without_table("one")
                    .send()
                    .is_err()
            );
            Ok(())
        });
        entered.unwrap();
    }
}
