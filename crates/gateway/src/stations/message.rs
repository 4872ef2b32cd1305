//! nl80211's requests and answers about stations (linux/nl80211.h).

use airtcp_host::netlink::frame::{append_attribute, find, word};

/// The name of the family.
pub const FAMILY: &str = "nl80211";
/// Its version.
const VERSION: u8 = 1;
/// Bytes of a generic message's header.
pub const HEADER: usize = 4;
/// NL80211_CMD_GET_INTERFACE, NL80211_CMD_NEW_INTERFACE and the equivalents for stations.
const GET_INTERFACE: u8 = 5;
const NEW_INTERFACE: u8 = 7;
const GET_STATION: u8 = 17;
const NEW_STATION: u8 = 19;

/// NL80211_ATTR_IFINDEX, NL80211_ATTR_MAC and NL80211_ATTR_STA_INFO.
mod attribute {
    pub const DEVICE: u16 = 3;
    pub const ADDRESS: u16 = 6;
    pub const INFORMATION: u16 = 21;
}

/// NL80211_STA_INFO_TX_RETRIES and NL80211_STA_INFO_TX_FAILED.
mod information {
    pub const RETRIES: u16 = 11;
    pub const FAILED: u16 = 12;
}

/// The address of a station's radio.
pub type Mac = [u8; 6];

/// A station of an 802.11 device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Station {
    /// Its address.
    pub address: Mac,
    /// Failed attempts to send to it, if the driver counts them: retried ones, and final ones. The
    /// counter wraps.
    pub failed_attempts: Option<u32>,
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// All 802.11 devices.
    Devices,
    /// The stations of this device.
    Stations {
        /// The device's index.
        device: u32,
    },
}

/// An answer, one message at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The index of a device.
    Device(u32),
    /// A station.
    Station(Station),
    /// Something else.
    Other,
}

impl Question {
    /// The message after netlink's header.
    pub fn body(self) -> Vec<u8> {
        match self {
            Self::Devices => header(GET_INTERFACE, VERSION),
            Self::Stations { device } => {
                let mut body = header(GET_STATION, VERSION);
                append_attribute(&mut body, attribute::DEVICE, &device.to_ne_bytes());
                body
            }
        }
    }
}

impl Answer {
    /// Reads a message after netlink's header. An attribute that is damaged, and those after it,
    /// count as missing.
    pub fn read(body: &[u8]) -> Self {
        let command = body.first().copied().unwrap_or_default();
        let attributes = body.get(HEADER..).unwrap_or_default();
        let found = match command {
            NEW_INTERFACE => find(attributes, attribute::DEVICE)
                .and_then(|value| word(value, 0))
                .map(Self::Device),
            NEW_STATION => station(attributes).map(Self::Station),
            _ => None,
        };
        found.unwrap_or(Self::Other)
    }
}

/// struct genlmsghdr of include/uapi/linux/genetlink.h: command, version, two bytes reserved.
pub fn header(command: u8, version: u8) -> Vec<u8> {
    vec![command, version, 0, 0]
}

fn station(attributes: &[u8]) -> Option<Station> {
    let information = find(attributes, attribute::INFORMATION).unwrap_or_default();
    let count = |kind| find(information, kind).and_then(|value| word(value, 0));
    let retries = count(information::RETRIES);
    let failed = count(information::FAILED);
    Some(Station {
        address: find(attributes, attribute::ADDRESS)?.try_into().ok()?,
        failed_attempts: (retries.is_some() || failed.is_some())
            .then(|| retries.unwrap_or(0).wrapping_add(failed.unwrap_or(0))),
    })
}

#[cfg(test)]
mod tests {
    use airtcp_host::netlink::frame::{attribute, messages};

    use super::*;

    /// NL80211_ATTR_STA_INFO as a kernel wrote it for an access point, recorded by the authors of
    /// the crate neli-wifi 0.6.1 (MIT) for its tests; little endian.
    const RECORDED: &[u8] = include_bytes!("recorded/station-information.bin");

    /// An nl80211 message with these attributes.
    fn message(command: u8, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes[4..6].copy_from_slice(&28_u16.to_ne_bytes());
        bytes.extend(header(command, VERSION));
        for (kind, value) in attributes {
            bytes.extend(attribute(*kind, value));
        }
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Answer> {
        messages(bytes).next().map(|one| Answer::read(one.body))
    }

    /// 33 307 attempts that were retried and 47 that were not, as iw(8) would print them from these
    /// bytes: "tx retries" and "tx failed".
    #[test]
    #[cfg(target_endian = "little")]
    fn a_recorded_station_is_read() {
        let address = [2, 0, 0, 0, 0, 1];
        let device = 3_u32.to_ne_bytes();
        let station = message(
            NEW_STATION,
            &[(3, &device), (6, &address), (21 | 0x8000, RECORDED)],
        );
        let expected = Station {
            address,
            failed_attempts: Some(33_307 + 47),
        };
        assert_eq!(read(&station), Some(Answer::Station(expected)));
        let interface = message(NEW_INTERFACE, &[(1, &[0; 4]), (3, &device)]);
        assert_eq!(read(&interface), Some(Answer::Device(3)));
    }

    /// A driver may count nothing, and a station without an address is skipped.
    #[test]
    fn what_is_missing_is_not_made_up() {
        let address = [2, 0, 0, 0, 0, 1];
        let silent = message(NEW_STATION, &[(6, &address), (21 | 0x8000, &[])]);
        let expected = Station {
            address,
            failed_attempts: None,
        };
        assert_eq!(read(&silent), Some(Answer::Station(expected)));
        let nobody = message(NEW_STATION, &[(21 | 0x8000, &[])]);
        assert_eq!(read(&nobody), Some(Answer::Other));
    }

    /// Damage anywhere gives an answer or none, and no panic.
    #[test]
    fn damaged_messages_never_panic() {
        let address = [2, 0, 0, 0, 0, 1];
        let whole = message(NEW_STATION, &[(6, &address), (21 | 0x8000, RECORDED)]);
        for seed in 0..20_000 {
            let draws = airtcp_link::Stream::new(seed, "nl80211.test");
            let mut bytes = whole.clone();
            for damage in 0..1 + draws.draw(0) % 6 {
                let at = draws.draw(2 * damage + 1) as usize % bytes.len();
                bytes[at] = draws.draw(2 * damage + 2) as u8;
            }
            bytes.truncate(draws.draw(99) as usize % (bytes.len() + 1));
            // Some lengths still fit, and some stations differ.
            let _ = read(&bytes);
        }
    }

    #[test]
    fn a_question_names_its_device() {
        let body = Question::Stations { device: 7 }.body();
        assert_eq!(body[..4], [GET_STATION, 1, 0, 0]);
        assert_eq!(
            body[4..8],
            [&8_u16.to_ne_bytes()[..], &3_u16.to_ne_bytes()].concat()
        );
        assert_eq!(body[8..], 7_u32.to_ne_bytes());
    }
}
