//! Frames with hand-made headers, and durations that the standard's formulas give by hand.

use std::io::Write;

use super::*;

const STATION: Mac = [2, 0, 0, 0, 0, 1];
const ACCESS_POINT: Mac = [2, 0, 0, 0, 0, 2];

/// A radiotap header with these fields after the presence word, which is at 8.
fn radiotap(present: u32, fields: &[u8]) -> Vec<u8> {
    let length = 8 + fields.len() as u16;
    let mut bytes = vec![0, 0];
    bytes.extend(length.to_le_bytes());
    bytes.extend(present.to_le_bytes());
    bytes.extend(fields);
    bytes
}

/// A QoS data frame of `bytes` without its FCS.
fn data(flags: u8, bytes: usize) -> Vec<u8> {
    let mut frame = vec![0x88, flags, 0, 0];
    frame.extend(ACCESS_POINT);
    frame.extend(STATION);
    frame.resize(bytes, 0);
    frame
}

/// MCS 7 at 20 MHz with the long guard interval, in the aggregate of this number.
fn in_aggregate(number: u32) -> Vec<u8> {
    let mut fields = vec![0x07, 0, 7, 0];
    fields.extend(number.to_le_bytes());
    fields.extend([0; 4]);
    radiotap(1 << 19 | 1 << 20, &fields)
}

fn read(frames: &[Vec<u8>]) -> Air {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut bytes = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(65_535_u32.to_le_bytes());
    bytes.extend(127_u32.to_le_bytes());
    for (at, frame) in frames.iter().enumerate() {
        for word in [1, at as u32 * 1000, frame.len() as u32, frame.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(frame);
    }
    file.write_all(&bytes).unwrap();
    Air::read(file.path()).unwrap()
}

/// IEEE 802.11-2020 §17.4.3: 20 µs and symbols of 216 bits at 54 Mbit/s for 16 + 8·1500 + 6 bits:
/// 56 of 4 µs.
#[test]
fn a_legacy_frame_takes_its_symbols() {
    let frame = [radiotap(1 << 2, &[108]), data(1 | 8, 1496)].concat();
    let air = read(&[frame]);
    let pair = air.pairs[&(Some(STATION), ACCESS_POINT)];
    assert_eq!(pair.airtime, Duration::from_micros(20 + 4 * 56));
    assert_eq!((pair.data_frames, pair.retries, pair.ppdus), (1, 1, 1));
    assert_eq!(pair.mean_rate_bps(), Some(54e6));
}

/// §19.4.3: 36 µs, and symbols of 260 bits at 65 Mbit/s. Subframes have 4 bytes in front, and all
/// but the last are padded to 4: 1504 + 1504 + 1504 bytes.
#[test]
fn frames_of_one_number_are_one_transmission() {
    let frame = |number| [in_aggregate(number), data(1, 1496)].concat();
    let air = read(&[frame(5), frame(5), frame(5), frame(6)]);
    let pair = air.pairs[&(Some(STATION), ACCESS_POINT)];
    let symbols = |bytes: u64| (16_u64 + 8 * bytes + 6).div_ceil(260);
    let micros = 2 * 36 + 4 * (symbols(3 * 1504) + symbols(1504));
    assert_eq!((pair.ppdus, pair.data_frames), (2, 4));
    assert_eq!(pair.airtime, Duration::from_micros(micros));
    assert_eq!(pair.mean_rate_bps(), Some(65e6));
    assert_eq!(air.length, Duration::from_millis(3));
}

/// VHT MCS 9 with two streams of 80 MHz: 780 Mbit/s (table 21-38); HE MCS 11 with two streams of
/// 80 MHz: 1201 Mbit/s (802.11ax-2021 table 27-79).
#[test]
fn modes_of_today_are_read() {
    let vht = [0x44, 0, 0, 4, 0x92, 0, 0, 0, 0, 0, 0, 0];
    let header = Radiotap::of(&radiotap(1 << 21, &vht)).unwrap();
    assert_eq!(header.rate_100kbps(), 7800);
    let he = [0x20, 0x40, 2, 0, 0, 11, 0, 0, 2, 0, 2, 0];
    let header = Radiotap::of(&radiotap(1 << 23, &he)).unwrap();
    assert_eq!(header.mode.unwrap().bit_rate().as_bps() / 1_000_000, 1200);
    // A part of the channel, for several stations at once: no duration is known from it.
    let many = [0x22, 0x40, 2, 0, 0, 11, 0, 0, 6, 0, 2, 0];
    assert_eq!(Radiotap::of(&radiotap(1 << 23, &many)).unwrap().mode, None);
}

/// An ACK has a receiver address, but no sender; a damaged frame has neither.
#[test]
fn what_does_not_say_who_sent_it_is_nobodys() {
    let mut ack = vec![0xd4, 0, 0, 0];
    ack.extend(STATION);
    let damaged = [radiotap(1 << 1, &[0x40]), data(1, 100)].concat();
    let air = read(&[[radiotap(1 << 2, &[48]), ack].concat(), damaged]);
    assert_eq!(air.damaged, 1);
    let pair = air.pairs[&(None, STATION)];
    // 16 + 8·14 + 6 bits at 24 Mbit/s: 2 symbols of 96 bits.
    assert_eq!(pair.airtime, Duration::from_micros(20 + 8));
    assert_eq!(pair.data_frames, 0);
}
