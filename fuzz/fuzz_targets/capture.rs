//! Any bytes are a capture or one clear error, and an accepted capture can be inspected in depth,
//! written with comments, and read again.

#![no_main]

use airtcp_capture::analysis::Limit;
use airtcp_capture::{Analysis, Limits, Reader, Survey};
use libfuzzer_sys::fuzz_target;
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    let reader = match Reader::new(Box::new(Cursor::new(bytes.to_vec()))) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(error.to_string().len() < 500, "{error}");
            return;
        }
    };
    let limits = Limits {
        flows: 8,
        packets_of_one: 64,
        packets: 64,
    };
    let Ok(survey) = Survey::of(reader, &limits, None, &mut |_| true) else {
        return;
    };
    assert!(survey.flows().count() <= 8);
    for flow in survey.flows() {
        let _ = flow.verdict().to_string();
        assert!(survey.packets_of(flow).count() <= 64);
        let analysis = Analysis::of(&survey, flow, None);
        assert!(analysis.labels.len() <= analysis.sent.len());
        let whole: f64 = Limit::ALL
            .iter()
            .map(|limit| analysis.shares.share(*limit))
            .sum();
        assert!((0.0..1.000_001).contains(&whole), "{whole}");
        for stop in &analysis.stops {
            assert!(stop.start < stop.end);
        }
    }
});
