//! Any text is a scenario, which can be written in full and read again to the same, or one clear
//! error of one line.

#![no_main]

use std::path::Path;

use airtcp_scenario::Scenario;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Files are read below a folder that does not exist; an absolute name could be a device.
    if text.contains("\"/") || text.contains("'/") {
        return;
    }
    let folder = Path::new("/nonexistent");
    let scenario = match Scenario::parse(text, "fuzz", folder) {
        Ok(scenario) => scenario,
        Err(error) => {
            let error = error.to_string();
            assert!(
                error.starts_with("scenario \"fuzz\": ") && !error.contains('\n'),
                "{error}"
            );
            assert!(error.chars().count() < 1000, "{error}");
            return;
        }
    };
    let written = scenario.to_toml();
    let again = Scenario::parse(&written, "fuzz", folder).expect(&written);
    assert_eq!(again.to_toml(), written);
    assert_eq!(again.hash(), scenario.hash());
    assert_eq!(again.tcp, scenario.tcp);
    assert_eq!(again.flows, scenario.flows);
});
