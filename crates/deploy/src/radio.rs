//! Settings of a radio in mac80211's debugging files (Linux, `net/mac80211/debugfs.c`).
//!
//! Two of them have different syntax for reading and writing. `aql_txq_limit` takes `2 5000 12000`,
//! an access category and its two limits, and reads as a table of all categories; `airtime_flags`
//! takes a number and reads as the names of its bits. Values here have the syntax for writing.

use std::fs;
use std::path::{Path, PathBuf};

use airtcp_host::error::{Error, Result, Tried};

const LIMITS: &str = "aql_txq_limit";
const FLAGS: &str = "airtime_flags";
/// The categories in the order of their numbers, with their names in the table.
const BEST_EFFORT: (&str, &str) = ("2", "BE");

/// The file `name` of a device's radio.
///
/// # Errors
///
/// There is no such device, it is not a radio of mac80211, or this kernel has no such file.
pub fn file(sys: &Path, device: &str, name: &str) -> Result<PathBuf> {
    let here = sys.join("class/net").join(device);
    if device.contains('/') || !here.exists() {
        return Err(Error::new(format!(
            "--device {device}: there is no such network device"
        ))
        .remedied_by("ip link names those of this network namespace"));
    }
    let radio = here.join("phy80211/name");
    let radio = fs::read_to_string(radio).map_err(|_| {
        Error::new(format!("--device {device}: it is no radio"))
            .remedied_by("iw dev names the devices of radios, such as wlan0")
    })?;
    let radio = radio.trim();
    let debug = sys.join("kernel/debug");
    let file = debug.join("ieee80211").join(radio).join(name);
    if file.exists() {
        return Ok(file);
    }
    Err(Error::new(format!(
        "{radio}, the radio of {device}, has no {}",
        file.display()
    ))
    .remedied_by(if debug.join("ieee80211").exists() {
        "its driver is not one of mac80211's, or this kernel is too old"
    } else {
        "mount -t debugfs none /sys/kernel/debug; a kernel without CONFIG_MAC80211_DEBUGFS has none"
    }))
}

/// The value of a radio's file, in the syntax for writing.
///
/// # Errors
///
/// It cannot be read, or has an unknown syntax.
pub fn read(file: &Path) -> Result<String> {
    let text = fs::read_to_string(file).tried(|| format!("cannot read {}", file.display()))?;
    let value = match file.file_name().and_then(|name| name.to_str()) {
        Some(LIMITS) => limits(&text),
        Some(FLAGS) => flags(&text),
        _ => Some(text.trim().to_owned()),
    };
    value.ok_or_else(|| {
        Error::new(format!(
            "{}: expected what mac80211 writes there, found {:?}",
            file.display(),
            text.lines().next().unwrap_or_default()
        ))
        .remedied_by("this kernel is not one that airtcp knows; change it by hand")
    })
}

/// The limits of best effort: `BE 5000 12000` among the other categories.
fn limits(table: &str) -> Option<String> {
    let (number, name) = BEST_EFFORT;
    table.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_it = words.next() == Some(name);
        let [low, high] = [words.next()?, words.next()?];
        let are_numbers = [low, high].iter().all(|word| word.parse::<u32>().is_ok());
        (is_it && are_numbers && words.next().is_none()).then(|| format!("{number} {low} {high}"))
    })
}

/// The sum of the bits listed as `AIRTIME_TX (1)`; 0 without any.
fn flags(list: &str) -> Option<String> {
    let bits = list.lines().map(|line| {
        let (_, bit) = line.split_once('(')?;
        u16::from_str_radix(bit.strip_suffix(')')?, 16).ok()
    });
    let sum: Option<u16> = bits.sum();
    sum.map(|sum| sum.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `aql_txq_limit_read` and `airtime_flags_read` of Linux 5.15, with the kernel's defaults;
    /// later ones have an additional line for multicast.
    const TABLE: &str = "AC\tAQL limit low\tAQL limit high\nVO\t5000\t\t12000\nVI\t5000\t\t12000\n\
                         BE\t5000\t\t12000\nBK\t5000\t\t12000\n";
    const BITS: &str = "AIRTIME_TX\t(1)\nAIRTIME_RX\t(2)\n";

    #[test]
    fn what_the_kernel_shows_is_what_puts_it_back() {
        assert_eq!(limits(TABLE).as_deref(), Some("2 5000 12000"));
        let more = format!("{TABLE}BC/MC\t50000\n");
        assert_eq!(limits(&more).as_deref(), Some("2 5000 12000"));
        assert_eq!(flags(BITS).as_deref(), Some("3"));
        assert_eq!(flags("AIRTIME_RX\t(2)\n").as_deref(), Some("2"));
        assert_eq!(flags("").as_deref(), Some("0"));
        for other in ["", "BE 5000", "BE low high", "BE 1 2 3", "2 5000 12000"] {
            assert_eq!(limits(other), None, "{other}");
        }
        for other in ["3", "AIRTIME_TX (x)", "AIRTIME_TX (10000)", "AIRTIME_TX (1"] {
            assert_eq!(flags(other), None, "{other}");
        }
    }

    #[test]
    fn what_is_no_radio_is_refused_by_name() {
        let sys = tempfile::tempdir().unwrap();
        let net = sys.path().join("class/net");
        fs::create_dir_all(net.join("eth0")).unwrap();
        fs::create_dir_all(net.join("wlan0/phy80211")).unwrap();
        fs::write(net.join("wlan0/phy80211/name"), "phy0\n").unwrap();
        let refused = |device: &str| {
            let found = file(sys.path(), device, LIMITS).and_then(|file| read(&file));
            found.unwrap_err().to_string()
        };
        assert!(refused("wlan9").contains("there is no such network device"));
        assert!(refused("../net/wlan0").contains("there is no such network device"));
        assert!(refused("eth0").contains("eth0: it is no radio"));
        let without = refused("wlan0");
        assert!(
            without.contains("phy0, the radio of wlan0, has no "),
            "{without}"
        );
        assert!(without.contains("mount -t debugfs"), "{without}");
        let radio = sys.path().join("kernel/debug/ieee80211/phy0");
        fs::create_dir_all(&radio).unwrap();
        assert!(refused("wlan0").contains("this kernel is too old"));
        fs::write(radio.join(LIMITS), "something else\n").unwrap();
        assert!(refused("wlan0").contains("found \"something else\""));
        fs::write(radio.join(LIMITS), TABLE).unwrap();
        let found = read(&file(sys.path(), "wlan0", LIMITS).unwrap());
        assert_eq!(found.unwrap(), "2 5000 12000");
    }
}
