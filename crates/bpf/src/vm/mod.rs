//! The interpreter.

pub(crate) mod arithmetic;

use arithmetic::{arithmetic32, arithmetic64, extended, holds32, holds64, low, swapped, truncated};

use crate::isa::{Atomic, Instruction, Op, Source, Width};
use crate::memory::{CONTEXT, FRAME, FRAMES, Memory, STACK, address};
use crate::trap::Trap;

/// Most instructions of one call (the verifier's limit, `BPF_COMPLEXITY_LIMIT_INSNS`).
pub const BUDGET: u64 = 1_000_000;

/// A trap, and the instruction that it happened at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Index of the instruction.
    pub at: usize,
    /// The reason.
    pub trap: Trap,
}

/// Return value of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Returned {
    /// Register 0.
    pub value: u64,
    /// Instructions executed.
    pub instructions: u64,
}

/// The functions of the kernel's that a program calls.
pub trait Kernel {
    /// Calls a function that `op` names.
    ///
    /// # Errors
    ///
    /// The call is not simulated with these arguments.
    fn call(&mut self, op: Op, arguments: [u64; 5], memory: &mut Memory) -> Result<u64, Trap>;
}

/// Registers that a call preserves, and the instruction that it returns to.
type Frame = ([u64; 4], usize);

struct Machine<'a> {
    /// Registers 0 to 10, padded so that a masked index is always within.
    registers: [u64; 16],
    frames: [Frame; FRAMES],
    depth: usize,
    next: usize,
    memory: &'a mut Memory,
}

/// Runs `code` from the instruction `entry`, with the context as the only argument.
///
/// # Errors
///
/// The program is stopped; the error gives the place and the reason.
pub fn run(
    code: &[Instruction],
    entry: usize,
    memory: &mut Memory,
    kernel: &mut impl Kernel,
) -> Result<Returned, Stop> {
    let mut machine = Machine {
        registers: [0; 16],
        frames: [([0; 4], 0); FRAMES],
        depth: 0,
        next: entry,
        memory,
    };
    machine.registers[1] = address(CONTEXT, 0);
    machine.registers[10] = address(STACK, FRAME as u64);
    let mut left = BUDGET;
    loop {
        let at = machine.next;
        let stop = |trap| Stop { at, trap };
        let Some(instruction) = code.get(at) else {
            return Err(stop(Trap::Jump));
        };
        if left == 0 {
            return Err(stop(Trap::Budget));
        }
        left -= 1;
        machine.next = at.wrapping_add(1);
        if machine.step(instruction, kernel).map_err(stop)? {
            return Ok(Returned {
                value: machine.registers[0],
                instructions: BUDGET - left,
            });
        }
    }
}

impl Machine<'_> {
    #[inline(always)]
    const fn get(&self, register: u8) -> u64 {
        self.registers[(register & 15) as usize]
    }

    #[inline(always)]
    const fn set(&mut self, register: u8, value: u64) {
        self.registers[(register & 15) as usize] = value;
    }

    #[inline(always)]
    const fn operand(&self, source: Source, instruction: &Instruction) -> u64 {
        match source {
            Source::Immediate => instruction.imm,
            Source::Register => self.get(instruction.src),
        }
    }

    /// Executes an instruction. Returns whether the program has returned.
    #[inline(always)]
    fn step(&mut self, i: &Instruction, kernel: &mut impl Kernel) -> Result<bool, Trap> {
        match i.op {
            Op::Alu64(alu, source) => {
                let value = arithmetic64(alu, self.get(i.dst), self.operand(source, i));
                self.set(i.dst, value);
            }
            Op::Alu32(alu, source) => {
                let (a, b) = (low(self.get(i.dst)), low(self.operand(source, i)));
                self.set(i.dst, arithmetic32(alu, a, b).into());
            }
            Op::Negate64 => self.set(i.dst, self.get(i.dst).wrapping_neg()),
            Op::Negate32 => self.set(i.dst, low(self.get(i.dst)).wrapping_neg().into()),
            Op::Extend64(width) => self.set(i.dst, extended(self.get(i.src), width)),
            Op::Extend32(width) => self.set(i.dst, low(extended(self.get(i.src), width)).into()),
            Op::Truncate(width) => self.set(i.dst, truncated(self.get(i.dst), width)),
            Op::Swap(width) => self.set(i.dst, swapped(self.get(i.dst), width)),
            Op::LoadImmediate => self.set(i.dst, i.imm),
            Op::Load(width) => {
                let value = self.load(displaced(self.get(i.src), i.offset), width)?;
                self.set(i.dst, value);
            }
            Op::LoadSigned(width) => {
                let value = self.load(displaced(self.get(i.src), i.offset), width)?;
                self.set(i.dst, extended(value, width));
            }
            Op::Store(width, source) => {
                let value = self.operand(source, i);
                self.store(displaced(self.get(i.dst), i.offset), value, width)?;
            }
            Op::Atomic {
                change,
                wide,
                fetch,
            } => self.change(i, change, wide, fetch)?,
            Op::Jump => self.jump(i.offset),
            Op::JumpIf64(condition, source) => {
                if holds64(condition, self.get(i.dst), self.operand(source, i)) {
                    self.jump(i.offset);
                }
            }
            Op::JumpIf32(condition, source) => {
                let (a, b) = (low(self.get(i.dst)), low(self.operand(source, i)));
                if holds32(condition, a, b) {
                    self.jump(i.offset);
                }
            }
            Op::CallFunction => self.enter(i.imm)?,
            Op::CallKfunc(_) | Op::CallHelper(_) => {
                let [_, a, b, c, d, e, ..] = self.registers;
                self.registers[0] = kernel.call(i.op, [a, b, c, d, e], self.memory)?;
            }
            Op::Exit => return Ok(self.leave()),
            Op::Nothing => {}
            Op::Poison => return Err(Trap::Poison(i.imm)),
        }
        Ok(false)
    }

    #[inline(always)]
    const fn jump(&mut self, offset: i32) {
        self.next = self.next.wrapping_add_signed(offset as isize);
    }

    fn enter(&mut self, target: u64) -> Result<(), Trap> {
        let [.., r6, r7, r8, r9, _, _, _, _, _, _] = self.registers;
        // The function that was called first needs no frame to return to.
        if self.depth + 1 >= FRAMES {
            return Err(Trap::Depth);
        }
        if let Some(frame) = self.frames.get_mut(self.depth) {
            *frame = ([r6, r7, r8, r9], self.next);
        }
        self.depth += 1;
        self.registers[10] = self.registers[10].wrapping_add(FRAME as u64);
        self.next = usize::try_from(target).map_err(|_| Trap::Jump)?;
        Ok(())
    }

    /// Returns from a function; `true` from the first one.
    fn leave(&mut self) -> bool {
        let Some(depth) = self.depth.checked_sub(1) else {
            return true;
        };
        self.depth = depth;
        self.registers[10] = self.registers[10].wrapping_sub(FRAME as u64);
        if let Some((saved, next)) = self.frames.get(depth) {
            self.registers[6..10].copy_from_slice(saved);
            self.next = *next;
        }
        false
    }

    #[inline(always)]
    fn load(&self, address: u64, width: Width) -> Result<u64, Trap> {
        Ok(match width {
            Width::Byte => u64::from(u8::from_le_bytes(self.memory.load(address)?)),
            Width::Half => u64::from(u16::from_le_bytes(self.memory.load(address)?)),
            Width::Word => u64::from(u32::from_le_bytes(self.memory.load(address)?)),
            Width::Double => u64::from_le_bytes(self.memory.load(address)?),
        })
    }

    #[inline(always)]
    fn store(&mut self, address: u64, value: u64, width: Width) -> Result<(), Trap> {
        let [a, b, c, d, ..] = value.to_le_bytes();
        match width {
            Width::Byte => self.memory.store(address, [a])?,
            Width::Half => self.memory.store(address, [a, b])?,
            Width::Word => self.memory.store(address, [a, b, c, d])?,
            Width::Double => self.memory.store(address, value.to_le_bytes())?,
        }
        Ok(())
    }

    fn change(
        &mut self,
        i: &Instruction,
        change: Atomic,
        wide: bool,
        fetch: bool,
    ) -> Result<(), Trap> {
        let width = if wide { Width::Double } else { Width::Word };
        let address = displaced(self.get(i.dst), i.offset);
        let old = self.load(address, width)?;
        let by = truncated(self.get(i.src), width);
        let new = match change {
            Atomic::Add => old.wrapping_add(by),
            Atomic::Or => old | by,
            Atomic::And => old & by,
            Atomic::Xor => old ^ by,
            Atomic::Exchange => by,
            Atomic::CompareExchange if old == truncated(self.get(0), width) => by,
            Atomic::CompareExchange => old,
        };
        self.store(address, new, width)?;
        if change == Atomic::CompareExchange {
            self.set(0, old);
        } else if fetch {
            self.set(i.src, old);
        }
        Ok(())
    }
}

#[inline(always)]
const fn displaced(address: u64, offset: i32) -> u64 {
    address.wrapping_add_signed(offset as i64)
}

#[cfg(test)]
mod tests;
