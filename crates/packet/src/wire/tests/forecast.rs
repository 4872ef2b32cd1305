//! Sprout's forecast comes back with as many SACK blocks as fit next to it.

use super::*;
use crate::{Forecast, Segment};

fn acknowledgment(timestamps: Option<Timestamps>, blocks: u32) -> Segment {
    let mut segment = Segment {
        flags: Flags::ACK,
        timestamps,
        ..Segment::default()
    };
    for count in 0..blocks {
        segment.tail.push(SackBlock {
            start: SequenceNumber(3000 * count + 1000),
            end: SequenceNumber(3000 * count + 2000),
        });
    }
    segment
}

fn written(segment: &Segment) -> Segment {
    let addresses = captured::IPV4[0].addresses();
    let mut out = Vec::new();
    emit(segment, &addresses, 0, &[], &mut out).unwrap();
    assert_eq!(out.len(), segment.ip_bytes() as usize);
    parse(&out).unwrap().segment
}

/// 40 bytes of options: 12 of timestamps, 12 of the forecast, 4 in front of blocks of 8.
#[test]
fn it_leaves_room_for_one_block_with_timestamps_and_three_without() {
    let forecast = Forecast::of_totals([0, 3, 9, 20, 300, 555, 600, 601]);
    for (timestamps, most) in [(Some(Timestamps::default()), 1), (None, 3)] {
        for blocks in 0..=4 {
            let mut segment = acknowledgment(timestamps, blocks);
            let plain = segment.tail;
            segment.set_forecast(forecast);
            let kept = (blocks as usize).min(most);
            assert_eq!(segment.tail.blocks(), &plain.blocks()[..kept]);
            let read = written(&segment);
            assert_eq!((read, read.tail.forecast()), (segment, Some(forecast)));
        }
    }
}

#[test]
fn neither_a_syn_nor_another_length_has_one() {
    let mut segment = acknowledgment(None, 0);
    segment.set_forecast(Forecast::of_totals([5; 8]));
    segment.flags |= Flags::SYN;
    assert_eq!(written(&segment).tail.forecast(), None);
    for length in [4, 11, 13] {
        let mut header = vec![0; 36];
        (header[12], header[13]) = (0x90, Flags::ACK.bits());
        header[20..24].copy_from_slice(&[254, length, b'S', b'p']);
        let segment = parse_tcp_header(&header).unwrap().segment;
        assert_eq!(segment.tail.forecast(), None, "{length} bytes");
    }
}
