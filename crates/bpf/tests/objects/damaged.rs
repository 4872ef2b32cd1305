//! A damaged object is refused, or runs within its memory and budget: it never panics.

use airtcp_bpf::{Arguments, Flow, Member, Operation, Program};

use crate::compile;

const CASES: u64 = 1_500;

#[test]
fn damaged_objects_neither_panic_nor_run_for_ever() {
    let Some(object) = compile::object(&compile::sources().join("newzag.bpf.c"), &[]) else {
        return;
    };
    let mut seed = 42_u64;
    let mut draw = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let (mut refused, mut stopped, mut ran) = (0, 0, 0);
    for case in 0..CASES {
        let mut bytes = object.clone();
        // Half of them in the first part of the file, which is the code.
        let range = if case % 2 == 0 { bytes.len() } else { 0x900 };
        for _ in 0..1 + draw(8) {
            bytes[draw(range)] = draw(256) as u8;
        }
        if case % 16 == 0 {
            bytes.truncate(draw(bytes.len()));
        }
        let Ok(program) = Program::load(&bytes, &Default::default()) else {
            refused += 1;
            continue;
        };
        let mut flow = Flow::new(&program, case);
        flow.set(&program, Member::Cwnd, 10);
        let calls = Operation::ALL.iter().map(|operation| {
            let arguments = match operation {
                Operation::PktsAcked => Arguments::Sample,
                _ => Arguments::NumbersSample(1, 2),
            };
            flow.call(&program, *operation, arguments)
                .map_err(|fault| assert!(!fault.to_string().is_empty()))
        });
        if calls.filter(Result::is_err).count() > 0 {
            stopped += 1;
        } else {
            ran += 1;
        }
    }
    // Each outcome is one that these cases reach.
    assert!(
        refused > 0 && stopped > 0 && ran > 0,
        "{refused} {stopped} {ran}"
    );
}
