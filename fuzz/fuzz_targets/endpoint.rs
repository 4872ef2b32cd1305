//! Two endpoints over a network that attacks them: the harness of `crates/tcp/tests/hostile`, with
//! plans made of the fuzzer's bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;

// Its other half is of the storms, tests of airtcp-tcp.
#[allow(dead_code)]
#[path = "../../crates/tcp/tests/hostile/harness/mod.rs"]
mod harness;

fuzz_target!(|bytes: &[u8]| {
    let plan = harness::plan::Plan::new(&mut harness::source::Source::new(bytes));
    harness::run(&plan);
});
