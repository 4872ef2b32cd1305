//! Routes in the syntax of ip-route(8): read, given other TCP attributes, and restored.

use std::net::IpAddr;

use airtcp_host::error::{Error, Result};
use airtcp_host::iproute::ip;

/// Words of a route's state that ip prints but does not accept.
const STATES: [&str; 7] = [
    "linkdown",
    "dead",
    "offload",
    "offload_failed",
    "trap",
    "rt_offload",
    "rt_trap",
];
/// Types of routes that forward nothing.
const OTHER_TYPES: [&str; 8] = [
    "unreachable",
    "blackhole",
    "prohibit",
    "throw",
    "local",
    "broadcast",
    "multicast",
    "anycast",
];

/// A route of the main table, as words that `ip route replace` accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whether it is an IPv6 route.
    pub is_v6: bool,
    words: Vec<String>,
}

impl Route {
    /// Parses a line of `ip -o route show`. `None` for a route that forwards nothing, or that
    /// router advertisements keep changing.
    pub fn parse(line: &str, is_v6: bool) -> Option<Self> {
        let mut words: Vec<String> = Vec::new();
        let mut rest = line.split_whitespace();
        while let Some(word) = rest.next() {
            if STATES.contains(&word) || word == "\\" {
                continue;
            }
            // It is printed after the attribute's name; ip locks this one by itself.
            if word == "lock" && words.last().is_some_and(|before| before == "rto_min") {
                continue;
            }
            if word == "expires" || word == "error" || word == "cache" {
                rest.next();
                continue;
            }
            words.push(word.to_owned());
        }
        let first = words.first()?;
        let by_router = words.windows(2).any(|pair| pair == ["proto", "ra"]);
        let usable = !OTHER_TYPES.contains(&first.as_str())
            && !first.starts_with("fe80::")
            && !first.starts_with("ff")
            && !by_router;
        usable.then_some(Self { is_v6, words })
    }

    /// Sets an attribute, replacing one of the same name.
    pub fn set(&mut self, name: &str, value: &str) {
        if let Some(place) = self.words.iter().position(|word| word == name) {
            let locked = self.words.get(place + 1).is_some_and(|word| word == "lock");
            let end = (place + 2 + usize::from(locked)).min(self.words.len());
            self.words.drain(place..end);
        }
        // A multipath route has its attributes before the first path.
        let place = self
            .words
            .iter()
            .position(|word| word == "nexthop")
            .unwrap_or(self.words.len());
        let attribute = [name.to_owned(), value.to_owned()];
        self.words.splice(place..place, attribute);
    }

    /// The words, joined.
    pub fn text(&self) -> String {
        self.words.join(" ")
    }

    /// Its identity among routes: destination and metric.
    pub fn identity(&self) -> (&str, Option<&str>) {
        let metric = self
            .words
            .windows(2)
            .find(|pair| pair[0] == "metric")
            .map(|pair| pair[1].as_str());
        (&self.words[0], metric)
    }
}

/// Returns the routes of the main table to exactly this network.
///
/// # Errors
///
/// ip is missing or fails.
pub fn exact(address: IpAddr, prefix: u8) -> Result<Vec<Route>> {
    let network = format!("{address}/{prefix}");
    let words = ["route", "show", "table", "main", "exact", &network];
    Ok(parsed(&ip(address.is_ipv6(), &words)?, address.is_ipv6()))
}

/// Returns all routes of the main table.
///
/// # Errors
///
/// ip is missing or fails.
pub fn all(is_v6: bool) -> Result<Vec<Route>> {
    let text = ip(is_v6, &["route", "show", "table", "main"])?;
    Ok(parsed(&text, is_v6))
}

/// Returns a new route for a network, by the current path to it.
///
/// # Errors
///
/// There is no path, or it does not leave this machine.
pub fn own(address: IpAddr, prefix: u8) -> Result<Route> {
    let text = ip(address.is_ipv6(), &["route", "get", &address.to_string()])?;
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.first() == Some(&"local") {
        return Err(Error::new(format!(
            "--route {address}/{prefix}: that is this machine's own address"
        )));
    }
    let mut route = Route {
        is_v6: address.is_ipv6(),
        words: vec![format!("{address}/{prefix}")],
    };
    for name in ["via", "dev", "src"] {
        if let Some(pair) = words.windows(2).find(|pair| pair[0] == name) {
            route.words.extend(pair.iter().map(|&word| word.to_owned()));
        }
    }
    if !route.words.iter().any(|word| word == "dev") {
        return Err(Error::new(format!(
            "--route {address}/{prefix}: no device leads there (ip route get {address})"
        )));
    }
    route.words.extend(["proto".into(), "static".into()]);
    Ok(route)
}

fn parsed(text: &str, is_v6: bool) -> Vec<Route> {
    text.lines()
        .filter_map(|line| Route::parse(line, is_v6))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(line: &str) -> Route {
        Route::parse(line, false).unwrap()
    }

    #[test]
    fn an_attribute_takes_the_place_of_one_of_its_name() {
        let mut one = route("default via 10.0.0.1 dev eth0 proto dhcp metric 100 initcwnd 20 ");
        one.set("initcwnd", "10");
        assert_eq!(
            one.text(),
            "default via 10.0.0.1 dev eth0 proto dhcp metric 100 initcwnd 10"
        );
        assert_eq!(one.identity(), ("default", Some("100")));
        let mut one = route("10.0.0.0/8 dev eth0 rto_min lock 800ms congctl lock bbr");
        one.set("congctl", "reno");
        assert_eq!(one.text(), "10.0.0.0/8 dev eth0 rto_min 800ms congctl reno");
    }

    #[test]
    fn what_ip_prints_of_a_state_is_left_out() {
        assert_eq!(
            route("10.0.0.0/8 dev eth0 scope link src 10.0.0.2 linkdown ").text(),
            "10.0.0.0/8 dev eth0 scope link src 10.0.0.2"
        );
        assert_eq!(Route::parse("unreachable default dev lo", true), None);
        assert_eq!(Route::parse("fe80::/64 dev eth0 proto kernel", true), None);
        assert_eq!(
            Route::parse("default via fe80::1 dev eth0 proto ra", true),
            None
        );
        assert_eq!(Route::parse("", false), None);
    }

    #[test]
    fn a_route_of_several_ways_has_its_attributes_before_them() {
        let mut one = route(
            r"default proto static \ nexthop via 10.0.0.1 dev a weight 1 \ nexthop via 10.0.0.2 dev b weight 1",
        );
        one.set("initcwnd", "12");
        assert!(
            one.text()
                .starts_with("default proto static initcwnd 12 nexthop via 10.0.0.1"),
            "{}",
            one.text()
        );
    }
}
