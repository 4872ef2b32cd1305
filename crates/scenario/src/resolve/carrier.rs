//! Slots, bandwidth and transport blocks of an LTE or NR carrier.

use airtcp_link::mac::ran::config::CarrierConfig;
use airtcp_link::mac::ran::frame_structure::{FrameStructure, SlotDirection};
use airtcp_link::mac::ran::grid::{Grid, lte_group_size, nr_group_size};
use airtcp_link::mac::ran::transport_block::{BlockFormat, Resources, SharedChannel};
use airtcp_units::Duration;
use airtcp_units::written::Written;

use crate::document::CellTable;
use crate::error::Problem;
use crate::names::{CellStandard, DuplexName, McsTableName, SubcarrierSpacing};

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

/// The carrier that the table describes.
pub(super) fn resolve(table: &mut CellTable, standard: CellStandard) -> Result<Carriers, Problem> {
    let is_lte = standard == CellStandard::Lte;
    let spacing = spacing(table, is_lte)?;
    let (default, listed) = if is_lte {
        (10.0, LTE)
    } else if spacing == SubcarrierSpacing::Khz120 {
        (100.0, nr_blocks(spacing))
    } else {
        (20.0, nr_blocks(spacing))
    };
    let bandwidth: f64 = Written::fill(&mut table.bandwidth_mhz, &default);
    let found = listed
        .iter()
        .find(|(mhz, _)| (mhz - bandwidth).abs() < 1e-9);
    let Some(&(_, blocks)) = found else {
        let names: Vec<_> = listed.iter().map(|(mhz, _)| mhz.to_string()).collect();
        let expected = format!("expected one of {} with cell.standard = ", names.join(", "));
        let which = if is_lte {
            "\"lte\""
        } else {
            "\"nr\" and this subcarrier_spacing"
        };
        return Err(Problem::at(key!(cell.bandwidth_mhz), expected + which));
    };
    let default = match standard {
        CellStandard::Nr => McsTableName::Qam256,
        _ => McsTableName::Qam64,
    };
    let mcs_table = table.mcs_table.get_or_insert(default);
    let group = if is_lte {
        lte_group_size(blocks)
    } else {
        nr_group_size(blocks)
    };
    let (mcs_table, subbands) = ((*mcs_table).into(), table.subbands());
    let (down, up) = channels(table, is_lte)?;
    let carrier = |channel| CarrierConfig {
        grid: Grid::new(blocks, group, subbands),
        format: BlockFormat {
            channel,
            table: mcs_table,
        },
    };
    Ok(Carriers {
        frame: FrameStructure {
            slot: slot(spacing),
            pattern: pattern(table, is_lte)?,
            processing: table.harq.get_or_insert_default().processing(),
        },
        down: carrier(down),
        up: carrier(up),
    })
}

fn spacing(table: &mut CellTable, is_lte: bool) -> Result<SubcarrierSpacing, Problem> {
    if is_lte {
        let why = "belongs to cell.standard = \"nr\": LTE has 15 kHz; remove it, or choose that";
        refuse_keys!(table, key!(cell), why; subcarrier_spacing);
        return Ok(SubcarrierSpacing::Khz15);
    }
    Ok(*table.subcarrier_spacing.get_or_insert_default())
}

const fn slot(spacing: SubcarrierSpacing) -> Duration {
    match spacing {
        SubcarrierSpacing::Khz15 => Duration::from_micros(1_000),
        SubcarrierSpacing::Khz30 => Duration::from_micros(500),
        SubcarrierSpacing::Khz60 => Duration::from_micros(250),
        SubcarrierSpacing::Khz120 => Duration::from_micros(125),
    }
}

/// The shared channels from and to the base station.
fn channels(
    table: &mut CellTable,
    is_lte: bool,
) -> Result<(SharedChannel, SharedChannel), Problem> {
    if is_lte {
        let why = "belongs to cell.standard = \"nr\"; remove it, or choose that";
        refuse_keys!(table, key!(cell), why; layers);
        // 14 symbols of 12 subcarriers less control's, and 12 cell-specific reference
        // signals of two antennas in the others (TS 36.211 §6.10.1.2).
        let down = 12 * (14 - table.control_symbols()) - 12;
        // Two of 14 symbols are demodulation reference signals (TS 36.211 §5.5.2.1.2).
        let up = 12 * (14 - 2);
        return Ok((
            SharedChannel::LtePdsch { elements: down },
            SharedChannel::LtePusch { elements: up },
        ));
    }
    let why = "belongs to cell.standard = \"lte\"; remove it, or choose that";
    refuse_keys!(table, key!(cell), why; control_symbols);
    // Two symbols of control or guard, one of demodulation reference signals (TS 38.211 §7.4.1.1).
    let resources = |layers| Resources {
        symbols: 12,
        dmrs: 12,
        overhead: 0,
        layers,
    };
    Ok((
        SharedChannel::Nr(resources(table.layers())),
        SharedChannel::Nr(resources(1)),
    ))
}

/// Directions of the slots; empty where each goes both ways.
fn pattern(table: &mut CellTable, is_lte: bool) -> Result<Vec<SlotDirection>, Problem> {
    let default = if is_lte {
        DuplexName::Fdd
    } else {
        DuplexName::Tdd
    };
    if *table.duplex.get_or_insert(default) == DuplexName::Fdd {
        let why = "belongs to cell.duplex = \"tdd\"; remove it, or choose that";
        refuse_keys!(table, key!(cell), why; tdd_pattern);
        return Ok(Vec::new());
    }
    let usual = if is_lte { "DSUUD" } else { "DDDSU" };
    let letters = table.tdd_pattern.get_or_insert_with(|| usual.to_owned());
    let expected = || {
        Problem::at(
            key!(cell.tdd_pattern),
            "expected at most 80 letters D, S and U, at least one of D or S and one U: \"DDDSU\"",
        )
    };
    let directions: Option<Vec<_>> = letters
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
