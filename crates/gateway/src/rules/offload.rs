//! Offloads: flowtables, in software or hardware, which bypass every rule. Agents do not see
//! offloaded connections, nor does the meter if the device itself forwards.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use airtcp_host::nftables::list::{FlowRule, FlowTable, flow_tables, rules_of};

/// Families of nf_tables by number, as nft(8) names them.
const FAMILIES: [(u8, &str); 3] = [(1, "inet"), (2, "ip"), (10, "ip6")];

/// Describes flowtables that offload connections of these devices past the rules, and how to exempt
/// them, one sentence each. Empty without any, and for kernels without nf_tables.
pub fn find(mobile: &str, wired: &str) -> Vec<String> {
    // A bridge's forwarded packets appear on its ports, and a VLAN's on its lower device.
    let ours: BTreeSet<String> = [mobile, wired].into_iter().flat_map(with_lower).collect();
    flow_tables()
        .unwrap_or_default()
        .iter()
        .filter(|flows| flows.devices.iter().any(|device| ours.contains(device)))
        .map(|flows| {
            let rules = rules_of(flows).unwrap_or_default();
            sentence(flows, &rules, mobile, text_of)
        })
        .collect()
}

/// Number of offloaded connections; `None` if the kernel does not list them.
pub fn connections() -> Option<usize> {
    let listed = fs::read_to_string("/proc/net/nf_conntrack").ok()?;
    Some(
        listed
            .lines()
            .filter(|line| line.contains("OFFLOAD]"))
            .count(),
    )
}

/// A device, the ports of a bridge and the lower devices.
fn with_lower(device: &str) -> Vec<String> {
    let folder = format!("/sys/class/net/{device}");
    let names = |folder: &str| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
    };
    let mut all = vec![device.to_owned()];
    all.extend(names(&format!("{folder}/brif")));
    let lower = names(&folder).filter_map(|name| name.strip_prefix("lower_").map(str::to_owned));
    all.extend(lower);
    all
}

fn sentence(
    flows: &FlowTable,
    rules: &[FlowRule],
    mobile: &str,
    text_of: impl Fn(&str, &str, &FlowRule) -> Option<String>,
) -> String {
    let found = FAMILIES.iter().find(|(number, _)| *number == flows.family);
    let family = found.map_or("inet", |(_, name)| name);
    let (table, name) = (&flows.table, &flows.name);
    let by = if flows.is_hardware {
        "hardware"
    } else {
        "software"
    };
    let mut text = format!(
        "the flowtable {name} of the table {family} {table} takes connections past every rule, in \
         {by}"
    );
    for rule in rules {
        let place = format!("{family} {table} {}", rule.chain);
        let rest = text_of(&place, name, rule)
            .unwrap_or_else(|| format!("meta l4proto {{ tcp, udp }} flow add @{name}"));
        let handle = rule.handle;
        text.push_str(&format!(
            "; to exempt {mobile}: nft 'replace rule {place} handle {handle} iifname != \
             \"{mobile}\" oifname != \"{mobile}\" {rest}'"
        ));
    }
    text
}

/// The text of a rule, from nft(8) if available.
fn text_of(place: &str, flow_table: &str, rule: &FlowRule) -> Option<String> {
    let mut words = vec!["-a", "list", "chain"];
    words.extend(place.split(' '));
    let listed = Command::new("nft").args(words).output().ok()?;
    rule_in(
        &String::from_utf8_lossy(&listed.stdout),
        flow_table,
        rule.handle,
    )
}

fn rule_in(listed: &str, flow_table: &str, handle: u64) -> Option<String> {
    let end = format!(" # handle {handle}");
    let line = listed
        .lines()
        .find_map(|line| line.trim().strip_suffix(&end))?;
    line.contains(&format!("@{flow_table}"))
        .then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A firewall of OpenWrt with `flow_offloading '1'`: its rule is rewritten with the condition
    /// before the original text.
    #[test]
    fn the_exemption_keeps_what_the_rule_said() {
        let listed = "table inet fw4 {\n\tchain forward { # handle 12\n\t\ttype filter hook forward \
                      priority filter; policy drop;\n\t\tmeta l4proto { tcp, udp } counter flow add \
                      @ft # handle 37\n\t\tct state established accept # handle 38\n\t}\n}\n";
        let mut flows = FlowTable {
            family: 1,
            table: "fw4".to_owned(),
            name: "ft".to_owned(),
            devices: vec!["lan1".to_owned(), "wan".to_owned()],
            is_hardware: false,
        };
        let rule = FlowRule {
            chain: "forward".to_owned(),
            handle: 37,
        };
        let said = sentence(
            &flows,
            std::slice::from_ref(&rule),
            "br-lan",
            |place, name, rule| {
                assert_eq!(place, "inet fw4 forward");
                rule_in(listed, name, rule.handle)
            },
        );
        assert_eq!(
            said,
            "the flowtable ft of the table inet fw4 takes connections past every rule, in \
             software; to exempt br-lan: nft 'replace rule inet fw4 forward handle 37 iifname != \
             \"br-lan\" oifname != \"br-lan\" meta l4proto { tcp, udp } counter flow add @ft'"
        );
        flows.is_hardware = true;
        let said = sentence(&flows, &[rule], "br-lan", |_, _, _| None);
        assert!(said.contains("in hardware"), "{said}");
        assert!(said.ends_with("{ tcp, udp } flow add @ft'"), "{said}");
    }

    #[test]
    fn a_device_that_is_not_there_has_nothing_below() {
        assert_eq!(with_lower("nowhere0"), ["nowhere0"]);
    }
}
