//! Any bytes are a congestion control that runs within its memory and budget, or one clear error.

#![no_main]

use airtcp_bpf::{Arguments, Flow, Member, Operation, Program};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut program = match Program::load(bytes, &Default::default()) {
        Ok(program) => program,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let constants: Vec<_> = program.constants().iter().map(|c| c.name.clone()).collect();
    for constant in constants {
        let _ = program.set_constant(&constant, 1);
    }
    let mut flow = Flow::new(&program, 1);
    for member in Member::ALL {
        flow.set(&program, *member, 7);
    }
    for operation in Operation::ALL {
        let arguments = match operation {
            Operation::PktsAcked => Arguments::Sample,
            _ => Arguments::NumbersSample(1, 2),
        };
        if let Err(fault) = flow.call(&program, *operation, arguments) {
            assert!(!fault.to_string().is_empty());
        }
    }
    let _: i128 = program
        .counters()
        .iter()
        .map(|counter| flow.variable(counter))
        .sum();
    assert!(flow.environment.messages().len() <= 10_000);
});
