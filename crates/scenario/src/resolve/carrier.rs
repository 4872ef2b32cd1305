//! Slots, bandwidth and transport blocks of an LTE or NR carrier.

use airtcp_link::mac::ran::config::CarrierConfig;
use airtcp_link::mac::ran::frame_structure::{FrameStructure, SlotDirection};
use airtcp_link::mac::ran::grid::{Grid, lte_group_size, nr_group_size};
use airtcp_link::mac::ran::transport_block::{BlockFormat, Resources, SharedChannel};
use airtcp_units::Duration;

use crate::document::{CellTable, Duplexes};
use crate::error::Problem;
use crate::names::{McsTableName, SubcarrierSpacing};

/// Both directions of a carrier.
pub(super) struct Carriers {
    pub frame: FrameStructure,
    pub down: CarrierConfig,
    pub up: CarrierConfig,
}

/// MHz and resource blocks of LTE (TS 36.101 table 5.6-1).
const LTE: &[(f64, u32)] = &[
    (1.4, 6),
    (3.0, 15),
    (5.0, 25),
    (10.0, 50),
    (15.0, 75),
    (20.0, 100),
];

/// MHz and resource blocks of NR (TS 38.101-1 table 5.3.2-1, TS 38.101-2 table 5.3.2-1).
const fn nr_blocks(spacing: SubcarrierSpacing) -> &'static [(f64, u32)] {
    match spacing {
        SubcarrierSpacing::Khz15 => &[
            (5.0, 25),
            (10.0, 52),
            (15.0, 79),
            (20.0, 106),
            (25.0, 133),
            (30.0, 160),
            (40.0, 216),
            (50.0, 270),
        ],
        SubcarrierSpacing::Khz30 => &[
            (5.0, 11),
            (10.0, 24),
            (15.0, 38),
            (20.0, 51),
            (25.0, 65),
            (30.0, 78),
            (40.0, 106),
            (50.0, 133),
            (60.0, 162),
            (80.0, 217),
            (90.0, 245),
            (100.0, 273),
        ],
        SubcarrierSpacing::Khz60 => &[
            (10.0, 11),
            (15.0, 18),
            (20.0, 24),
            (25.0, 31),
            (30.0, 38),
            (40.0, 51),
            (50.0, 65),
            (60.0, 79),
            (80.0, 107),
            (90.0, 121),
            (100.0, 135),
        ],
        SubcarrierSpacing::Khz120 => &[(50.0, 32), (100.0, 66), (200.0, 132), (400.0, 264)],
    }
}

/// The keys of a carrier of LTE.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lte {
    pub bandwidth_mhz: f64,
    pub mcs_table: McsTableName,
    pub control_symbols: u32,
    pub subbands: u32,
}

/// The keys of a carrier of NR.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nr {
    pub subcarrier_spacing: SubcarrierSpacing,
    pub bandwidth_mhz: f64,
    pub mcs_table: McsTableName,
    pub layers: u32,
    pub subbands: u32,
}

/// The carrier of LTE.
pub(super) fn lte(table: &CellTable, own: Lte) -> Result<Carriers, Problem> {
    let blocks = blocks(LTE, own.bandwidth_mhz, "\"lte\"")?;
    // 14 symbols of 12 subcarriers less control's, and 12 cell-specific reference signals of two
    // antennas in the others (TS 36.211 §6.10.1.2).
    let down = 12 * (14 - own.control_symbols) - 12;
    // Two of 14 symbols are demodulation reference signals (TS 36.211 §5.5.2.1.2).
    let up = 12 * (14 - 2);
    let carrier = |channel| CarrierConfig {
        grid: Grid::new(blocks, lte_group_size(blocks), own.subbands),
        format: BlockFormat {
            channel,
            table: own.mcs_table.into(),
        },
    };
    Ok(Carriers {
        frame: frame(table, SubcarrierSpacing::Khz15)?,
        down: carrier(SharedChannel::LtePdsch { elements: down }),
        up: carrier(SharedChannel::LtePusch { elements: up }),
    })
}

/// The carrier of NR.
pub(super) fn nr(table: &CellTable, own: Nr) -> Result<Carriers, Problem> {
    let spacing = own.subcarrier_spacing;
    let which = "\"nr\" and this subcarrier_spacing";
    let blocks = blocks(nr_blocks(spacing), own.bandwidth_mhz, which)?;
    // Two symbols of control or guard, one of demodulation reference signals (TS 38.211 §7.4.1.1).
    let resources = |layers| Resources {
        symbols: 12,
        dmrs: 12,
        overhead: 0,
        layers,
    };
    let carrier = |layers| CarrierConfig {
        grid: Grid::new(blocks, nr_group_size(blocks), own.subbands),
        format: BlockFormat {
            channel: SharedChannel::Nr(resources(layers)),
            table: own.mcs_table.into(),
        },
    };
    Ok(Carriers {
        frame: frame(table, spacing)?,
        down: carrier(own.layers),
        up: carrier(1),
    })
}

/// The resource blocks of a bandwidth.
fn blocks(listed: &[(f64, u32)], bandwidth_mhz: f64, which: &str) -> Result<u32, Problem> {
    let found = listed
        .iter()
        .find(|(mhz, _)| (mhz - bandwidth_mhz).abs() < 1e-9);
    found.map(|(_, blocks)| *blocks).ok_or_else(|| {
        let names: Vec<_> = listed.iter().map(|(mhz, _)| mhz.to_string()).collect();
        let names = names.join(", ");
        let expected = format!("expected one of {names} with cell.standard = {which}");
        Problem::at(key!(cell.bandwidth_mhz), expected)
    })
}

fn frame(table: &CellTable, spacing: SubcarrierSpacing) -> Result<FrameStructure, Problem> {
    Ok(FrameStructure {
        slot: slot(spacing),
        pattern: pattern(table)?,
        processing: table.harq.unwrap_or_default().processing(),
    })
}

const fn slot(spacing: SubcarrierSpacing) -> Duration {
    match spacing {
        SubcarrierSpacing::Khz15 => Duration::from_micros(1_000),
        SubcarrierSpacing::Khz30 => Duration::from_micros(500),
        SubcarrierSpacing::Khz60 => Duration::from_micros(250),
        SubcarrierSpacing::Khz120 => Duration::from_micros(125),
    }
}

/// Directions of the slots; empty where each goes both ways.
fn pattern(table: &CellTable) -> Result<Vec<SlotDirection>, Problem> {
    let Duplexes::Tdd { tdd_pattern } = Duplexes::of(table, key!(cell))? else {
        return Ok(Vec::new());
    };
    let expected = || {
        Problem::at(
            key!(cell.tdd_pattern),
            "expected at most 80 letters D, S and U, at least one of D or S and one U: \"DDDSU\"",
        )
    };
    let directions: Option<Vec<_>> = tdd_pattern
        .chars()
        .map(|letter| match letter {
            'D' | 'S' => Some(SlotDirection::Down),
            'U' => Some(SlotDirection::Up),
            _ => None,
        })
        .collect();
    let directions = directions.ok_or_else(expected)?;
    let has = |direction| directions.contains(&direction);
    if !has(SlotDirection::Down) || !has(SlotDirection::Up) || directions.len() > 80 {
        return Err(expected());
    }
    Ok(directions)
}
