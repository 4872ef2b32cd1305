//! The scoreboard compared with a naive one: flags for each byte, and every answer computed from
//! scratch by RFC 6675 §4 word by word.

use super::*;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Byte {
    sacked: bool,
    lost: bool,
    resent: bool,
}

/// Bytes from the first unacknowledged to the last sent; segment boundaries besides.
#[derive(Debug, Default)]
struct Model {
    una: usize,
    bytes: Vec<Byte>,
    /// The first byte of each segment, and the end of the last.
    bounds: Vec<usize>,
}

impl Model {
    fn new() -> Self {
        Self {
            bounds: vec![0],
            ..Self::default()
        }
    }

    fn nxt(&self) -> usize {
        self.bytes.len()
    }

    /// Outstanding segments, the first perhaps cut.
    fn segments(&self) -> Vec<Range<usize>> {
        self.bounds
            .windows(2)
            .filter(|pair| pair[1] > self.una)
            .map(|pair| pair[0].max(self.una)..pair[1])
            .collect()
    }

    fn change(&mut self, range: &Range<usize>, change: impl Fn(&mut Byte)) {
        self.bytes[range.clone()].iter_mut().for_each(change);
    }

    fn outstanding(&self) -> &[Byte] {
        &self.bytes[self.una..]
    }

    /// `SetPipe()`.
    fn pipe(&self) -> usize {
        let one = |byte: &Byte| {
            usize::from(!byte.sacked && !byte.lost) + usize::from(!byte.sacked && byte.resent)
        };
        self.outstanding().iter().map(one).sum()
    }

    /// `IsLost()` for a segment, from the SACKs above it.
    fn is_lost(&self, segment: &Range<usize>, threshold: usize, mss: usize) -> bool {
        let above = &self.bytes[segment.end..];
        let bytes = above.iter().filter(|byte| byte.sacked).count();
        let starts = above
            .iter()
            .enumerate()
            .filter(|&(index, byte)| byte.sacked && (index == 0 || !above[index - 1].sacked));
        starts.count() >= threshold || bytes > (threshold - 1) * mss
    }

    fn index(&self, found: Option<&Range<usize>>) -> Option<usize> {
        let found = found?;
        self.segments().iter().position(|segment| segment == found)
    }

    /// `NextSeg()` rule 1.
    fn next_lost(&self) -> Option<usize> {
        let awaits = |byte: Byte| byte.lost && !byte.sacked && !byte.resent;
        let segments = self.segments();
        self.index(
            segments
                .iter()
                .find(|segment| awaits(self.bytes[segment.start])),
        )
    }

    /// `NextSeg()` rule 3.
    fn next_hole(&self) -> Option<usize> {
        let highest = self.bytes.iter().rposition(|byte| byte.sacked)?;
        let open = |byte: Byte| !byte.sacked && !byte.resent;
        let segments = self.segments();
        self.index(
            segments
                .iter()
                .find(|segment| segment.start < highest && open(self.bytes[segment.start])),
        )
    }
}

#[derive(Clone, Debug)]
enum Operation {
    Send(u64),
    /// Everything below this share of the outstanding data, in 256ths, is acknowledged.
    Acknowledge(u8),
    /// Segments counted from the first outstanding: a block's start and its length.
    Report(Vec<(u8, u8)>),
    Detect(u32),
    RepairLost,
    RepairHole,
    LoseFirst,
    Timeout,
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (1_u64..6).prop_map(Operation::Send),
        2 => any::<u8>().prop_map(Operation::Acknowledge),
        5 => prop::collection::vec((0_u8..20, 1_u8..6), 1..4).prop_map(Operation::Report),
        4 => (1_u32..5).prop_map(Operation::Detect),
        3 => Just(Operation::RepairLost),
        2 => Just(Operation::RepairHole),
        1 => Just(Operation::LoseFirst),
        1 => Just(Operation::Timeout),
    ]
}

const SMALL_MSS: u64 = 4;

/// Performs the operation on both, then compares.
fn perform(board: &mut Scoreboard, model: &mut Model, operation: &Operation) {
    match operation {
        Operation::Send(length) => {
            let start = model.nxt();
            let end = start + *length as usize;
            board.push(SentSegment::new(&(start as u64..end as u64), at(0)));
            model.bytes.resize(end, Byte::default());
            model.bounds.push(end);
        }
        Operation::Acknowledge(share) => {
            let share = usize::from(*share) * (model.nxt() - model.una) / 256;
            let una = model.una + share;
            // A receiver never acknowledges exactly up to data it has SACKed: it would cover that
            // too.
            let una = (una..model.nxt())
                .find(|&byte| !model.bytes[byte].sacked)
                .unwrap_or(model.nxt());
            let covered: Vec<_> = model
                .segments()
                .into_iter()
                .filter(|segment| segment.start < una)
                .collect();
            let advanced = board.advance(una as u64);
            let resent = covered
                .iter()
                .any(|segment| model.bytes[segment.start].resent);
            assert!(advanced.resent || !resent);
            model.una = una;
        }
        Operation::Report(blocks) => {
            let segments = model.segments();
            let blocks: Vec<Range<usize>> = blocks
                .iter()
                .filter_map(|&(first, count)| {
                    let first = usize::from(first) + 1;
                    let last = (first + usize::from(count)).min(segments.len());
                    (first < last).then(|| segments[first].start..segments[last - 1].end)
                })
                .collect();
            let reported = |model: &Model| {
                model
                    .outstanding()
                    .iter()
                    .filter(|byte| byte.sacked)
                    .count() as u64
            };
            let before = reported(model);
            for block in &blocks {
                model.change(block, |byte| {
                    *byte = Byte {
                        sacked: true,
                        ..Byte::default()
                    }
                });
            }
            let blocks: Vec<_> = blocks
                .iter()
                .map(|block| block.start as u64..block.end as u64)
                .collect();
            assert_eq!(board.sack(&blocks), reported(model) - before);
        }
        Operation::Detect(threshold) => {
            let lost: Vec<_> = model
                .segments()
                .into_iter()
                .filter(|segment| {
                    let byte = model.bytes[segment.start];
                    !byte.sacked
                        && !byte.lost
                        && model.is_lost(segment, *threshold as usize, SMALL_MSS as usize)
                })
                .collect();
            assert_eq!(board.detect_losses(*threshold, SMALL_MSS), !lost.is_empty());
            for segment in &lost {
                model.change(segment, |byte| byte.lost = true);
            }
        }
        Operation::RepairLost | Operation::RepairHole => {
            let index = if matches!(operation, Operation::RepairLost) {
                board.next_lost()
            } else {
                board.next_hole()
            };
            if let Some(index) = index {
                board.resend(index, at(2), at(3));
                let segment = model.segments()[index].clone();
                model.change(&segment, |byte| byte.resent = true);
            }
        }
        Operation::LoseFirst => {
            if let Some(first) = model.segments().first().cloned() {
                board.mark_lost(0);
                model.change(&first, |byte| {
                    *byte = Byte {
                        lost: true,
                        ..Byte::default()
                    }
                });
            }
        }
        Operation::Timeout => {
            board.mark_lost_from(model.una as u64);
            let all = model.una..model.nxt();
            // Copies are in flight no longer, of SACKed bytes either.
            model.change(&all, |byte| {
                *byte = Byte {
                    lost: !byte.sacked,
                    sacked: byte.sacked,
                    ..Byte::default()
                };
            });
        }
    }
    assert_eq!(board.outstanding() as usize, model.nxt() - model.una);
    assert_eq!(board.in_flight() as usize, model.pipe(), "{model:?}");
    let awaits_repair = |byte: &&Byte| byte.lost && !byte.sacked && !byte.resent;
    let awaiting = model.outstanding().iter().filter(awaits_repair).count();
    assert_eq!(board.sums.awaiting_repair as usize, awaiting);
    assert_eq!(board.next_lost(), model.next_lost());
    assert_eq!(board.next_hole(), model.next_hole());
    assert_eq!(board.len(), model.segments().len());
    assert_eq!(board.is_empty(), model.segments().is_empty());
    for (segment, range) in board.iter().zip(model.segments()) {
        assert_eq!(segment.range(), range.start as u64..range.end as u64);
        let byte = model.bytes[range.start];
        assert_eq!(
            (segment.is_sacked(), segment.is_lost()),
            (byte.sacked, byte.lost)
        );
    }
    let last = model
        .segments()
        .iter()
        .rposition(|segment| !model.bytes[segment.start].sacked);
    let last_is_open = last.is_some_and(|index| !model.bytes[model.segments()[index].start].resent);
    assert_eq!(board.last_unreported(), last.filter(|_| last_is_open));
}

proptest! {
    #[test]
    fn agrees_with_a_map_of_bytes(operations in prop::collection::vec(operation(), 1..120)) {
        let (mut board, mut model) = (Scoreboard::default(), Model::new());
        for operation in &operations {
            perform(&mut board, &mut model, operation);
        }
    }
}
