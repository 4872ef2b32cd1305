//! The instruction set, by the rules of RFC 9669.

use alloc::vec::Vec;

use super::*;
use crate::isa::Encoded;
use crate::memory::{BadAccess, Memory};

struct NoKernel;

impl Kernel for NoKernel {
    fn call(&mut self, _op: Op, _arguments: [u64; 5], _memory: &mut Memory) -> Result<u64, Trap> {
        Err(Trap::Argument("no kernel"))
    }
}

/// An instruction: opcode, destination, source, offset, immediate.
const fn i(opcode: u8, dst: u8, src: u8, offset: i16, imm: i32) -> Encoded {
    Encoded {
        opcode,
        dst,
        src,
        offset,
        imm,
    }
}

const EXIT: Encoded = i(0x95, 0, 0, 0, 0);

fn result(program: &[Encoded]) -> Result<u64, Trap> {
    let code: Vec<_> = program
        .iter()
        .map(|i| i.decode().expect("an instruction"))
        .collect();
    let mut memory = Memory::new(alloc::vec![8; 16], 16, []);
    run(&code, 0, &mut memory, &mut NoKernel)
        .map(|returned| returned.value)
        .map_err(|stop| stop.trap)
}

/// `r0 = a; r1 = b; r0 op= r1`.
fn binary(opcode: u8, offset: i16, a: i32, b: i32) -> u64 {
    let program = [
        i(0xb7, 0, 0, 0, a),
        i(0xb7, 1, 0, 0, b),
        i(opcode, 0, 1, offset, 0),
        EXIT,
    ];
    result(&program).unwrap()
}

#[test]
fn divisions_by_zero_and_overflow_follow_the_rfc() {
    assert_eq!(binary(0x3f, 0, 7, 0), 0);
    assert_eq!(binary(0x9f, 0, 7, 0), 7);
    assert_eq!(binary(0x3f, 1, -7, 2).cast_signed(), -3);
    assert_eq!(binary(0x9f, 1, -7, 2).cast_signed(), -1);
    assert_eq!(binary(0x3c, 1, i32::MIN, -1), 0x8000_0000);
    assert_eq!(binary(0x9c, 1, i32::MIN, -1), 0);
    // Unsigned, 32 bits: the upper half is zero.
    assert_eq!(binary(0x3c, 0, -1, 2), 0x7fff_ffff);
    assert_eq!(binary(0x9c, 0, -7, 0), 0xffff_fff9);
}

#[test]
fn narrow_arithmetic_clears_the_upper_half() {
    assert_eq!(binary(0x0c, 0, -1, 1), 0);
    assert_eq!(binary(0x0f, 0, -1, 2), 1);
    assert_eq!(binary(0x6c, 0, 1, 33), 2);
    assert_eq!(binary(0x6f, 0, 1, 33), 1 << 33);
    assert_eq!(binary(0xcc, 0, -8, 1), 0xffff_fffc);
    assert_eq!(binary(0xcf, 0, -8, 1).cast_signed(), -4);
}

#[test]
fn moves_extend_signs_and_swaps_reverse_bytes() {
    assert_eq!(binary(0xbf, 8, 0, 0x80).cast_signed(), -128);
    assert_eq!(binary(0xbf, 16, 0, 0x8000).cast_signed(), -32_768);
    assert_eq!(
        binary(0xbf, 32, 0, i32::MIN).cast_signed(),
        i64::from(i32::MIN)
    );
    assert_eq!(binary(0xbc, 8, 0, 0x80), 0xffff_ff80);
    let unary = |opcode, imm| {
        result(&[i(0xb7, 0, 0, 0, 0x0102_0304), i(opcode, 0, 0, 0, imm), EXIT]).unwrap()
    };
    assert_eq!(unary(0xdc, 16), 0x0403);
    assert_eq!(unary(0xdc, 32), 0x0403_0201);
    assert_eq!(unary(0xdc, 64), 0x0403_0201_0000_0000);
    assert_eq!(unary(0xd7, 32), 0x0403_0201);
    assert_eq!(unary(0xd4, 16), 0x0304);
}

#[test]
fn jumps_compare_signed_unsigned_and_halves() {
    // Returns 1 where `a op b` jumps.
    let jumps = |opcode, a, b| {
        let program = [
            i(0xb7, 0, 0, 0, 1),
            i(0xb7, 1, 0, 0, a),
            i(0xb7, 2, 0, 0, b),
            i(opcode, 1, 2, 1, 0),
            i(0xb7, 0, 0, 0, 0),
            EXIT,
        ];
        result(&program).unwrap() == 1
    };
    for (opcode, expected) in [
        (0x1d, [false, true, false]),
        (0x2d, [false, false, true]),
        (0x3d, [false, true, true]),
        (0x5d, [true, false, true]),
        (0x6d, [false, false, false]),
        (0x7d, [false, true, false]),
        (0xad, [true, false, false]),
        (0xbd, [true, true, false]),
        (0xcd, [true, false, true]),
        (0xdd, [true, true, true]),
    ] {
        // 1 with 2, 2 with 2, -1 with 2; the halves compare alike.
        let seen = [1, 2, -1].map(|a| jumps(opcode, a, 2));
        assert_eq!(seen, expected, "{opcode:#x}");
        let seen = [1, 2, -1].map(|a| jumps(opcode + 1, a, 2));
        assert_eq!(seen, expected, "{:#x}", opcode + 1);
    }
    assert!(jumps(0x4d, 6, 2) && !jumps(0x4d, 4, 2));
}

#[test]
fn atomics_leave_the_source_unless_they_fetch() {
    // [r10 - 8] = 5; r1 = 3; an atomic; r0 = r1 << 32 | [r10 - 8].
    let atomic = |change| {
        let program = [
            i(0x7a, 10, 0, -8, 5),
            i(0xb7, 0, 0, 0, 5),
            i(0xb7, 1, 0, 0, 3),
            i(0xdb, 10, 1, -8, change),
            i(0x79, 0, 10, -8, 0),
            i(0x67, 1, 0, 0, 32),
            i(0x4f, 0, 1, 0, 0),
            EXIT,
        ];
        let value = result(&program).unwrap();
        (value >> 32, value & 0xffff_ffff)
    };
    assert_eq!(atomic(0x00), (3, 8));
    assert_eq!(atomic(0x01), (5, 8));
    assert_eq!(atomic(0x40), (3, 7));
    assert_eq!(atomic(0x50), (3, 1));
    assert_eq!(atomic(0xa1), (5, 6));
    assert_eq!(atomic(0xe1), (5, 3));
    // The comparison is with register 0, which gets the old value.
    assert_eq!(atomic(0xf1), (3, 3));
}

#[test]
fn memory_is_bounded_and_the_context_cannot_be_written() {
    let store = |dst, offset| result(&[i(0x7b, dst, 1, offset, 0), EXIT]);
    // Register 1 is the context; the frame is below register 10.
    assert!(matches!(
        store(1, 0),
        Err(Trap::Memory(BadAccess { writes: true, .. }))
    ));
    assert_eq!(store(10, -8), Ok(0));
    assert!(matches!(
        store(2, 0),
        Err(Trap::Memory(BadAccess { address: 0, .. }))
    ));
    assert_eq!(result(&[i(0x05, 0, 0, -1, 0)]), Err(Trap::Budget));
    assert_eq!(result(&[i(0x05, 0, 0, 7, 0)]), Err(Trap::Jump));
}

#[test]
fn an_instruction_that_is_none_is_not_decoded() {
    let is_known = |opcode| {
        let operands = [0, 1, 8, 16, 32, 64, 0x40, 0xe1];
        operands.into_iter().any(|imm| {
            [0, 1, 8]
                .into_iter()
                .any(|offset| i(opcode, 0, 0, offset, imm).decode().is_some())
        })
    };
    // Packet access of the first generation, and holes between the classes.
    for opcode in [
        0x20,
        0x28,
        0x30,
        0x40,
        0x50,
        0x8f + 0x60,
        0x99,
        0x9d,
        0xf5,
        0xe6,
    ] {
        assert!(!is_known(opcode), "{opcode:#x}");
    }
    assert_eq!(i(0x07, 11, 0, 0, 0).decode(), None);
}
