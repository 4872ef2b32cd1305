//! `[wlan.radio]` and `[cell.radio]`: where the mobiles are, and what the air does to a signal.

use airtcp_link::fading::{Fading, Placement, PlacementError, RadioConfig, RadioError};

use super::refuse;
use crate::document::{Distances, RadioTable};
use crate::error::Problem;
use crate::medium::Air;
use crate::names::FadingName;
use airtcp_units::bounded::Real;

/// The level of thermal noise in 20 MHz, -101 dBm, and a noise figure of 7 dB.
const DEFAULT_NOISE_DBM: f64 = -94.0;
/// 100 mW, what Europe allows at 2.4 GHz (ETSI EN 300 328).
const DEFAULT_POWER_DBM: f64 = 20.0;
const DEFAULT_EXPONENT: f64 = 3.0;
const DEFAULT_DISTANCE_M: f64 = 10.0;
/// Walking: 3 km/h.
const DEFAULT_SPEED: f64 = 0.833_333;

/// The radio that the table at `key` describes, at a carrier of `carrier_mhz` unless it says.
pub(super) fn resolve(table: &mut RadioTable, key: &str, carrier_mhz: f64) -> Result<Air, Problem> {
    let fading = match *table.fading.get_or_insert_default() {
        FadingName::Jakes => Fading::Jakes {
            speed_m_per_s: real(&mut table.speed_m_per_s, DEFAULT_SPEED),
        },
        other => {
            refuse(
                &table.speed_m_per_s,
                &format!("{key}.speed_m_per_s"),
                &format!("belongs to {key}.fading = \"jakes\"; remove it, or choose that"),
            )?;
            if other == FadingName::None {
                Fading::None
            } else {
                Fading::Independent
            }
        }
    };
    let config = RadioConfig {
        carrier_hz: real(&mut table.carrier_mhz, carrier_mhz) * 1e6,
        transmit_power_dbm: real(&mut table.transmit_power_dbm, DEFAULT_POWER_DBM),
        noise_dbm: real(&mut table.noise_dbm, DEFAULT_NOISE_DBM),
        path_loss_exponent: real(&mut table.path_loss_exponent, DEFAULT_EXPONENT),
        loss_at_1_m_db: table.loss_at_1_m_db.map(Real::get),
        shadowing_db: real(&mut table.shadowing_db, 0.0),
        fading,
    };
    config.check().map_err(|error| {
        let name = match error {
            RadioError::Carrier(_) => "carrier_mhz",
            RadioError::Distance(_) => "distance_m",
            RadioError::Shadowing(_) => "shadowing_db",
            RadioError::Speed(_) => "speed_m_per_s",
            RadioError::Level => "noise_dbm",
        };
        Problem::at(format!("{key}.{name}"), error.to_string())
    })?;
    let placement = placement(table, key)?;
    Ok(Air { config, placement })
}

fn placement(table: &mut RadioTable, key: &str) -> Result<Placement, Problem> {
    let (placement, name) = match (&table.distance_m, table.distance_between_m) {
        (Some(_), Some(_)) => {
            return Err(Problem::at(
                format!("{key}.distance_between_m"),
                format!("{key}.distance_m says already where the mobiles are; give one of them"),
            ));
        }
        (None, Some([from, to])) => (
            Placement::Uniform {
                from_m: from.get(),
                to_m: to.get(),
            },
            "distance_between_m",
        ),
        (given, None) => {
            let distances = match given {
                None => vec![DEFAULT_DISTANCE_M],
                Some(Distances::One(distance)) => vec![distance.get()],
                Some(Distances::Several(several)) => {
                    several.iter().copied().map(Real::get).collect()
                }
            };
            if table.distance_m.is_none() {
                let default = Real::clamped(DEFAULT_DISTANCE_M);
                table.distance_m = Some(Distances::One(default));
            }
            (Placement::Listed(distances), "distance_m")
        }
    };
    placement
        .check()
        .map_err(|error: PlacementError| Problem::at(format!("{key}.{name}"), error.to_string()))?;
    Ok(placement)
}

fn real<const MIN: i64, const MAX: i64>(key: &mut Option<Real<MIN, MAX>>, default: f64) -> f64 {
    key.get_or_insert(Real::clamped(default)).get()
}
