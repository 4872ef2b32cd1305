//! The gateway's configuration: one line of error, or settings that are within their bounds.
#![no_main]

use airtcp_gateway::Serve;
use airtcp_gateway::configuration::Settings;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match Settings::parse(text, &Serve::default()) {
        Ok(settings) => {
            assert!(!settings.mobile.is_empty() && settings.mobile.len() <= 15);
            assert!(
                settings
                    .listen
                    .is_none_or(|listen| listen.ip().is_loopback())
            );
        }
        Err(error) => assert!(!error.to_string().contains('\n'), "{error}"),
    }
});
