//! A program's run on one flow.

use alloc::vec::Vec;

use crate::environment::Environment;
use crate::isa::Op;
use crate::maps::Maps;
use crate::memory::{CONTEXT, DATA, Memory, Region, SAMPLE, SOCKET, address};
use crate::mirror::{Layout, Member, Slot};
use crate::program::{Fault, Operation, Program, Variable};
use crate::sample::Field;
use crate::trap::Trap;
use crate::vm::{self, Kernel, Returned};

/// The arguments of an operation after the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// No other.
    Socket,
    /// A number.
    Number(u64),
    /// Two numbers.
    Numbers(u64, u64),
    /// The sample.
    Sample,
    /// Two numbers and the sample.
    NumbersSample(u64, u64),
}

/// One flow's socket, globals and maps. A kernel shares globals and maps among its sockets; here
/// each flow has a copy.
#[derive(Clone, Debug)]
pub struct Flow {
    memory: Memory,
    maps: Maps,
    /// Time, chance and messages.
    pub environment: Environment,
    instructions: u64,
    calls: u64,
}

/// The kernel as one call sees it.
struct Calls<'a> {
    layout: &'a Layout,
    maps: &'a mut Maps,
    environment: &'a mut Environment,
}

impl Kernel for Calls<'_> {
    fn call(&mut self, op: Op, arguments: [u64; 5], memory: &mut Memory) -> Result<u64, Trap> {
        match op {
            Op::CallKfunc(kfunc) => kfunc.call(arguments, self.layout, memory),
            Op::CallHelper(helper) => helper.call(arguments, memory, self.maps, self.environment),
            _ => Ok(0),
        }
    }
}

impl Flow {
    /// Creates a flow; `seed`: of its random numbers.
    #[must_use]
    pub fn new(program: &Program, seed: u64) -> Self {
        let values = program.maps.iter().map(|map| Region {
            bytes: alloc::vec![0; map.bytes().unwrap_or(0)],
            read_only: false,
        });
        let data: Vec<Region> = program.sections.iter().cloned().chain(values).collect();
        Self {
            memory: Memory::new(program.layout.rooms(), program.samples.size(), data),
            maps: Maps::new(&program.maps),
            environment: Environment::new(program.hz, seed),
            instructions: 0,
            calls: 0,
        }
    }

    /// Calls an operation; nothing happens if the program does not have it.
    ///
    /// # Errors
    ///
    /// The program cannot continue; the error gives the place and the reason.
    pub fn call(
        &mut self,
        program: &Program,
        operation: Operation,
        arguments: Arguments,
    ) -> Result<Option<u64>, Fault> {
        let Some(entry) = program.entry(operation) else {
            return Ok(None);
        };
        let sample = address(SAMPLE, 0);
        let words = match arguments {
            Arguments::Socket => [0; 3],
            Arguments::Number(a) => [a, 0, 0],
            Arguments::Numbers(a, b) => [a, b, 0],
            Arguments::Sample => [sample, 0, 0],
            Arguments::NumbersSample(a, b) => [a, b, sample],
        };
        let context = self.memory.region_mut(CONTEXT).chunks_exact_mut(8);
        for (place, word) in context.zip([address(SOCKET, 0)].iter().chain(&words)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let mut calls = Calls {
            layout: &program.layout,
            maps: &mut self.maps,
            environment: &mut self.environment,
        };
        let Returned {
            value,
            instructions,
        } = vm::run(&program.code, entry, &mut self.memory, &mut calls)
            .map_err(|stop| program.fault(&stop))?;
        self.instructions += instructions;
        self.calls += 1;
        Ok(Some(value))
    }

    /// Instructions executed, and operations called, since the start.
    #[must_use]
    pub const fn work(&self) -> (u64, u64) {
        (self.instructions, self.calls)
    }

    /// Value of a member; `None` if the program does not use it.
    #[must_use]
    pub fn get(&self, program: &Program, member: Member) -> Option<u64> {
        Some(program.layout.slot(member)?.get(&self.memory))
    }

    /// Sets a member, if the program uses it.
    pub fn set(&mut self, program: &Program, member: Member, value: u64) {
        if let Some(slot) = program.layout.slot(member) {
            slot.set(&mut self.memory, value);
        }
    }

    /// Sets a member's place.
    pub fn set_slot(&mut self, slot: Slot, value: u64) {
        slot.set(&mut self.memory, value);
    }

    /// Sets a windowed minimum's place.
    pub fn set_minmax(&mut self, slot: Slot, time: u32, value: u32) {
        slot.set_minmax(&mut self.memory, time, value);
    }

    /// Clears the control's private state, as the kernel does before `init`.
    pub fn clear_private(&mut self, program: &Program) {
        let Some(slot) = program.layout.slot(Member::Private) else {
            return;
        };
        let (start, size) = (slot.offset as usize, slot.size as usize);
        if let Some(place) = self.memory.region_mut(SOCKET).get_mut(start..start + size) {
            place.fill(0);
        }
    }

    /// Writes the record that the next operation points to.
    pub fn write_sample(&mut self, program: &Program, record: &str, value: impl Fn(Field) -> i64) {
        program.samples.write(&mut self.memory, value, record);
    }

    /// The mirror's bytes.
    #[must_use]
    pub fn socket(&self) -> &[u8] {
        self.memory.region(SOCKET)
    }

    /// Value of a global variable.
    #[must_use]
    pub fn variable(&self, variable: &Variable) -> i128 {
        variable.read(self.memory.region(variable.region))
    }

    /// All bytes of a program's sections and maps.
    pub fn data<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = &'a [u8]> {
        let last = DATA + program.sections.len() + program.maps.len();
        (DATA..last).map(|region| self.memory.region(region))
    }
}
