//! The accesses to memory that the kernel's verifier refuses, found before a program runs: the
//! types of registers and stack slots are followed along every path of every operation, through the
//! program's functions.
//!
//! The kernel does the same (`do_check`), with ranges of numbers in place of constants. Paths that
//! are not followed to their end, and values that are not known here, are left to the interpreter,
//! which refuses the same stores.

mod access;
mod live;
mod path;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod value;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::isa::{Instruction, Op};
use crate::program::{CongControlArguments, Fault, Operation, Program};
use path::{Path, Used};
use state::State;
use step::Next;

/// Most instructions that are followed in one operation.
const MAX_STEPS: usize = 300_000;
/// Most states that are followed from one instruction.
const MAX_STATES: usize = 512;

/// An access that the kernel's verifier refuses.
struct Refusal {
    at: usize,
    what: String,
}

impl Program {
    /// Finds an access to memory that the kernel's verifier refuses, with the constants as they are
    /// set. What cannot be decided is left to the run.
    ///
    /// # Errors
    ///
    /// There is such an access; the error gives its place.
    pub fn verify(&self) -> Result<(), Fault> {
        self.followed().map(drop)
    }

    /// Verifies, and finds which arguments `cong_control` takes; `None`: its code does not show it.
    pub(crate) fn followed(&self) -> Result<Option<CongControlArguments>, Fault> {
        let alive = live::live(&self.code);
        let joins = joins(&self.code);
        let mut arguments = None;
        for (operation, entry) in &self.entries {
            let mut path = Path {
                program: self,
                operation: *operation,
                used: Used::default(),
            };
            let refused = |refusal: Refusal| self.refused(refusal.at, refusal.what);
            follow(&mut path, *entry, &alive, &joins).map_err(refused)?;
            if *operation == Operation::CongControl {
                arguments = variant(path.used).map_err(|what| self.refused(*entry, what))?;
            }
        }
        Ok(arguments)
    }

    fn refused(&self, at: usize, what: String) -> Fault {
        Fault {
            program: self.name.clone(),
            place: self.place(at),
            what,
        }
    }
}

/// Which arguments `cong_control` takes, by its use of them: its sample is the second, or the
/// fourth.
fn variant(used: Used) -> Result<Option<CongControlArguments>, String> {
    let is = |set: u8, argument: u8| set >> argument & 1 == 1;
    let numbers = is(used.read, 2) || is(used.read, 3) || is(used.as_sample, 2);
    match (is(used.as_sample, 1), numbers || is(used.as_sample, 3)) {
        (true, true) => Err(format!(
            "cong_control takes its second argument for the sample, as (sk, rs) before Linux 6.10, \
             and reads a third or fourth, as (sk, ack, flag, rs) since: {}",
            "the kernel's verifier refuses it"
        )),
        (true, false) => Ok(Some(CongControlArguments::Sample)),
        (false, true) => Ok(Some(CongControlArguments::AckFlagSample)),
        (false, false) => Ok(None),
    }
}

/// Instructions that several paths may reach.
fn joins(code: &[Instruction]) -> BTreeSet<usize> {
    let mut joins = BTreeSet::new();
    for (at, instruction) in code.iter().enumerate() {
        match instruction.op {
            Op::Jump | Op::JumpIf64(..) | Op::JumpIf32(..) => {
                joins.insert(live::target(at, instruction));
            }
            Op::CallFunction => {
                joins.extend(usize::try_from(instruction.imm));
                joins.insert(at + 1);
            }
            _ => {}
        }
    }
    joins
}

/// Follows all paths from an entry.
fn follow(
    path: &mut Path<'_>,
    entry: usize,
    alive: &[u16],
    joins: &BTreeSet<usize>,
) -> Result<(), Refusal> {
    let mut pending: Vec<State> = alloc::vec![State::new(entry)];
    let mut seen: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    let mut steps = 0;
    while let Some(mut state) = pending.pop() {
        while let Some(instruction) = path.program.code.get(state.at) {
            if joins.contains(&state.at) {
                state.keep(alive.get(state.at).copied().unwrap_or(0));
                let seen = seen.entry(state.at).or_default();
                if seen.len() >= MAX_STATES || !seen.insert(hash(&state)) {
                    break;
                }
            }
            steps += 1;
            if steps > MAX_STEPS {
                return Ok(());
            }
            let at = state.at;
            match path.step(&mut state, instruction) {
                Ok(Next::Here) => {}
                Ok(Next::Also(other)) => pending.push(*other),
                Ok(Next::End) => break,
                Err(what) => return Err(Refusal { at, what }),
            }
        }
    }
    Ok(())
}

/// FNV-1a (Fowler, Noll & Vo). States that collide are taken for one: a path fewer is followed.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn hash(state: &State) -> u64 {
    let mut fnv = Fnv(0xcbf2_9ce4_8422_2325);
    state.hash(&mut fnv);
    fnv.finish()
}
