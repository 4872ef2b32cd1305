//! The CSV of LENS, in the form in its description (github.com/clarkzjw/LENS).

use std::cell::Cell;

use airtcp_recording::{Direction, parse};
use airtcp_units::Duration;

use crate::series::*;

/// Every third loss is of each kind: unknown, on the way up, on the way down.
pub fn lens() -> String {
    let lost = Cell::new(0);
    let rows = written(|number, rtt| {
        let sent = 1_705_744_800_616_897_349 + number * 10_000_000;
        let delays = rtt.map_or_else(
            || {
                lost.set(lost.get() + 1);
                ["-1,0,0", "0,-1,0", "0,0,-1"][lost.get() % 3].to_owned()
            },
            // Clocks that differ by 40 ms.
            |tenths| format!("{},{},-35.5", ms(tenths), ms(tenths + 355)),
        );
        format!("{sent},{delays}\n")
    });
    format!("timestamp,rtt,uplink,downlink\n{rows}")
}

#[test]
fn lost_probes_and_each_ways_delays_are_read() {
    assert_read(lens().as_bytes(), "LENS", 100);
    let found = parse(lens().as_bytes(), "LENS").unwrap();
    assert_eq!(found.format, "lens");
    let up = found
        .delays
        .iter()
        .find(|one| one.direction == Direction::Up);
    let steps = &up.unwrap().steps;
    // Half of the least round trip, and all of its variation.
    assert_eq!(steps[0].1, Duration::from_micros(10_150));
    assert_eq!(steps[1].1, Duration::from_micros(13_850));
    assert_eq!(steps[1].0, Duration::from_millis(10));
    let words = found.remarks.join(" ");
    assert!(words.contains("8 probes were lost on the way up and 8 on the way down, of 300."));
}

#[test]
fn only_losses_of_known_ways_give_shares() {
    let known = lens().replace("-1,0,0", "0,-1,0");
    let found = parse(known.as_bytes(), "LENS").unwrap();
    let shares = &found.figures.losses;
    assert_eq!(shares[0], (Direction::Up, 16.0 / 300.0));
    assert_eq!(shares[1], (Direction::Down, 8.0 / 284.0));
}

#[test]
fn damaged_rows_are_named() {
    for bad in [
        "x,1,2,3",
        "5,1,2",
        "5,1,2,3,4",
        "5,0,0,0",
        "5,nan,1,1",
        "-5,1,1,1",
    ] {
        let text = format!("timestamp,rtt,uplink,downlink\n1,20,10,10\n{bad}\n");
        let error = parse(text.as_bytes(), "x.csv").unwrap_err().to_string();
        assert!(
            error.contains("line 3") && error.contains("-1 where"),
            "{error}"
        );
    }
    let lost = "timestamp,rtt,uplink,downlink\n1,-1,0,0\n2,0,-1,0\n";
    let error = parse(lost.as_bytes(), "x.csv").unwrap_err().to_string();
    assert!(error.contains("rows of LENS"), "{error}");
}
