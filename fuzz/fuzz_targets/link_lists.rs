//! Any bytes are a list that a link replays (stops, lost packets, conditions) or one clear error.

#![no_main]

use airtcp_link::{Conditions, LostPackets, StopList};
use airtcp_units::Instant;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    match StopList::parse(bytes, "fuzz") {
        Ok(stops) => {
            let list = stops.as_slice();
            assert!(list.iter().all(|stop| stop.start <= stop.end));
            assert!(list.windows(2).all(|pair| pair[0].end <= pair[1].start));
            let again = StopList::parse(stops.to_csv().as_bytes(), "fuzz");
            assert_eq!(again.as_ref(), Ok(&stops));
        }
        Err(error) => assert!(error.to_string().len() < 600, "{error}"),
    }
    match LostPackets::parse(bytes, "fuzz") {
        Ok(lost) => {
            let again = LostPackets::parse(lost.to_csv().as_bytes(), "fuzz");
            assert_eq!(again.as_ref(), Ok(&lost));
        }
        Err(error) => assert!(error.to_string().len() < 600, "{error}"),
    }
    match Conditions::parse(bytes, "fuzz") {
        Ok(conditions) => {
            let rows = conditions.as_slice();
            assert_eq!(conditions.at(Instant::ZERO), &rows[0]);
            assert_eq!(conditions.at(Instant::FAR_FUTURE), &rows[rows.len() - 1]);
        }
        Err(error) => assert!(error.to_string().len() < 600, "{error}"),
    }
});
