//! SACK blocks: ranges received above the cumulative acknowledgment (RFC 2018), and duplicates (RFC
//! 2883).

use alloc::boxed::Box;
use core::ops::Range;

use airtcp_units::Compact;

use super::MAX_REPORTED;
use super::reassembly::Reassembly;

/// The ranges to report, the most recent first.
#[derive(Clone, Debug)]
pub struct Report {
    sack: bool,
    dsack: bool,
    /// Boxed, and present only while there is something to report, so that very many receivers fit
    /// in memory.
    news: Option<Box<News>>,
}

#[derive(Clone, Debug)]
struct News {
    /// One byte of each range that changed last, the latest first. The ranges may have grown or
    /// merged since: they are looked up when reported.
    recent: [Compact<u64>; MAX_REPORTED],
    duplicate: Option<Range<u64>>,
}

impl Default for News {
    fn default() -> Self {
        Self {
            recent: [Compact::NONE; MAX_REPORTED],
            duplicate: None,
        }
    }
}

impl News {
    fn on_arrival(&mut self, offset: u64) {
        let offset = Compact::some(offset);
        if self.recent[0] != offset {
            self.recent.rotate_right(1);
            self.recent[0] = offset;
        }
    }
}

impl Report {
    /// Creates an empty report.
    pub const fn new(sack: bool, dsack: bool) -> Self {
        Self {
            sack,
            dsack,
            news: None,
        }
    }

    /// Whether arrived ranges are reported to the peer (SACK).
    pub const fn reports_ranges(&self) -> bool {
        self.sack
    }

    /// Records that the segment that starts at `offset` brought new data.
    pub fn on_arrival(&mut self, offset: u64) {
        if self.sack {
            self.news.get_or_insert_default().on_arrival(offset);
        }
    }

    /// Records a duplicate of bytes already held: they are reported once (RFC 2883 §4, point 1).
    pub fn on_duplicate(&mut self, range: Range<u64>) {
        if self.dsack {
            self.news.get_or_insert_default().duplicate = Some(range);
        }
    }

    /// Records that no data is held after a gap any more.
    pub fn on_gaps_filled(&mut self) {
        if self
            .news
            .as_ref()
            .is_some_and(|news| news.duplicate.is_none())
        {
            self.news = None;
        }
    }

    /// Whether there is anything to report.
    #[inline]
    pub fn has_something(&self, reassembly: &Reassembly) -> bool {
        let has_duplicate = |news: &News| news.duplicate.is_some();
        self.sack && (reassembly.has_gaps() || self.news.as_deref().is_some_and(has_duplicate))
    }

    /// Writes the ranges to report into `ranges`: a duplicate first, then the range that the last
    /// segment belongs to, then the others, most recently changed first (RFC 2018 §4). Returns
    /// their number.
    pub fn take(
        &mut self,
        reassembly: &Reassembly,
        ranges: &mut [Range<u64>; MAX_REPORTED],
    ) -> usize {
        let mut count = 0;
        let news = self.news.get_or_insert_default();
        if let Some(duplicate) = news.duplicate.take() {
            // RFC 2883 §4.2: a duplicate above the cumulative offset is followed by the range that
            // contains it.
            if duplicate.start >= reassembly.next_expected() {
                news.on_arrival(duplicate.start);
            }
            ranges[0] = duplicate;
            count = 1;
        }
        let first_sack = count;
        let mut kept = [Compact::NONE; MAX_REPORTED];
        let mut keep = 0;
        for offset in news.recent {
            let Some(range) = offset.get().and_then(|it| reassembly.containing(it)) else {
                continue;
            };
            if count < MAX_REPORTED && !ranges[first_sack..count].contains(&range) {
                ranges[count] = range;
                count += 1;
                kept[keep] = offset;
                keep += 1;
            }
        }
        news.recent = kept;
        // As many as fit (RFC 2018 §4), those no longer remembered in ascending order: the lowest
        // matter most to the sender.
        for range in reassembly.waiting() {
            if count == MAX_REPORTED {
                break;
            }
            if !ranges[first_sack..count].contains(&range) {
                ranges[count] = range;
                count += 1;
            }
        }
        count
    }
}
