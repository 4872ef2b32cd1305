//! What an instruction does to the types of values.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use super::access::{self, Access};
use super::live::target;
use super::path::Path;
use super::state::State;
use super::value::{To, Value};
use crate::helper_functions::Helper;
use crate::isa::{Alu, Atomic, Condition, Instruction, Op, Source, Width};
use crate::memory::{DATA, split};
use crate::program::Operation;
use crate::vm::arithmetic::{
    arithmetic32, arithmetic64, extended, holds32, holds64, low, swapped, truncated,
};

/// Where a path goes on.
pub enum Next {
    /// At the state's instruction.
    Here,
    /// Also there: a condition is not known.
    Also(Box<State>),
    /// Nowhere.
    End,
}

impl Path<'_> {
    fn operand(&self, state: &State, source: Source, i: &Instruction) -> Value {
        match source {
            Source::Register => state.get(i.src),
            Source::Immediate => Value::Number {
                value: Some(i.imm),
                member: self.member(state.at),
            },
        }
    }

    /// Executes an instruction.
    ///
    /// # Errors
    ///
    /// The kernel's verifier refuses it.
    pub fn step(&mut self, state: &mut State, i: &Instruction) -> Result<Next, String> {
        let at = state.at;
        match i.op {
            Op::Alu64(alu, source) => {
                let b = self.operand(state, source, i);
                state.set(i.dst, wide(alu, state.get(i.dst), b));
            }
            Op::Alu32(alu, source) => {
                let b = self.operand(state, source, i);
                state.set(i.dst, narrow(alu, state.get(i.dst), b));
            }
            Op::Negate64 => one(state, i.dst, i.dst, u64::wrapping_neg),
            Op::Negate32 => one(state, i.dst, i.dst, |a| low(a).wrapping_neg().into()),
            Op::Extend64(width) => one(state, i.dst, i.src, |a| extended(a, width)),
            Op::Extend32(width) => one(state, i.dst, i.src, |a| low(extended(a, width)).into()),
            Op::Truncate(width) => one(state, i.dst, i.dst, |a| truncated(a, width)),
            Op::Swap(width) => one(state, i.dst, i.dst, |a| swapped(a, width)),
            Op::LoadImmediate => state.set(i.dst, self.immediate(at, i.imm)),
            Op::Load(width) => {
                let value = self.load(state, i, width)?;
                state.set(i.dst, value);
            }
            Op::LoadSigned(width) => {
                self.load(state, i, width)?;
                state.set(i.dst, Value::UNKNOWN);
            }
            Op::Store(width, source) => {
                let value = self.operand(state, source, i);
                self.store(state, i, (width, value))?;
            }
            Op::Atomic {
                change,
                wide,
                fetch,
            } => {
                let width = if wide { Width::Double } else { Width::Word };
                self.store(state, i, (width, Value::UNKNOWN))?;
                if change == Atomic::CompareExchange {
                    state.set(0, Value::UNKNOWN);
                } else if fetch {
                    state.set(i.src, Value::UNKNOWN);
                }
            }
            Op::Jump => {
                state.at = target(at, i);
                return Ok(Next::Here);
            }
            Op::JumpIf64(..) | Op::JumpIf32(..) => return Ok(self.jump(state, i)),
            Op::CallFunction => {
                let function = usize::try_from(i.imm).unwrap_or(usize::MAX);
                return Ok(if state.enter(function) {
                    Next::Here
                } else {
                    Next::End
                });
            }
            Op::CallKfunc(_) => {
                state.clear_arguments();
                state.set(0, Value::UNKNOWN);
            }
            Op::CallHelper(helper) => self.call(state, helper)?,
            Op::Exit => {
                return Ok(if state.leave() { Next::Here } else { Next::End });
            }
            Op::Nothing => {}
            // On a kernel that has the feature the path goes on, with any result.
            Op::Poison => {
                state.clear_arguments();
                state.set(0, Value::Any);
                state.set(i.dst, Value::Any);
                state.overwrite_all();
            }
        }
        state.at = at + 1;
        Ok(Next::Here)
    }

    /// The address or the number of a 64-bit immediate.
    fn immediate(&self, at: usize, imm: u64) -> Value {
        if !self.program.origins.addresses.contains(&at) {
            return Value::Number {
                value: Some(imm),
                member: self.member(at),
            };
        }
        let (region, offset) = split(imm);
        if region >= DATA + self.program.sections.len() {
            return Value::start(To::Map);
        }
        let to = u32::try_from(region).map_or(To::Elsewhere, To::Data);
        Value::start(to).moved(Some(offset as u64), None)
    }

    fn load(&mut self, state: &State, i: &Instruction, width: Width) -> Result<Value, String> {
        let size = bytes(width);
        let base = state.get(i.src);
        let access = Access {
            base: base.moved(Some(i64::from(i.offset).cast_unsigned()), None),
            size,
            writes: false,
        };
        access::check(self, state.at, access)?;
        let Value::Pointer { to, offset, .. } = access.base else {
            return Ok(Value::Any);
        };
        Ok(match to {
            To::Context => self.argument(offset, size)?,
            To::Stack(frame) => state.load(frame, offset, size),
            To::Data(region) => Value::number(self.constant(region, offset, size)),
            To::Map => Value::Any,
            To::Socket | To::Sample | To::Argument(_) | To::Elsewhere => Value::UNKNOWN,
        })
    }

    /// An argument of the operation.
    fn argument(&mut self, offset: Option<i64>, size: i64) -> Result<Value, String> {
        let Some(offset) = offset.and_then(|offset| u32::try_from(offset).ok()) else {
            return Ok(Value::Any);
        };
        let word = u8::try_from(offset / 8).unwrap_or(u8::MAX);
        let count = self.operation.arguments();
        if word >= count {
            return Err(format!(
                "argument {} of {}, which has {count}: the kernel's verifier refuses it",
                word.saturating_add(1),
                self.operation.name(),
            ));
        }
        self.used.read |= 1 << word;
        Ok(match (self.operation, word) {
            _ if offset % 8 != 0 || size != 8 => Value::UNKNOWN,
            (_, 0) => Value::start(To::Socket),
            (Operation::PktsAcked, _) => Value::start(To::Sample),
            (Operation::CongControl, word) => Value::start_or_null(To::Argument(word)),
            _ => Value::UNKNOWN,
        })
    }

    /// A value of constant data.
    fn constant(&self, region: u32, offset: Option<i64>, size: i64) -> Option<u64> {
        let section = (region as usize).checked_sub(DATA)?;
        let section = self.program.sections.get(section)?;
        let start = usize::try_from(offset?).ok()?;
        let found = section
            .bytes
            .get(start..)?
            .get(..usize::try_from(size).ok()?)?;
        let mut value = [0; 8];
        value.get_mut(..found.len())?.copy_from_slice(found);
        section.read_only.then(|| u64::from_le_bytes(value))
    }

    fn store(
        &mut self,
        state: &mut State,
        i: &Instruction,
        (width, value): (Width, Value),
    ) -> Result<(), String> {
        let size = bytes(width);
        let access = Access {
            base: state
                .get(i.dst)
                .moved(Some(i64::from(i.offset).cast_unsigned()), None),
            size,
            writes: true,
        };
        access::check(self, state.at, access)?;
        let value = match value {
            // A compiler without a free register keeps a member's offset in the stack.
            Value::Number { value, member } => Value::Number {
                value: value.map(|value| truncated(value, width)),
                member,
            },
            pointer if width == Width::Double => pointer,
            _ => Value::UNKNOWN,
        };
        match access.base {
            Value::Pointer {
                to: To::Stack(frame),
                offset,
                ..
            } => state.store(frame, offset, (size, value)),
            Value::Any => state.overwrite_all(),
            _ => {}
        }
        Ok(())
    }

    fn jump(&self, state: &mut State, i: &Instruction) -> Next {
        let there = target(state.at, i);
        let (source, holds) = match i.op {
            Op::JumpIf64(condition, source) => {
                let b = self.operand(state, source, i);
                (source, decided(condition, state.get(i.dst), b))
            }
            Op::JumpIf32(condition, source) => {
                let (a, b) = (state.get(i.dst), self.operand(state, source, i));
                let known = a.known().zip(b.known());
                let holds = known.map(|(a, b)| holds32(condition, low(a), low(b)));
                (source, holds)
            }
            _ => return Next::End,
        };
        match holds {
            Some(true) => state.at = there,
            Some(false) => state.at += 1,
            None => {
                let b = self.operand(state, source, i);
                let mut other = state.clone();
                other.at = there;
                learn(&mut other, i, b, true);
                state.at += 1;
                learn(state, i, b, false);
                return Next::Also(Box::new(other));
            }
        }
        Next::Here
    }

    fn call(&self, state: &mut State, helper: Helper) -> Result<(), String> {
        let (first, second) = (state.get(1), state.get(2));
        if matches!(helper, Helper::ProbeRead | Helper::ProbeReadKernel) {
            let size = second.known().and_then(|size| i64::try_from(size).ok());
            access::filled(self.program, first, size)?;
            match first {
                Value::Pointer {
                    to: To::Stack(frame),
                    offset,
                    ..
                } => state.overwrite(frame, offset, size),
                Value::Any => state.overwrite_all(),
                _ => {}
            }
        }
        state.clear_arguments();
        let socket = matches!(first, Value::Pointer { to: To::Socket, .. });
        state.set(
            0,
            match helper {
                Helper::MapLookup | Helper::StorageGet => Value::start_or_null(To::Elsewhere),
                Helper::SocketCast if socket => Value::start_or_null(To::Socket),
                Helper::SocketCast => Value::Any,
                _ => Value::UNKNOWN,
            },
        );
        Ok(())
    }
}

/// Bytes of an access.
const fn bytes(width: Width) -> i64 {
    match width {
        Width::Byte => 1,
        Width::Half => 2,
        Width::Word => 4,
        Width::Double => 8,
    }
}

/// An operation on one number.
fn one(state: &mut State, dst: u8, src: u8, result: impl Fn(u64) -> u64) {
    state.set(dst, Value::number(state.get(src).known().map(result)));
}

fn wide(alu: Alu, a: Value, b: Value) -> Value {
    match (alu, a, b) {
        (Alu::Move, _, b) => b,
        (Alu::Add, a, b) => a.plus(b, u64::wrapping_add),
        (Alu::Sub, Value::Pointer { .. }, Value::Number { value, .. }) => {
            a.moved(value.map(u64::wrapping_neg), None)
        }
        (_, Value::Number { value: a, .. }, Value::Number { value: b, .. }) => {
            Value::number(a.zip(b).map(|(a, b)| arithmetic64(alu, a, b)))
        }
        (Alu::Sub, Value::Pointer { .. }, Value::Pointer { .. }) => Value::UNKNOWN,
        _ => Value::Any,
    }
}

/// The lower half of an address is a number.
fn narrow(alu: Alu, a: Value, b: Value) -> Value {
    if alu == Alu::Move {
        return match b {
            Value::Number { value, member } => Value::Number {
                value: value.map(|value| low(value).into()),
                member,
            },
            _ => Value::UNKNOWN,
        };
    }
    let known = a.known().zip(b.known());
    Value::number(known.map(|(a, b)| arithmetic32(alu, low(a), low(b)).into()))
}

/// Whether a comparison holds, if that is known.
fn decided(condition: Condition, a: Value, b: Value) -> Option<bool> {
    match (a, b.known()) {
        (Value::Number { value, .. }, b) => value.zip(b).map(|(a, b)| holds64(condition, a, b)),
        (
            Value::Pointer {
                maybe_null: false, ..
            },
            Some(0),
        ) => match condition {
            Condition::Equal => Some(false),
            Condition::NotEqual => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// A comparison that holds, or does not, narrows its first operand.
fn learn(state: &mut State, i: &Instruction, b: Value, taken: bool) {
    let equal = match i.op {
        Op::JumpIf64(Condition::Equal, _) => taken,
        Op::JumpIf64(Condition::NotEqual, _) => !taken,
        _ => return,
    };
    let Some(b) = b.known() else { return };
    match (state.get(i.dst), equal) {
        (Value::Number { member, .. }, true) => {
            let value = Some(b);
            state.set(i.dst, Value::Number { value, member });
        }
        (
            Value::Pointer {
                to, offset, member, ..
            },
            false,
        ) if b == 0 => {
            let maybe_null = false;
            let known = Value::Pointer {
                to,
                offset,
                member,
                maybe_null,
            };
            state.set(i.dst, known);
        }
        (Value::Pointer { .. }, true) if b == 0 => state.set(i.dst, Value::number(Some(0))),
        _ => {}
    }
}
