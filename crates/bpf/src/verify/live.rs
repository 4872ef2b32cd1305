//! Which registers are still read: paths that differ in others alone are one.

use alloc::vec::Vec;

use crate::isa::{Alu, Atomic, Instruction, Op, Source};

/// Passes over the code; a register found alive too often only costs time.
const MAX_PASSES: usize = 64;

/// For each instruction, the registers by bit that are read from it on.
pub fn live(code: &[Instruction]) -> Vec<u16> {
    let mut alive = alloc::vec![0_u16; code.len()];
    for _ in 0..MAX_PASSES {
        let mut changed = false;
        for (at, instruction) in code.iter().enumerate().rev() {
            let next = |at: usize| alive.get(at).copied().unwrap_or(0);
            let jumped = next(target(at, instruction));
            let after = match instruction.op {
                Op::Exit => 0,
                Op::Jump => jumped,
                Op::JumpIf64(..) | Op::JumpIf32(..) => jumped | next(at + 1),
                _ => next(at + 1),
            };
            let (read, written) = uses(instruction);
            let before = after & !written | read;
            if let Some(place) = alive.get_mut(at).filter(|place| **place != before) {
                *place = before;
                changed = true;
            }
        }
        if !changed {
            return alive;
        }
    }
    // Not known: all of them.
    alloc::vec![u16::MAX; code.len()]
}

/// The instruction that a jump leads to.
pub fn target(at: usize, jump: &Instruction) -> usize {
    (at + 1).wrapping_add_signed(jump.offset as isize)
}

/// Registers by bit that an instruction reads, and that it overwrites.
fn uses(i: &Instruction) -> (u16, u16) {
    let bit = |register: u8| 1_u16 << (register & 15);
    let (dst, src) = (bit(i.dst), bit(i.src));
    let operand = |source| match source {
        Source::Register => src,
        Source::Immediate => 0,
    };
    const ARGUMENTS: u16 = 0b11_1110;
    match i.op {
        Op::Alu64(Alu::Move, source) | Op::Alu32(Alu::Move, source) => (operand(source), dst),
        Op::Alu64(_, source) | Op::Alu32(_, source) => (dst | operand(source), 0),
        Op::Negate64 | Op::Negate32 | Op::Truncate(_) | Op::Swap(_) => (dst, 0),
        Op::Extend64(_) | Op::Extend32(_) | Op::Load(_) | Op::LoadSigned(_) => (src, dst),
        Op::LoadImmediate => (0, dst),
        Op::Store(_, source) => (dst | operand(source), 0),
        Op::Atomic { change, .. } => {
            let old = u16::from(change == Atomic::CompareExchange);
            (dst | src | old, 0)
        }
        Op::JumpIf64(_, source) | Op::JumpIf32(_, source) => (dst | operand(source), 0),
        Op::CallFunction | Op::CallKfunc(_) | Op::CallHelper(_) => (ARGUMENTS, 1),
        Op::Exit => (1, 0),
        Op::Jump | Op::Nothing => (0, 0),
        // It may be a call, or any other use of a feature that is not simulated.
        Op::Poison => (u16::MAX, 0),
    }
}
