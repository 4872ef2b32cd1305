//! SACK blocks: ranges received above the cumulative acknowledgment (RFC 2018), and duplicates (RFC
//! 2883). Sprout's forecasts.

use alloc::boxed::Box;
use core::ops::Range;

use airtcp_packet::Forecast;
use airtcp_units::{Compact, Duration, Instant};

use super::MAX_REPORTED;
use super::forecast::Forecaster;
use super::reassembly::Reassembly;
use crate::config::SproutConfig;

/// The ranges to report, the most recent first.
#[derive(Clone, Debug)]
pub struct Report {
    /// Whether there may be anything to report.
    reports: bool,
    sack: bool,
    dsack: bool,
    /// Segments that brought nothing new.
    duplicates: u32,
    /// Boxed, and present only while there is something to report, so that very many receivers fit
    /// in memory.
    news: Option<Box<News>>,
}

#[derive(Clone, Debug)]
struct News {
    /// One byte of each range that changed last, the latest first. The ranges may have grown or
    /// merged since: they are looked up when reported.
    recent: [Compact<u64>; MAX_REPORTED],
    /// Bytes that arrived again; empty without any.
    duplicate: Duplicate,
    /// Makes a forecast for every report.
    forecaster: Option<Box<Forecaster>>,
}

/// A range of bytes that arrived again, in the room of the range alone.
#[derive(Clone, Copy, Debug, Default)]
struct Duplicate {
    start: u64,
    end: u64,
}

impl Duplicate {
    const fn is_none(self) -> bool {
        self.start >= self.end
    }
}

impl Default for News {
    fn default() -> Self {
        Self {
            recent: [Compact::NONE; MAX_REPORTED],
            duplicate: Duplicate::default(),
            forecaster: None,
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
            reports: sack,
            sack,
            dsack,
            duplicates: 0,
            news: None,
        }
    }

    /// The same report, with a forecast in every acknowledgment.
    pub fn with_forecasts(mut self, config: SproutConfig) -> Self {
        self.reports = true;
        let news = self.news.get_or_insert_default();
        news.forecaster = Some(Box::new(Forecaster::new(config)));
        self
    }

    fn forecaster(&mut self) -> Option<&mut Forecaster> {
        self.news.as_deref_mut()?.forecaster.as_deref_mut()
    }

    /// Takes the round trip of the handshake.
    pub fn on_round_trip(&mut self, round_trip: Duration) {
        if let Some(forecaster) = self.forecaster() {
            forecaster.on_round_trip(round_trip);
        }
    }

    /// The forecast at `now`, if there are forecasts, when `arrived` bytes have arrived in all, of
    /// `segment` in a full segment.
    pub fn forecast(&mut self, now: Instant, arrived: u64, segment: u32) -> Option<Forecast> {
        let forecaster = self.forecaster()?;
        Some(forecaster.forecast(now, arrived, segment))
    }

    /// Counts a segment that brought nothing new.
    pub const fn count_duplicate(&mut self) {
        self.duplicates = self.duplicates.saturating_add(1);
    }

    /// Segments that brought nothing new.
    pub const fn duplicates(&self) -> u32 {
        self.duplicates
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
            let Range { start, end } = range;
            self.news.get_or_insert_default().duplicate = Duplicate { start, end };
        }
    }

    /// Records that no data is held after a gap any more.
    pub fn on_gaps_filled(&mut self) {
        let Some(news) = &mut self.news else {
            return;
        };
        if news.duplicate.is_none() {
            let forecaster = news.forecaster.take();
            self.news = forecaster.map(|forecaster| {
                Box::new(News {
                    forecaster: Some(forecaster),
                    ..News::default()
                })
            });
        }
    }

    /// Whether there is anything to report.
    #[inline]
    pub fn has_something(&self, reassembly: &Reassembly) -> bool {
        let has_more = |news: &News| !news.duplicate.is_none() || news.forecaster.is_some();
        self.reports && (reassembly.has_gaps() || self.news.as_deref().is_some_and(has_more))
    }

    /// Writes the ranges to report into `ranges`: a duplicate first, then the range that the last
    /// segment belongs to, then the others, most recently changed first (RFC 2018 §4). Returns
    /// their number.
    pub fn take(
        &mut self,
        reassembly: &Reassembly,
        ranges: &mut [Range<u64>; MAX_REPORTED],
    ) -> usize {
        if !self.sack {
            return 0;
        }
        let mut count = 0;
        let news = self.news.get_or_insert_default();
        let duplicate = core::mem::take(&mut news.duplicate);
        if !duplicate.is_none() {
            // RFC 2883 §4.2: a duplicate above the cumulative offset is followed by the range that
            // contains it.
            if duplicate.start >= reassembly.next_expected() {
                news.on_arrival(duplicate.start);
            }
            ranges[0] = duplicate.start..duplicate.end;
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
