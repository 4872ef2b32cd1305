//! nl80211's requests and answers about stations (linux/nl80211.h).

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable, NlaBuffer, NlasIterator, ParseableParametrized, parse_u32,
};
use netlink_packet_generic::{GenlFamily, GenlHeader};

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
    fn attributes(self) -> Vec<DefaultNla> {
        match self {
            Self::Devices => Vec::new(),
            Self::Stations { device } => {
                vec![DefaultNla::new(
                    attribute::DEVICE,
                    device.to_ne_bytes().to_vec(),
                )]
            }
        }
    }
}

impl GenlFamily for Question {
    fn family_name() -> &'static str {
        "nl80211"
    }

    fn command(&self) -> u8 {
        match self {
            Self::Devices => GET_INTERFACE,
            Self::Stations { .. } => GET_STATION,
        }
    }

    fn version(&self) -> u8 {
        1
    }
}

impl Emitable for Question {
    fn buffer_len(&self) -> usize {
        self.attributes().as_slice().buffer_len()
    }

    fn emit(&self, buffer: &mut [u8]) {
        self.attributes().as_slice().emit(buffer);
    }
}

impl ParseableParametrized<[u8], GenlHeader> for Answer {
    fn parse_with_param(bytes: &[u8], header: GenlHeader) -> Result<Self, DecodeError> {
        match header.cmd {
            NEW_INTERFACE => find(bytes, attribute::DEVICE, parse_u32)
                .map(|device| device.map_or(Self::Other, Self::Device)),
            NEW_STATION => station(bytes).map(|found| found.map_or(Self::Other, Self::Station)),
            _ => Ok(Self::Other),
        }
    }
}

fn station(bytes: &[u8]) -> Result<Option<Station>, DecodeError> {
    let address = find(bytes, attribute::ADDRESS, |value| {
        Mac::try_from(value).map_err(|_| DecodeError::from("a station's address is six bytes"))
    })?;
    let counted = find(bytes, attribute::INFORMATION, |value| {
        let retries = find(value, information::RETRIES, parse_u32)?;
        let failed = find(value, information::FAILED, parse_u32)?;
        Ok(match (retries, failed) {
            (None, None) => None,
            (retries, failed) => Some(retries.unwrap_or(0).wrapping_add(failed.unwrap_or(0))),
        })
    })?;
    Ok(address.map(|address| Station {
        address,
        failed_attempts: counted.flatten(),
    }))
}

/// The value of an attribute, if present.
fn find<T>(
    bytes: &[u8],
    kind: u16,
    read: impl Fn(&[u8]) -> Result<T, DecodeError>,
) -> Result<Option<T>, DecodeError> {
    for attribute in NlasIterator::new(bytes) {
        let attribute: NlaBuffer<&[u8]> = attribute?;
        if attribute.kind() == kind {
            return read(attribute.value()).map(Some);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload};
    use netlink_packet_generic::GenlMessage;

    use super::*;

    /// NL80211_ATTR_STA_INFO as a kernel wrote it for an access point, recorded by the authors of
    /// the crate neli-wifi 0.6.1 (MIT) for its tests; little endian.
    const RECORDED: &[u8] = include_bytes!("recorded/station-information.bin");

    /// An nl80211 message with these attributes.
    fn message(command: u8, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0; 16];
        bytes[4..6].copy_from_slice(&28_u16.to_ne_bytes());
        bytes.extend([command, 1, 0, 0]);
        for (kind, value) in attributes {
            bytes.extend((4 + value.len() as u16).to_ne_bytes());
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(*value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Answer> {
        match NetlinkMessage::<GenlMessage<Answer>>::deserialize(bytes)
            .ok()?
            .payload
        {
            NetlinkPayload::InnerMessage(answer) => Some(answer.payload),
            _ => None,
        }
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

    /// Damage anywhere gives an error or an answer, and no panic.
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
    fn a_question_is_a_dump_of_one_device() {
        let question = Question::Stations { device: 7 };
        let message = GenlMessage::from_payload(question);
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | NLM_F_DUMP;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        assert_eq!(bytes[16..20], [GET_STATION, 1, 0, 0]);
        assert_eq!(
            bytes[20..24],
            [&8_u16.to_ne_bytes()[..], &3_u16.to_ne_bytes()].concat()
        );
        assert_eq!(bytes[24..], 7_u32.to_ne_bytes());
    }
}
