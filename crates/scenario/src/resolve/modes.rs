//! `[wlan]` with 802.11n, ac or ax: the modes of frames, and how they are chosen.

use airtcp_link::mac::edca::{Protection, QOS_OVERHEAD};
use airtcp_link::phy::{
    self, Band, BasicRates, Family, GuardInterval, Mode, ModeError, Phy, PhyError, Width,
};
use airtcp_link::rate_control::{RateControlConfig, modes};

use crate::document::{Channels, WlanTable};
use crate::error::Problem;
use crate::names::{ProtectionName, RateControlName, Standard};
use airtcp_units::bounded::Whole;

/// An MPDU with a full packet, for which an ideal rate control computes errors.
const USUAL_MPDU: u32 = 1500 + QOS_OVERHEAD;

/// The modes of frames.
pub(crate) struct Modes {
    pub phy: Phy,
    /// Of the mobiles, where they differ.
    pub of_stations: Vec<Mode>,
    /// Of the mobiles, where a mode may change.
    pub rate_control: Vec<RateControlConfig>,
    pub protection: Option<Protection>,
}

/// The physical layer, and the modes of the mobiles where they differ or change.
pub(crate) fn resolve(table: &WlanTable, standard: Standard) -> Result<Modes, Problem> {
    let standards = standards(table, standard)?;
    let standard: phy::Standard = standard.into();
    let family = standard.family();
    let Channels::Aggregating {
        channel_width,
        guard_interval,
        band,
        protection,
        ..
    } = Channels::of(table, key!(wlan))?
    else {
        return Err(Problem::at(
            key!(wlan.standard),
            "expected \"802.11n\", \"802.11ac\" or \"802.11ax\"",
        ));
    };
    let (width, guard) = (channel_width.into(), guard_interval.into());
    let controls = controls(table)?;
    let indices = indices(table, &controls)?;
    let streams: Vec<u32> = match &table.station_streams {
        Some(given) => {
            let why = "wlan.station_streams says how each mobile sends; give one of them";
            refuse_keys!(table, key!(wlan), why; spatial_streams);
            given.iter().map(|streams| streams.get_u32()).collect()
        }
        None => vec![table.spatial_streams.map_or(1, Whole::get_u32)],
    };
    for (list, key) in [
        (&indices, key!(wlan.station_mcs)),
        (&streams, key!(wlan.station_streams)),
    ] {
        if list.is_empty() {
            return Err(Problem::at(key, "expected one at least, such as [7, 0]"));
        }
    }
    let rates = table.station_rates.as_ref().map_or(0, Vec::len);
    let lists = [
        indices.len(),
        streams.len(),
        controls.len(),
        standards.len(),
    ];
    let count = lists.into_iter().fold(rates, usize::max);
    let in_turn = |list: &[u32], place: usize| list[place % list.len()] as u8;
    let mode = |of: Family, place: usize| {
        let (index, streams) = (in_turn(&indices, place), in_turn(&streams, place));
        let (width, guard) = understood(of, family, width, guard);
        Mode::new(of, index, width, streams, guard).map_err(|error| {
            let key = match error {
                ModeError::Index { .. } | ModeError::LeftOut { .. } if indices.len() > 1 => {
                    key!(wlan.station_mcs)
                }
                ModeError::Width { .. } => key!(wlan.channel_width),
                ModeError::Streams(_) => key!(wlan.spatial_streams),
                ModeError::Guard { .. } => key!(wlan.guard_interval),
                _ => key!(wlan.mcs),
            };
            Problem::at(key, error.to_string())
        })
    };
    let of_station = |place: usize| match standards[place % standards.len()] {
        own if own.aggregates() => mode(phy::Standard::from(own).family(), place),
        older => legacy_mode(table, older.into(), place),
    };
    let of_stations: Vec<Mode> = (0..count).map(of_station).collect::<Result<_, _>>()?;
    let own_mode = mode(family, 0)?;
    let of_phy = |error: PhyError| {
        let key = match error {
            PhyError::Band { .. } => key!(wlan.band),
            _ => key!(wlan.mcs),
        };
        Problem::at(key, error.to_string())
    };
    let band = band.into();
    check_bands(&standards, band)?;
    let has_b = standards.contains(&Standard::B);
    let basic = if has_b { MIXED } else { BasicRates::OFDM };
    let phy = Phy::in_modes(standard, own_mode, basic)
        .and_then(|phy| phy.in_band(band))
        .map_err(of_phy)?;
    let adapted = |mode: Mode| {
        let (width, guard) = understood(mode.family(), family, width, guard);
        adapted(mode.family(), width, mode.streams(), guard)
    };
    let control = |place: usize| match controls[place % controls.len()] {
        _ if !of_stations[place].aggregates() => RateControlConfig::Fixed(of_stations[place]),
        RateControlName::Fixed => RateControlConfig::Fixed(of_stations[place]),
        RateControlName::Ideal => {
            RateControlConfig::Ideal(adapted(of_stations[place]), USUAL_MPDU, basic)
        }
        RateControlName::MinstrelHt => RateControlConfig::Minstrel(adapted(of_stations[place])),
    };
    let is_fixed = controls.iter().all(|own| *own == RateControlName::Fixed);
    Ok(Modes {
        rate_control: if is_fixed {
            Vec::new()
        } else {
            (0..count).map(control).collect()
        },
        protection: self::protection(protection, &standards, standard),
        of_stations: if count == 1 && of_stations[0] == own_mode {
            Vec::new()
        } else {
            of_stations
        },
        phy,
    })
}

/// Basic rates of a channel with 802.11b stations: the DSSS rates and the OFDM rates.
const MIXED: BasicRates = BasicRates::of(&[
    Mode::DSSS_1,
    Mode::DSSS_2,
    Mode::CCK_5_5,
    Mode::CCK_11,
    Mode::OFDM_6,
    Mode::OFDM_12,
    Mode::OFDM_24,
]);

/// The standard of each mobile, in turn.
fn standards(table: &WlanTable, own: Standard) -> Result<Vec<Standard>, Problem> {
    const KEY: &str = key!(wlan.station_standard);
    let Some(given) = &table.station_standard else {
        return Ok(vec![own]);
    };
    if given.is_empty() {
        let expected = "expected one at least, such as [\"802.11n\", \"802.11g\"]";
        return Err(Problem::at(KEY, expected));
    }
    let family = |standard: Standard| phy::Standard::from(standard).family();
    if let Some(newer) = given
        .iter()
        .find(|standard| family(**standard) > family(own))
    {
        let (newer, own) = (phy::Standard::from(*newer), phy::Standard::from(own));
        let expected = format!(
            "{} is newer than wlan.standard, which is {}; expected that or an older one",
            newer.name(),
            own.name()
        );
        return Err(Problem::at(KEY, expected));
    }
    Ok(given.clone())
}

/// All stations are in one band.
fn check_bands(standards: &[Standard], band: Band) -> Result<(), Problem> {
    for &standard in standards {
        let standard = phy::Standard::from(standard);
        if !standard.bands().contains(&band) {
            let error = PhyError::Band { band, standard };
            return Err(Problem::at(key!(wlan.band), error.to_string()));
        }
    }
    Ok(())
}

/// The mode of a station of 802.11b, g or a.
fn legacy_mode(table: &WlanTable, standard: phy::Standard, place: usize) -> Result<Mode, Problem> {
    const KEY: &str = key!(wlan.station_rates);
    let (fastest, _) = standard.usual_rates();
    let rate = match table.station_rates.as_deref() {
        None => fastest,
        Some([]) => {
            let example = "expected at least one rate, such as [\"54 Mbit/s\", \"11 Mbit/s\"]";
            return Err(Problem::at(KEY, example));
        }
        Some(rates) => rates[place % rates.len()].get(),
    };
    Mode::with_rate(standard.family(), rate).ok_or_else(|| {
        let error = PhyError::Rate { rate, standard };
        Problem::at(KEY, error.to_string())
    })
}

/// The width and the guard interval of an older family on a channel of `own`.
fn understood(
    family: Family,
    own: Family,
    width: Width,
    guard: GuardInterval,
) -> (Width, GuardInterval) {
    match family {
        _ if family == own => (width, guard),
        Family::Ht => (width.min(Width::Mhz40), guard.min(GuardInterval::Ns800)),
        _ => (width, guard.min(GuardInterval::Ns800)),
    }
}

fn protection(
    name: ProtectionName,
    standards: &[Standard],
    own: phy::Standard,
) -> Option<Protection> {
    let is_older = |standard: &Standard| phy::Standard::from(*standard).family() < own.family();
    if !standards.iter().any(is_older) {
        return None;
    }
    match name {
        ProtectionName::None => None,
        ProtectionName::CtsToSelf => Some(Protection::CtsToSelf),
        ProtectionName::RtsCts => Some(Protection::RtsCts),
    }
}

/// How each mobile's modes are chosen, in turn.
fn controls(table: &WlanTable) -> Result<Vec<RateControlName>, Problem> {
    let controls = table.controls();
    let key = match &table.station_rate_control {
        Some(_) => {
            let why = "wlan.station_rate_control says it for each mobile; give one of them";
            refuse_keys!(table, key!(wlan), why; rate_control);
            key!(wlan.station_rate_control)
        }
        None => key!(wlan.rate_control),
    };
    if controls.is_empty() {
        let expected = "expected one at least, such as [\"minstrel-ht\", \"fixed\"]";
        return Err(Problem::at(key, expected));
    }
    if controls.contains(&RateControlName::Ideal) && table.radio.is_none() {
        let expected = "\"ideal\" chooses by the signal-to-noise ratio; give [wlan.radio], or choose \
                        \"fixed\" or \"minstrel-ht\"";
        return Err(Problem::at(key, expected));
    }
    Ok(controls)
}

/// The fixed modulation and coding schemes, in turn. Adaptive rate control starts at the slowest.
fn indices(table: &WlanTable, controls: &[RateControlName]) -> Result<Vec<u32>, Problem> {
    if !controls.contains(&RateControlName::Fixed) {
        let why = "is for wlan.rate_control = \"fixed\"; remove it, or choose that";
        refuse_keys!(table, key!(wlan), why; mcs);
        refuse_keys!(table, key!(wlan), why; station_mcs);
        return Ok(vec![0]);
    }
    Ok(match &table.station_mcs {
        Some(given) => {
            let why = "wlan.station_mcs says how each mobile sends; give one of them";
            refuse_keys!(table, key!(wlan), why; mcs);
            given.iter().map(|mcs| mcs.get_u32()).collect()
        }
        None => vec![table.mcs.map_or(0, Whole::get_u32)],
    })
}

/// The modes that a station adapts among. With the short guard interval of 802.11n and ac the long
/// one may be chosen too.
fn adapted(family: Family, width: Width, streams: u8, guard: GuardInterval) -> Vec<Mode> {
    let guards = match guard {
        GuardInterval::Ns400 => &[GuardInterval::Ns400, GuardInterval::Ns800][..],
        _ => &[guard],
    };
    modes(family, width, streams, guards)
}
