//! The registers and stack frames of one path.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::value::{To, Value};
use crate::memory::{FRAME, FRAMES};

/// A stack frame.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Slots {
    /// The stored values by their offset from the frame's end, and their bytes.
    stored: BTreeMap<i64, (i64, Value)>,
    /// Something was stored at an unknown offset.
    is_unsure: bool,
}

/// A function that has called another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Caller {
    registers: [Value; 4],
    next: usize,
}

/// What is known before an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Index of the instruction.
    pub at: usize,
    registers: [Value; 11],
    callers: Vec<Caller>,
    frames: Vec<Slots>,
}

impl State {
    /// At the first instruction of an operation.
    pub fn new(entry: usize) -> Self {
        let mut registers = [Value::Any; 11];
        registers[1] = Value::start(To::Context);
        registers[10] = Value::start(To::Stack(0));
        Self {
            at: entry,
            registers,
            callers: Vec::new(),
            frames: alloc::vec![Slots::default()],
        }
    }

    pub fn get(&self, register: u8) -> Value {
        self.registers
            .get(usize::from(register))
            .copied()
            .unwrap_or(Value::Any)
    }

    pub fn set(&mut self, register: u8, value: Value) {
        if let Some(place) = self.registers.get_mut(usize::from(register)) {
            *place = value;
        }
    }

    /// Forgets the registers that are not in a set of bits.
    pub fn keep(&mut self, alive: u16) {
        for (register, value) in self.registers.iter_mut().enumerate().take(10) {
            if alive >> register & 1 == 0 {
                *value = Value::Any;
            }
        }
    }

    /// Registers 1 to 5 are the callee's.
    pub fn clear_arguments(&mut self) {
        self.registers[1..6].fill(Value::Any);
    }

    /// Enters a function; `false` if calls are nested too deeply.
    pub fn enter(&mut self, target: usize) -> bool {
        let depth = self.frames.len();
        let Ok(number) = u8::try_from(depth) else {
            return false;
        };
        if depth >= FRAMES {
            return false;
        }
        let [.., r6, r7, r8, r9, _] = self.registers;
        self.callers.push(Caller {
            registers: [r6, r7, r8, r9],
            next: self.at + 1,
        });
        self.frames.push(Slots::default());
        self.registers[6..10].fill(Value::Any);
        self.registers[0] = Value::Any;
        self.registers[10] = Value::start(To::Stack(number));
        self.at = target;
        true
    }

    /// Returns from a function; `false` from the operation.
    pub fn leave(&mut self) -> bool {
        let Some(caller) = self.callers.pop() else {
            return false;
        };
        self.frames.pop();
        self.clear_arguments();
        self.registers[6..10].copy_from_slice(&caller.registers);
        let frame = u8::try_from(self.callers.len()).unwrap_or(u8::MAX);
        self.registers[10] = Value::start(To::Stack(frame));
        self.at = caller.next;
        true
    }

    /// The value of `size` bytes in a frame.
    pub fn load(&self, frame: u8, offset: Option<i64>, size: i64) -> Value {
        let (Some(slots), Some(offset)) = (self.frames.get(usize::from(frame)), offset) else {
            return Value::Any;
        };
        match slots.stored.get(&offset) {
            Some((stored, value)) if *stored == size => *value,
            _ if slots.is_unsure => Value::Any,
            // A part of an address, or of several values, is a number.
            _ => Value::UNKNOWN,
        }
    }

    /// Stores a value of `size` bytes in a frame.
    pub fn store(&mut self, frame: u8, offset: Option<i64>, (size, value): (i64, Value)) {
        self.overwrite(frame, offset, Some(size));
        let (Some(slots), Some(offset)) = (self.frames.get_mut(usize::from(frame)), offset) else {
            return;
        };
        slots.stored.insert(offset, (size, value));
    }

    /// Something is written to `size` bytes of a frame.
    pub fn overwrite(&mut self, frame: u8, offset: Option<i64>, size: Option<i64>) {
        let Some(slots) = self.frames.get_mut(usize::from(frame)) else {
            return;
        };
        let Some((start, end)) = offset
            .zip(size)
            .and_then(|(offset, size)| Some((offset, offset.checked_add(size)?)))
        else {
            slots.stored.clear();
            slots.is_unsure = true;
            return;
        };
        slots
            .stored
            .retain(|at, (stored, _)| *at >= end || *at + *stored <= start);
    }

    /// Something may be written to any frame.
    pub fn overwrite_all(&mut self) {
        for frame in 0..self.frames.len() {
            self.overwrite(u8::try_from(frame).unwrap_or(0), None, None);
        }
    }
}

/// Whether an access is within a stack frame.
pub fn is_in_frame(offset: i64, size: i64) -> bool {
    let frame = i64::try_from(FRAME).unwrap_or(0);
    offset >= -frame && offset.checked_add(size).is_some_and(|end| end <= 0)
}
