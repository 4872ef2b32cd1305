//! The interpreter.

use crate::isa::{Alu, Atomic, Condition, Instruction, Op, Source, Width};
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

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
#[inline(always)]
const fn low(value: u64) -> u32 {
    value as u32
}

#[inline(always)]
const fn displaced(address: u64, offset: i32) -> u64 {
    address.wrapping_add_signed(offset as i64)
}

#[expect(clippy::cast_possible_truncation, reason = "the lower part is meant")]
const fn extended(value: u64, width: Width) -> u64 {
    match width {
        Width::Byte => value as i8 as u64,
        Width::Half => value as i16 as u64,
        Width::Word => value as i32 as u64,
        Width::Double => value,
    }
}

const fn truncated(value: u64, width: Width) -> u64 {
    match width {
        Width::Byte => value & 0xff,
        Width::Half => value & 0xffff,
        Width::Word => value & 0xffff_ffff,
        Width::Double => value,
    }
}

const fn swapped(value: u64, width: Width) -> u64 {
    match width {
        Width::Byte => value & 0xff,
        Width::Half => value.swap_bytes() >> 48,
        Width::Word => value.swap_bytes() >> 32,
        Width::Double => value.swap_bytes(),
    }
}

/// RFC 9669 §4.1: a division by zero gives zero, a remainder of it leaves the dividend.
#[inline(always)]
fn arithmetic64(alu: Alu, a: u64, b: u64) -> u64 {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    let by = low(b);
    match alu {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::Div => a.checked_div(b).unwrap_or(0),
        Alu::SignedDiv if b == 0 => 0,
        Alu::SignedDiv => sa.wrapping_div(sb).cast_unsigned(),
        Alu::Or => a | b,
        Alu::And => a & b,
        Alu::ShiftLeft => a.wrapping_shl(by),
        Alu::ShiftRight => a.wrapping_shr(by),
        Alu::Mod => a.checked_rem(b).unwrap_or(a),
        Alu::SignedMod if b == 0 => a,
        Alu::SignedMod => sa.wrapping_rem(sb).cast_unsigned(),
        Alu::Xor => a ^ b,
        Alu::Move => b,
        Alu::ArithmeticShiftRight => sa.wrapping_shr(by).cast_unsigned(),
    }
}

/// The same for the lower half.
#[inline(always)]
fn arithmetic32(alu: Alu, a: u32, b: u32) -> u32 {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    match alu {
        Alu::Add => a.wrapping_add(b),
        Alu::Sub => a.wrapping_sub(b),
        Alu::Mul => a.wrapping_mul(b),
        Alu::Div => a.checked_div(b).unwrap_or(0),
        Alu::SignedDiv if b == 0 => 0,
        Alu::SignedDiv => sa.wrapping_div(sb).cast_unsigned(),
        Alu::Or => a | b,
        Alu::And => a & b,
        Alu::ShiftLeft => a.wrapping_shl(b),
        Alu::ShiftRight => a.wrapping_shr(b),
        Alu::Mod => a.checked_rem(b).unwrap_or(a),
        Alu::SignedMod if b == 0 => a,
        Alu::SignedMod => sa.wrapping_rem(sb).cast_unsigned(),
        Alu::Xor => a ^ b,
        Alu::Move => b,
        Alu::ArithmeticShiftRight => sa.wrapping_shr(b).cast_unsigned(),
    }
}

#[inline(always)]
const fn holds64(condition: Condition, a: u64, b: u64) -> bool {
    let (sa, sb) = (a.cast_signed(), b.cast_signed());
    match condition {
        Condition::Equal => a == b,
        Condition::Greater => a > b,
        Condition::GreaterEqual => a >= b,
        Condition::AnyBit => a & b != 0,
        Condition::NotEqual => a != b,
        Condition::SignedGreater => sa > sb,
        Condition::SignedGreaterEqual => sa >= sb,
        Condition::Less => a < b,
        Condition::LessEqual => a <= b,
        Condition::SignedLess => sa < sb,
        Condition::SignedLessEqual => sa <= sb,
    }
}

#[inline(always)]
const fn holds32(condition: Condition, a: u32, b: u32) -> bool {
    // A sign-extended order is the order of the lower halves, signed or not.
    let (sa, sb) = (a.cast_signed() as i64, b.cast_signed() as i64);
    match condition {
        Condition::SignedGreater
        | Condition::SignedGreaterEqual
        | Condition::SignedLess
        | Condition::SignedLessEqual => holds64(condition, sa.cast_unsigned(), sb.cast_unsigned()),
        _ => holds64(condition, a as u64, b as u64),
    }
}

#[cfg(test)]
mod tests;
