//! Refuses accesses to the socket without a CO-RE record: their offsets are from the structure that
//! the program declares, which is neither the kernel's nor the mirror's.

use alloc::borrow::ToOwned;

use super::code::Code;
use super::{Error, Result};
use crate::isa::{Alu, Instruction, Op, Source, Width};
use crate::program::Operation;

/// Registers by bit that hold the socket, or the context in which its address is.
#[derive(Clone, Copy, Default)]
struct Held {
    socket: u16,
    context: u16,
}

impl Held {
    const fn is(set: u16, register: u8) -> bool {
        set >> register & 1 == 1
    }

    /// Records that a register is written, with the source's contents if it is a copy.
    const fn write(&mut self, dst: u8, from: Option<u8>) {
        let before = *self;
        self.socket &= !(1 << dst);
        self.context &= !(1 << dst);
        if let Some(src) = from {
            self.socket |= (before.socket >> src & 1) << dst;
            self.context |= (before.context >> src & 1) << dst;
        }
    }
}

/// Follows the socket's address through each operation, from its first instruction to the next jump
/// that is always taken.
pub fn check(
    instructions: &[Instruction],
    code: &Code,
    entries: &[(Operation, usize)],
) -> Result<()> {
    for (_, entry) in entries {
        let mut held = Held {
            socket: 0,
            context: 1 << 1,
        };
        for (at, instruction) in instructions.iter().enumerate().skip(*entry) {
            if matches!(instruction.op, Op::Exit | Op::Jump | Op::Poison) {
                break;
            }
            if touches_socket(instruction, held) && !code.relocated.contains(&at) {
                return Err(Error::at(
                    at,
                    "a member of the socket without a CO-RE record: declare the kernel's \
                     structures with __attribute__((preserve_access_index)), and compile with -g"
                        .to_owned(),
                ));
            }
            follow(instruction, &mut held);
        }
    }
    Ok(())
}

const fn touches_socket(i: &Instruction, held: Held) -> bool {
    match i.op {
        Op::Load(_) | Op::LoadSigned(_) => Held::is(held.socket, i.src),
        Op::Store(..) | Op::Atomic { .. } => Held::is(held.socket, i.dst),
        _ => false,
    }
}

const fn follow(i: &Instruction, held: &mut Held) {
    match i.op {
        Op::Load(Width::Double) if Held::is(held.context, i.src) && i.offset == 0 => {
            held.write(i.dst, None);
            held.socket |= 1 << i.dst;
        }
        Op::Alu64(Alu::Move, Source::Register) => held.write(i.dst, Some(i.src)),
        Op::Store(..) | Op::JumpIf64(..) | Op::JumpIf32(..) | Op::Nothing => {}
        Op::CallFunction | Op::CallKfunc(_) | Op::CallHelper(_) => {
            // Registers 0 to 5 are the callee's.
            held.socket &= !0x3f;
            held.context &= !0x3f;
        }
        _ => held.write(i.dst, None),
    }
}
