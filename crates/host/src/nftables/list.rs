//! Reads nf_tables: notes of rules, flowtables, and the rules that offload to them.

use std::io;

use netlink_packet_core::NLM_F_DUMP;

use super::{Family, NF_TABLES, family_header};
use crate::netlink::frame::{as_text, attribute, attributes, find, text};
use crate::netlink::{Connection, Part};

/// NFT_MSG_GETRULE, and NFT_MSG_NEWFLOWTABLE and NFT_MSG_GETFLOWTABLE.
const GET_RULE: u16 = 7;
const NEW_RULE: u16 = 6;
const NEW_FLOWTABLE: u16 = 22;
const GET_FLOWTABLE: u16 = 23;
/// NFT_FLOWTABLE_HW_OFFLOAD.
const HARDWARE: u32 = 1;
/// NFPROTO_UNSPEC: tables of every family.
const ALL: u8 = 0;

/// A flowtable: packets of its connections bypass all chains but those at their devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowTable {
    /// The number of its table's family.
    pub family: u8,
    /// Its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// The devices with ingress to the table.
    pub devices: Vec<String>,
    /// Whether it offloads connections to the devices' hardware.
    pub is_hardware: bool,
}

/// A rule that adds connections to a flowtable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowRule {
    /// Its chain.
    pub chain: String,
    /// Its handle, which identifies it for nft(8).
    pub handle: u64,
}

/// The user data with a note, as nft(8) encodes comments (NFTNL_UDATA_RULE_COMMENT): kind, length,
/// and the text with a zero.
pub(super) fn noted(note: &str) -> Vec<u8> {
    let mut data = vec![0, u8::try_from(note.len() + 1).unwrap_or(u8::MAX)];
    data.extend(note.as_bytes());
    data.push(0);
    data
}

/// The notes of the rules in a table; empty if there is no such table.
///
/// # Errors
///
/// The kernel has no nf_tables, or does not answer.
pub fn notes(family: Family, table: &str) -> io::Result<Vec<String>> {
    let rules = dump(GET_RULE, family as u8, &text(1, table))?;
    let notes = rules
        .iter()
        .filter(|(kind, rule)| *kind == NEW_RULE && named(rule, 1, table))
        .filter_map(|(_, rule)| find(rule, 7)?.get(2..).map(as_text));
    Ok(notes.collect())
}

/// The flowtables of the calling thread's namespace.
///
/// # Errors
///
/// The kernel has no nf_tables, or does not answer.
pub fn flow_tables() -> io::Result<Vec<FlowTable>> {
    let found = dump(GET_FLOWTABLE, ALL, &[])?;
    Ok(found
        .iter()
        .filter(|(kind, _)| *kind == NEW_FLOWTABLE)
        .filter_map(|(_, body)| read_flow_table(body))
        .collect())
}

/// The rules that add connections to a flowtable.
///
/// # Errors
///
/// The kernel does not answer.
pub fn rules_of(flows: &FlowTable) -> io::Result<Vec<FlowRule>> {
    let rules = dump(GET_RULE, flows.family, &text(1, &flows.table))?;
    Ok(rules
        .iter()
        .filter(|(kind, rule)| *kind == NEW_RULE && named(rule, 1, &flows.table))
        .filter_map(|(_, rule)| read_flow_rule(rule, &flows.name))
        .collect())
}

/// The body of a message starts with the family: [`dump`] keeps it as attribute 0.
fn read_flow_table(body: &[u8]) -> Option<FlowTable> {
    let hook = find(body, 3).unwrap_or(&[]);
    let devices = find(hook, 3).unwrap_or(&[]);
    let flags = find(body, 7).and_then(|value| value.first_chunk());
    Some(FlowTable {
        family: *find(body, 0)?.first()?,
        table: as_text(find(body, 1)?),
        name: as_text(find(body, 2)?),
        devices: attributes(devices).map(|(_, name)| as_text(name)).collect(),
        is_hardware: flags.is_some_and(|flags| u32::from_be_bytes(*flags) & HARDWARE != 0),
    })
}

fn read_flow_rule(rule: &[u8], flow_table: &str) -> Option<FlowRule> {
    let adds = attributes(find(rule, 4)?).any(|(_, step)| {
        named(step, 1, "flow_offload")
            && find(step, 2).is_some_and(|data| named(data, 1, flow_table))
    });
    let handle = find(rule, 3)?.first_chunk()?;
    adds.then(|| FlowRule {
        chain: find(rule, 2).map(as_text).unwrap_or_default(),
        handle: u64::from_be_bytes(*handle),
    })
}

fn named(body: &[u8], kind: u16, name: &str) -> bool {
    find(body, kind).is_some_and(|value| as_text(value) == name)
}

/// Requests all objects of a kind. Each answer is its kind and its attributes, preceded by its
/// family as attribute 0.
fn dump(kind: u16, family: u8, of: &[u8]) -> io::Result<Vec<(u16, Vec<u8>)>> {
    let question = [&family_header(family, 0), of].concat();
    let asked =
        Connection::open(Part::Netfilter)?.exchange(NF_TABLES << 8 | kind, NLM_F_DUMP, &question);
    match asked {
        Ok(answers) => Ok(answers
            .iter()
            .map(|(kind, body)| (kind & 0xff, with_family(body)))
            .collect()),
        // There is no such table, hence no content.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn with_family(body: &[u8]) -> Vec<u8> {
    let mut attributes = attribute(0, body.get(..1).unwrap_or_default());
    attributes.extend(body.get(4..).unwrap_or_default());
    attributes
}

#[cfg(test)]
mod tests {
    use super::super::number;
    use super::*;
    use crate::netlink::frame::nested;

    /// An answer's body in the family of IPv4 and IPv6.
    fn answer(attributes: &[u8]) -> Vec<u8> {
        with_family(&[&family_header(Family::Both as u8, 0), attributes].concat())
    }

    /// The result of OpenWrt's fw4 for `flow_offloading_hw`: a table in hardware over three
    /// devices, and a rule that adds TCP and UDP to it.
    #[test]
    fn flow_tables_and_their_rules_are_read() {
        let devices = ["lan1", "lan2", "wan"].map(|name| text(1, name));
        let hook = [number(1, 0), number(2, 0), nested(3, &devices)];
        let table = [
            text(1, "fw4"),
            text(2, "ft"),
            nested(3, &hook),
            number(7, HARDWARE),
        ];
        let step = |name: &str, data: &[Vec<u8>]| nested(1, &[text(1, name), nested(2, data)]);
        let rule = |target: &str, handle: u64| {
            let steps = [
                step("meta", &[number(1, 1)]),
                step("flow_offload", &[text(1, target)]),
            ];
            [
                text(1, "fw4"),
                text(2, "forward"),
                attribute(3, &handle.to_be_bytes()),
                nested(4, &steps),
            ]
            .concat()
        };
        let flows = read_flow_table(&answer(&table.concat())).unwrap();
        assert_eq!(
            (flows.family, &*flows.table, &*flows.name),
            (1, "fw4", "ft")
        );
        assert_eq!(flows.devices, ["lan1", "lan2", "wan"]);
        assert!(flows.is_hardware);
        let one = read_flow_rule(&answer(&rule("ft", 37)), "ft").unwrap();
        assert_eq!((&*one.chain, one.handle), ("forward", 37));
        assert_eq!(read_flow_rule(&answer(&rule("other", 38)), "ft"), None);
    }

    /// Truncated anywhere, it is parsed without a panic.
    #[test]
    fn a_torn_answer_is_no_harm() {
        let table = [text(1, "fw4"), text(2, "ft"), nested(3, &[number(1, 0)])];
        let whole = [&family_header(1, 0)[..], &table.concat()].concat();
        for length in 0..whole.len() {
            let _ = read_flow_table(&with_family(&whole[..length]));
        }
    }
}
