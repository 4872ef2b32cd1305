//! Distances of the stations from their access point.

use crate::random::Stream;

/// Distances of the stations.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// These distances in metres, used in turn.
    Listed(Vec<f64>),
    /// Each between two distances in metres, drawn uniformly.
    Uniform {
        /// Nearest.
        from_m: f64,
        /// Farthest.
        to_m: f64,
    },
}

/// An invalid placement.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PlacementError {
    /// The list of distances is empty.
    #[error("no distance; expected at least one")]
    Empty,
    /// A distance is not positive and finite.
    #[error("a distance of {0} m; expected more than 0")]
    Distance(f64),
    /// The nearest is farther than the farthest.
    #[error("distances from {0} m to {1} m; expected the smaller first")]
    Order(f64, f64),
}

impl Placement {
    /// Validates the placement.
    ///
    /// # Errors
    /// See [`PlacementError`].
    pub fn check(&self) -> Result<(), PlacementError> {
        let is_distance = |distance: f64| {
            if distance > 0.0 && distance.is_finite() {
                Ok(())
            } else {
                Err(PlacementError::Distance(distance))
            }
        };
        match self {
            Self::Listed(distances) if distances.is_empty() => Err(PlacementError::Empty),
            Self::Listed(distances) => distances.iter().copied().try_for_each(is_distance),
            Self::Uniform { from_m, to_m } => {
                is_distance(*from_m)?;
                is_distance(*to_m)?;
                if from_m > to_m {
                    return Err(PlacementError::Order(*from_m, *to_m));
                }
                Ok(())
            }
        }
    }

    /// The distance of station number `station` in metres: a function of the stream and the
    /// station.
    #[must_use]
    pub fn distance_m(&self, station: u32, stream: Stream) -> f64 {
        match self {
            Self::Listed(distances) => {
                let place = station as usize % distances.len().max(1);
                distances.get(place).copied().unwrap_or(1.0)
            }
            Self::Uniform { from_m, to_m } => {
                from_m + (to_m - from_m) * stream.uniform(u64::from(station))
            }
        }
    }
}
