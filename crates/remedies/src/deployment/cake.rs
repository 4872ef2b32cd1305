//! Cake in the words of tc-cake(8).

use airtcp_units::Duration;

use crate::Quantity;

/// The round trip that it assumes.
pub(crate) const RTT: Duration = Duration::from_millis(100);

/// Its rate and round trip.
pub(super) fn words(rate: Quantity, rtt: Duration) -> String {
    let bandwidth = match rate {
        Quantity::Unlimited => "unlimited".to_owned(),
        rate => format!("bandwidth {rate}kbit"),
    };
    match rtt {
        RTT => bandwidth,
        other => format!("{bandwidth} rtt {}ms", other.as_nanos().div_ceil(1_000_000)),
    }
}
