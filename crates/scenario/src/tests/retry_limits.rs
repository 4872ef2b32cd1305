//! Retry limits of single mobiles: from the keys and from `inf-retry`, on both kinds of 802.11.

use std::num::NonZeroU32;
use std::path::Path;

use airtcp_link::frame::RetryLimit;
use airtcp_link::mac::own_retry_limits::StationRetryLimits;
use airtcp_network::MediumKind;

use crate::{Link, Scenario};

const TWO: &str = "topology = 'wlan'\nflows.count = 2\n";

fn read(text: &str) -> Result<StationRetryLimits, String> {
    let scenario =
        Scenario::parse(text, "test", Path::new(".")).map_err(|error| error.to_string())?;
    let Link::Medium(medium) = &scenario.link else {
        return Err("a pipe".into());
    };
    Ok(match medium.kind("wlan", 1, false) {
        MediumKind::Bss(config) => config.station_retry_limits,
        MediumKind::Edca(config) => config.station_retry_limits,
        other => return Err(format!("{other:?}")),
    })
}

fn attempts(limit: u32) -> RetryLimit {
    NonZeroU32::new(limit).map_or(RetryLimit::Unlimited, RetryLimit::Attempts)
}

/// Limits from the first mobile and the second, then to them.
fn all(limits: &StationRetryLimits) -> [Option<RetryLimit>; 4] {
    [(1, 0), (2, 0), (0, 1), (0, 2)].map(|(from, to)| limits.of(from, to))
}

#[test]
fn each_mobile_has_its_own_limit() {
    for standard in ["802.11b", "802.11n"] {
        let with = |keys: &str| read(&format!("{TWO}{keys}\nwlan.standard = '{standard}'"));
        assert_eq!(all(&with("").unwrap()), [None; 4]);
        let given = with("wlan.station_retry_limits = [2, 'unlimited']").unwrap();
        let both = [2, 0, 2, 0].map(|limit| Some(attempts(limit)));
        assert_eq!(all(&given), both, "{standard}");
    }
}

/// The remedy replaces the limits that it names, and leaves the others as the keys have them.
#[test]
fn a_remedy_lifts_the_limit_of_one_mobile() {
    for standard in ["802.11b", "802.11n"] {
        let with = |remedy: &str| {
            let keys =
                format!("wlan = {{ standard = '{standard}', station_retry_limits = [2, 3] }}");
            read(&format!("{TWO}remedies = ['{remedy}']\n{keys}"))
        };
        let some = |limits: [u32; 4]| limits.map(|limit| Some(attempts(limit)));
        let one = with("inf-retry:station=2").unwrap();
        assert_eq!(all(&one), some([2, 0, 2, 3]), "{standard}");
        let down = with("inf-retry:attempts=9,access-point=1,station=1").unwrap();
        assert_eq!(all(&down), some([2, 3, 9, 3]), "{standard}");
        // Of all mobiles: no mobile has its own any more in that direction.
        let [first, second, to_first, to_second] = all(&with("inf-retry").unwrap());
        assert_eq!((first, second), (None, None), "{standard}");
        assert_eq!(
            (to_first, to_second),
            (Some(attempts(2)), Some(attempts(3)))
        );
        let error = with("inf-retry:station=3").unwrap_err();
        assert!(error.contains("there is no such mobile"), "{error}");
    }
}
