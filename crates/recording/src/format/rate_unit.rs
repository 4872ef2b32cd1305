//! The unit of a rate in the name of a column: `Mbit/s`, `DL_kbps`, `Speed (MB/s)`,
//! `bytes_per_sec`.
//!
//! A small b is bits and a capital B bytes, as IEEE 260.1 has them; `MBPS` among capitals alone is
//! bits, as programs that shout mean it. Prefixes are powers of ten, those with an i of two
//! (IEC 80000-13).

/// Multiples of a unit, in lower case.
const PREFIXES: [(&str, f64); 9] = [
    ("ki", 1024.0),
    ("mi", 1_048_576.0),
    ("gi", 1_073_741_824.0),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("t", 1e12),
    ("kilo", 1e3),
    ("mega", 1e6),
];
/// The words for bits and bytes, in bits; `b` and `B` differ by case.
const COUNTED: [(&str, f64); 6] = [
    ("bits", 1.0),
    ("bit", 1.0),
    ("bytes", 8.0),
    ("byte", 8.0),
    ("octets", 8.0),
    ("octet", 8.0),
];
/// "A second", in lower case, the longest first.
const PER_SECOND: [&str; 12] = [
    "_per_second",
    " per second",
    "_per_sec",
    " per sec",
    "/second",
    "/sec",
    "psec",
    "_per_s",
    "/s",
    "ps",
    "_s",
    " s",
];

/// Bits a second in the unit that a name holds; `None` where it names no rate.
pub(super) fn bits_per_second(name: &str) -> Option<f64> {
    let starts = name.char_indices().map(|(at, _)| at);
    starts
        .filter(|at| is_begin(name, *at))
        .find_map(|at| unit(&name[at..]))
}

/// Whether a word may begin here: after no letter, or with a capital after a small one.
fn is_begin(name: &str, at: usize) -> bool {
    let before = name[..at].chars().next_back();
    let first = name[at..].chars().next();
    match (before, first) {
        (Some(before), Some(first)) if before.is_alphabetic() => {
            before.is_lowercase() && first.is_uppercase()
        }
        _ => true,
    }
}

/// The unit with which a text begins.
fn unit(text: &str) -> Option<f64> {
    let none = [("", 1.0)];
    let prefixes = PREFIXES.iter().chain(&none);
    prefixes.into_iter().find_map(|(prefix, factor)| {
        let after = without(text, prefix)?;
        let (bits, rest) = counted(after)?;
        let is_rate = ends_a_rate(rest) || !prefix.is_empty() && bits_alone(after, rest);
        is_rate.then_some(factor * bits)
    })
}

/// Bits in the counted unit, and the text after it.
fn counted(text: &str) -> Option<(f64, &str)> {
    let word = COUNTED
        .iter()
        .find_map(|(word, bits)| Some((*bits, without(text, word)?)));
    word.or_else(|| {
        let rest = text.strip_prefix(['b', 'B'])?;
        let is_shouted = rest.starts_with("PS");
        let is_bytes = text.starts_with('B') && !is_shouted;
        Some((if is_bytes { 8.0 } else { 1.0 }, rest))
    })
}

/// Whether "a second" follows, and no word goes on.
fn ends_a_rate(rest: &str) -> bool {
    PER_SECOND.iter().any(|end| {
        without(rest, end).is_some_and(|after| !after.starts_with(|c: char| c.is_alphabetic()))
    })
}

/// `Mbit` is a rate too where nothing follows; bytes without it are a size.
fn bits_alone(text: &str, rest: &str) -> bool {
    without(text, "bit").is_some() && !rest.starts_with(|c: char| c.is_alphabetic())
}

/// The text after a beginning in any case.
fn without<'a>(text: &'a str, begin: &str) -> Option<&'a str> {
    let (first, rest) = text.split_at_checked(begin.len())?;
    first.eq_ignore_ascii_case(begin).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_its_bits() {
        for (name, bits) in [
            ("Mbit/s", Some(1e6)),
            ("mbps", Some(1e6)),
            ("DL_Mbps", Some(1e6)),
            ("DownloadMbps", Some(1e6)),
            ("Mb/s", Some(1e6)),
            ("rate (Mb/s)", Some(1e6)),
            ("Throughput [MBPS]", Some(1e6)),
            ("mbit", Some(1e6)),
            ("gbps", Some(1e9)),
            ("Gbits/sec", Some(1e9)),
            ("kbps", Some(1e3)),
            ("dl_kbps", Some(1e3)),
            ("kbit/s", Some(1e3)),
            ("bits_per_second", Some(1.0)),
            ("bps", Some(1.0)),
            ("bit/s", Some(1.0)),
            ("MB/s", Some(8e6)),
            ("Speed (MB/s)", Some(8e6)),
            ("MBps", Some(8e6)),
            ("down_MBps", Some(8e6)),
            ("MBytes/sec", Some(8e6)),
            ("megabytes per second", Some(8e6)),
            ("megabits_per_second", Some(1e6)),
            ("KB/sec", Some(8e3)),
            ("kB/s", Some(8e3)),
            ("kb/s", Some(1e3)),
            ("KBps", Some(8e3)),
            ("MiB/s", Some(8.0 * 1_048_576.0)),
            ("KiB/s", Some(8192.0)),
            ("Mibit/s", Some(1_048_576.0)),
            ("bytes/s", Some(8.0)),
            ("rx_bytes_per_sec", Some(8.0)),
            ("B/s", Some(8.0)),
            ("octets/s", Some(8.0)),
            ("GB/s", Some(8e9)),
            ("bytes", None),
            ("MB", None),
            ("time_s", None),
            ("jobs", None),
            ("rtt_ms", None),
            ("steps", None),
            ("packets/s", None),
            ("", None),
        ] {
            assert_eq!(bits_per_second(name), bits, "{name}");
        }
    }
}
