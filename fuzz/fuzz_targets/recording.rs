//! Any bytes are a recording of one of the formats, or one clear error in one line.

#![no_main]

use airtcp_recording::parse;
use airtcp_units::Duration;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let recording = match parse(bytes, "fuzz") {
        Ok(recording) => recording,
        Err(error) => {
            let said = error.to_string();
            assert!(said.len() < 800 && !said.contains('\n'), "{said}");
            return;
        }
    };
    for said in recording.remarks.iter().chain([&recording.summary]) {
        assert!(said.len() < 20_000);
    }
    for rates in &recording.rates {
        for pair in rates.steps.windows(2) {
            assert!(pair[0].from <= pair[1].from);
        }
    }
    for trace in &recording.opportunities {
        assert!(trace.times_ms.is_sorted() && trace.times_ms.last() > Some(&0));
    }
    for (_, share) in &recording.figures.losses {
        assert!((0.0..=1.0).contains(share));
    }
    assert_eq!(parse(bytes, "fuzz").as_ref(), Ok(&recording));
    let Some(log) = &recording.probes else { return };
    assert!(!log.replies().is_empty());
    assert!(log.replies().len() as u64 <= log.numbered());
    assert!(log.lost() >= log.unplaced());
    for pair in log.replies().windows(2) {
        assert!(pair[0].number < pair[1].number);
        assert!(pair[0].sent <= pair[1].sent);
    }
    for reply in log.replies() {
        assert!(reply.number < log.numbered());
        assert!(reply.round_trip <= Duration::from_secs(3600));
    }
});
