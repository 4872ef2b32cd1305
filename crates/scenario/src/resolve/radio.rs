//! `[wlan.radio]` and `[cell.radio]`: places of the mobiles, and propagation.

use airtcp_link::fading::{Fading, Placement, PlacementError, RadioConfig, RadioError};

use crate::document::{Distances, RadioTable, Speeds};
use crate::error::Problem;
use crate::medium::Air;
use crate::names::FadingName;
use airtcp_units::bounded::Real;
use airtcp_units::written::read;

/// The radio that the table at `key` describes, with the default carrier `carrier_mhz`.
pub(super) fn resolve(table: &RadioTable, key: &str, carrier_mhz: f64) -> Result<Air, Problem> {
    let (fading, shadowing_distance) = match Speeds::of(table, key)? {
        Speeds::Moving {
            speed_m_per_s,
            shadowing_distance_m,
        } => (Fading::Jakes { speed_m_per_s }, shadowing_distance_m),
        Speeds::Still {} if table.fading() == FadingName::None => (Fading::None, None),
        Speeds::Still {} => (Fading::Independent, None),
    };
    let config = RadioConfig {
        carrier_hz: read(&table.carrier_mhz, &carrier_mhz) * 1e6,
        transmit_power_dbm: table.transmit_power_dbm(),
        noise_dbm: table.noise_dbm(),
        path_loss_exponent: table.path_loss_exponent(),
        loss_at_1_m_db: table.loss_at_1_m_db.map(Real::get),
        shadowing_db: table.shadowing_db(),
        shadowing_distance_m: shadowing_distance.map(Real::get),
        fading,
    };
    config.check().map_err(|error| {
        let key = match error {
            RadioError::Carrier(_) => key_of!(key, table.carrier_mhz),
            RadioError::Distance(_) => key_of!(key, table.distance_m),
            RadioError::Shadowing(_) => key_of!(key, table.shadowing_db),
            RadioError::ShadowingDistance(_) => key_of!(key, table.shadowing_distance_m),
            RadioError::Speed(_) => key_of!(key, table.speed_m_per_s),
            RadioError::Level => key_of!(key, table.noise_dbm),
        };
        Problem::at(key, error.to_string())
    })?;
    let placement = placement(table, key)?;
    Ok(Air { config, placement })
}

fn placement(table: &RadioTable, key: &str) -> Result<Placement, Problem> {
    let (placement, key) = match (table.distance_between_m, &table.distance_m) {
        (Some([from, to]), _) => (
            Placement::Uniform {
                from_m: from.get(),
                to_m: to.get(),
            },
            key_of!(key, table.distance_between_m),
        ),
        (None, given) => {
            let distances = match given {
                None => Vec::new(),
                Some(Distances::One(distance)) => vec![distance.get()],
                Some(Distances::Several(several)) => {
                    several.iter().copied().map(Real::get).collect()
                }
            };
            (Placement::Listed(distances), key_of!(key, table.distance_m))
        }
    };
    placement
        .check()
        .map_err(|error: PlacementError| Problem::at(key, error.to_string()))?;
    Ok(placement)
}
