//! Damage to frames by the radio.
//!
//! The fate of a station's frame is a function of (seed, station, direction, that station's
//! transmission index there) and of the time, independent of other stations: a remedy that sends
//! more frames at one station shifts no draw of another.

use airtcp_units::{Duration, Instant, Probability};

use super::frame_reporter::Span;
use super::stations::in_turn;
use super::way::{FrameDirection, Way};
use crate::error::{ErrorModel, ErrorProcess};
use crate::fading::Radio;
use crate::frame::{PacketClass, Transmission};
use crate::phy::Mode;
use crate::phy::error_rate::frame_error_rate;
use crate::random::Stream;

/// The frames that an error model affects. It spares the link's control frames, unless it counts
/// every frame [heard](Counted::Heard).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Affects {
    /// Frames with data of TCP.
    #[default]
    Data,
    /// Frames with pure TCP acknowledgments.
    Acknowledgments,
    /// Both.
    Both,
}

impl Affects {
    #[inline]
    const fn includes(self, class: PacketClass) -> bool {
        match self {
            Self::Data => matches!(class, PacketClass::Data),
            Self::Acknowledgments => matches!(class, PacketClass::Acknowledgment),
            Self::Both => true,
        }
    }
}

/// The scope in which an error model counts transmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Each station separately.
    #[default]
    Station,
    /// All of the channel in one direction: "of every 100 frames that the access point hears".
    Channel,
    /// All frames that the access point receives, control frames included: an error model at its
    /// receiver. Frames that it sends are spared.
    Heard,
}

/// A periodic outage of `length` every `every`, starting after the first period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// From the start of one to the start of the next.
    pub every: Duration,
    /// Duration of one.
    pub length: Duration,
}

impl Outage {
    /// Whether an outage overlaps the time from `start` to `end`.
    #[inline]
    #[must_use]
    pub fn touches(&self, start: Instant, end: Instant) -> bool {
        let period = self.every.as_nanos().max(1);
        // Outages begin at period, 2·period, …: the last that began by `end`.
        let begun = end.as_nanos() / period;
        begun > 0 && begun * period + self.length.as_nanos() > start.as_nanos()
    }
}

/// Errors that damage frames.
#[derive(Clone, Debug)]
pub struct DamageConfig {
    /// The error model of frames: each attempt is a transmission.
    pub model: ErrorModel,
    /// The frames that the model affects.
    pub affects: Affects,
    /// The scope in which it counts transmissions.
    pub counted: Counted,
    /// Outages, in which every frame is damaged.
    pub outage: Option<Outage>,
    /// The stations' radio channels, which damage any frame.
    pub radio: Option<RadioDamage>,
}

/// Frames damaged by noise: each with the frame error rate of its mode at the signal-to-noise ratio
/// of its start. All frames, control frames included.
#[derive(Clone, Debug)]
pub struct RadioDamage {
    /// The channel of each station; the first place is the access point's and unused.
    pub radios: Vec<Radio>,
    /// The modes of data frames, of stations from 1 on, used cyclically; at least one.
    pub data: Vec<Mode>,
    /// The mode of control frames.
    pub control: Mode,
}

impl Default for DamageConfig {
    fn default() -> Self {
        Self {
            model: ErrorModel::None,
            affects: Affects::default(),
            counted: Counted::default(),
            outage: None,
            radio: None,
        }
    }
}

/// A frame on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The station on the mobile's side; or the unit that a link with a single mobile counts
    /// separately: its flows.
    pub station: u32,
    /// Its direction.
    pub direction: FrameDirection,
    /// Its content; `None` for a control frame.
    pub class: Option<PacketClass>,
    /// Size of the frame in bytes.
    pub bytes: u32,
    /// Its first bit.
    pub start: Instant,
    /// Its last bit.
    pub end: Instant,
}

impl Frame {
    /// A frame between two stations. One between relays is of the one that sends it.
    #[inline]
    pub(super) const fn between(
        (from, to): (u32, u32),
        class: Option<PacketClass>,
        bytes: u32,
        (start, end): Span,
    ) -> Self {
        let way = Way::between(from, to);
        Self {
            station: way.mobile,
            direction: way.direction,
            class,
            bytes,
            start,
            end,
        }
    }
}

/// Errors that damage the frames of a channel, running.
#[derive(Clone, Debug)]
pub struct Damage {
    config: DamageConfig,
    /// Whether there is nothing that could damage a frame.
    is_absent: bool,
    /// From stations, and to them.
    errors: [ErrorProcess; 2],
    /// Number of transmissions, of each station or of the channel.
    counts: [Vec<u64>; 2],
    /// Number of frames of any kind, of each station.
    frames: [Vec<u64>; 2],
    noise: Stream,
    /// The damage probability of the last frame, for MPDUs that meet the same signal.
    last: Option<Met>,
}

/// The conditions of an MPDU: equal for all of the same PPDU, mode and size.
#[derive(Clone, Copy, Debug)]
struct Met {
    index: u64,
    station: u32,
    snr_db: f64,
    mode: Mode,
    bytes: u32,
    chance: Probability,
}

impl Damage {
    /// Errors that damage the frames of `stations` stations; draws come from `stream`. An error
    /// model counts further stations too, from their first frame on.
    #[must_use]
    pub fn new(config: &DamageConfig, stations: u32, stream: Stream) -> Self {
        let process =
            |direction| ErrorProcess::new(config.model.clone(), stream.substream(direction));
        let counters = match config.counted {
            Counted::Station => stations as usize,
            Counted::Channel | Counted::Heard => 1,
        };
        let errors = [process(0), process(1)];
        Self {
            is_absent: errors.iter().all(ErrorProcess::is_absent)
                && config.outage.is_none()
                && config.radio.is_none(),
            errors,
            counts: [vec![0; counters], vec![0; counters]],
            frames: match config.radio {
                Some(_) => [vec![0; stations as usize], vec![0; stations as usize]],
                None => [Vec::new(), Vec::new()],
            },
            noise: stream.substream(2),
            last: None,
            config: config.clone(),
        }
    }

    /// Whether a frame is damaged. To be called once for each, collided ones included, in the order
    /// of their starts.
    #[inline]
    pub fn damages(&mut self, frame: &Frame) -> bool {
        !self.is_absent && self.draws_damage(frame)
    }

    fn draws_damage(&mut self, frame: &Frame) -> bool {
        let by_model = self.model_damages(frame);
        let by_noise = match self.usual_mode(frame) {
            Some(mode) => self.noise_damages(frame, mode, 0),
            None => false,
        };
        self.is_damaged(frame, by_model, by_noise)
    }

    /// Whether a frame that is sent in `mode` is damaged; or, of an aggregate, the MPDU at `place`,
    /// from 0. To be called once for each, in order: all MPDUs of a PPDU meet the same signal.
    #[inline]
    pub fn damages_in(&mut self, frame: &Frame, mode: Mode, place: u32) -> bool {
        if self.is_absent {
            return false;
        }
        let by_model = self.model_damages(frame);
        let by_noise = self.config.radio.is_some() && self.noise_damages(frame, mode, place);
        self.is_damaged(frame, by_model, by_noise)
    }

    /// The mode of a frame of a station with a fixed mode, if it matters.
    fn usual_mode(&self, frame: &Frame) -> Option<Mode> {
        let radio = self.config.radio.as_ref()?;
        Some(match frame.class {
            Some(_) => *in_turn(&radio.data, frame.station).unwrap_or(&radio.control),
            None => radio.control,
        })
    }

    #[inline]
    fn model_damages(&mut self, frame: &Frame) -> bool {
        let is_touched = match self.config.counted {
            Counted::Heard => frame.direction == FrameDirection::FromStation,
            Counted::Station | Counted::Channel => frame
                .class
                .is_some_and(|class| self.config.affects.includes(class)),
        };
        is_touched && self.counts_and_draws(frame)
    }

    fn is_damaged(&self, frame: &Frame, by_model: bool, by_noise: bool) -> bool {
        let away = |outage: Outage| outage.touches(frame.start, frame.end);
        by_model || by_noise || self.config.outage.is_some_and(away)
    }

    /// Signal-to-noise ratio of a station at `now`, as its next frame would meet it.
    #[must_use]
    pub fn snr_db(&self, station: u32, now: Instant) -> Option<f64> {
        self.next_snr_db(station, FrameDirection::FromStation, now)
    }

    /// The same for a frame in one direction.
    #[must_use]
    pub fn next_snr_db(
        &self,
        station: u32,
        direction: FrameDirection,
        now: Instant,
    ) -> Option<f64> {
        let radio = self.config.radio.as_ref()?.radios.get(station as usize)?;
        let next = self.frames[direction as usize].get(station as usize)?;
        Some(radio.snr_db(now, 2 * next + direction as u64))
    }

    fn noise_damages(&mut self, frame: &Frame, mode: Mode, place: u32) -> bool {
        let Some(radio) = &self.config.radio else {
            return false;
        };
        let direction = frame.direction as usize;
        let count = &mut self.frames[direction][frame.station as usize];
        *count += u64::from(place == 0);
        // Frames of both directions fade independently where each frame does.
        let index = 2 * (*count - 1) + direction as u64;
        let is_same = |met: &Met| (met.index, met.station) == (index, frame.station);
        let known = self.last.filter(|met| place > 0 && is_same(met));
        let snr_db = known.map_or_else(
            || radio.radios[frame.station as usize].snr_db(frame.start, index),
            |met| met.snr_db,
        );
        let same = known.filter(|met| (met.mode, met.bytes) == (mode, frame.bytes));
        let chance = same.map_or_else(
            || frame_error_rate(mode, snr_db, frame.bytes),
            |met| met.chance,
        );
        self.last = Some(Met {
            index,
            station: frame.station,
            snr_db,
            mode,
            bytes: frame.bytes,
            chance,
        });
        let draws = self.noise.substream(u64::from(frame.station));
        chance.happens(match place {
            0 => draws.draw(index),
            place => draws.substream(index).draw(u64::from(place)),
        })
    }

    #[inline]
    fn counts_and_draws(&mut self, frame: &Frame) -> bool {
        let direction = frame.direction as usize;
        let owner = match self.config.counted {
            Counted::Station => frame.station,
            Counted::Channel | Counted::Heard => 0,
        };
        let counts = &mut self.counts[direction];
        if counts.len() <= owner as usize {
            counts.resize(owner as usize + 1, 0);
        }
        let index = counts[owner as usize];
        counts[owner as usize] += 1;
        let transmission = Transmission {
            bytes: frame.bytes,
            flow: owner,
            index,
        };
        let errors = &mut self.errors[direction];
        errors.loses(&transmission) || errors.loses_at(frame.end, &transmission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fading::{Fading, RadioConfig};

    const ZERO: Instant = Instant::ZERO;

    fn frame(station: u32, class: Option<PacketClass>) -> Frame {
        Frame {
            station,
            direction: FrameDirection::FromStation,
            class,
            bytes: 1536,
            start: ZERO,
            end: ZERO,
        }
    }

    fn block(counted: Counted) -> Damage {
        let config = DamageConfig {
            model: ErrorModel::Block { period: 4, lost: 1 },
            counted,
            ..DamageConfig::default()
        };
        Damage::new(&config, 2, Stream::new(1, "damage"))
    }

    /// Of every four frames the last: two stations in turn, four frames each.
    #[test]
    fn transmissions_are_counted_by_station_or_for_all() {
        let data = Some(PacketClass::Data);
        let damaged = |counted| {
            let mut damage = block(counted);
            let turns = [0, 1, 0, 1, 0, 1, 0, 1];
            turns.map(|station| damage.damages(&frame(station, data)))
        };
        let (no, yes) = (false, true);
        assert_eq!(
            damaged(Counted::Station),
            [no, no, no, no, no, no, yes, yes]
        );
        assert_eq!(
            damaged(Counted::Channel),
            [no, no, no, yes, no, no, no, yes]
        );
    }

    #[test]
    fn what_is_not_touched_is_not_counted() {
        let mut damage = block(Counted::Station);
        for _ in 0..3 {
            assert!(!damage.damages(&frame(0, Some(PacketClass::Data))));
            assert!(!damage.damages(&frame(0, Some(PacketClass::Acknowledgment))));
            assert!(!damage.damages(&frame(0, None)));
        }
        assert!(damage.damages(&frame(0, Some(PacketClass::Data))));
    }

    /// At 4.2 dB a good part of frames of 1536 bytes is damaged, of 4000 the share given by the
    /// frame error rate within four standard errors; of frames of 14 bytes at 1 Mbit/s hardly any.
    #[test]
    fn noise_damages_with_the_frame_error_rate() {
        let config = RadioConfig {
            carrier_hz: 2.4e9,
            transmit_power_dbm: 0.0,
            noise_dbm: 0.0,
            path_loss_exponent: 0.0,
            loss_at_1_m_db: Some(-4.2),
            shadowing_db: 0.0,
            shadowing_distance_m: None,
            fading: Fading::None,
        };
        let radio = Radio::new(&config, 1.0, Stream::new(1, "radio")).unwrap();
        let expected = frame_error_rate(Mode::CCK_11, 4.2, 1536).as_f64();
        let damage = DamageConfig {
            radio: Some(RadioDamage {
                radios: vec![radio; 2],
                data: vec![Mode::CCK_11],
                control: Mode::DSSS_1,
            }),
            ..DamageConfig::default()
        };
        let mut damage = Damage::new(&damage, 2, Stream::new(1, "damage"));
        let mut count = |class, bytes| {
            let of = Frame {
                bytes,
                ..frame(1, class)
            };
            (0..4000).filter(|_| damage.damages(&of)).count() as f64 / 4000.0
        };
        let data = count(Some(PacketClass::Data), 1536);
        assert!((0.02..0.98).contains(&expected), "{expected}");
        let error = (expected * (1.0 - expected) / 4000.0).sqrt();
        assert!((data - expected).abs() < 4.0 * error, "{data}, {expected}");
        assert!(count(None, 14) < 0.01);
    }

    #[test]
    fn an_outage_damages_what_it_touches() {
        let outage = Outage {
            every: Duration::from_nanos(100),
            length: Duration::from_nanos(10),
        };
        let at = Instant::from_nanos;
        for (start, end, touched) in [
            (0, 50, false),
            (90, 99, false),
            (90, 100, true),
            (105, 106, true),
            (110, 120, false),
            (50, 250, true),
        ] {
            assert_eq!(
                outage.touches(at(start), at(end)),
                touched,
                "{start} to {end}"
            );
        }
    }
}
