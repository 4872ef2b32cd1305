//! Refusals at load, compared with the interpreter's during the run.

use alloc::string::String;
use alloc::vec::Vec;

use super::*;
use crate::isa::{Alu, Atomic, Condition, Source, Width};
use crate::memory::{CONTEXT, Memory, SOCKET, address};
use crate::mirror::{Layout, Member};
use crate::origins::Origins;
use crate::sample::Samples;
use crate::trap::Trap;
use crate::vm::{self, Kernel};

struct NoKernel;

impl Kernel for NoKernel {
    fn call(&mut self, _op: Op, _arguments: [u64; 5], _memory: &mut Memory) -> Result<u64, Trap> {
        Err(Trap::Argument("no kernel"))
    }
}

const fn i(op: Op, dst: u8, src: u8, offset: i32, imm: u64) -> Instruction {
    Instruction {
        op,
        dst,
        src,
        offset,
        imm,
    }
}

const COPY: Op = Op::Alu64(Alu::Move, Source::Register);
const SET: Op = Op::Alu64(Alu::Move, Source::Immediate);
const ADD: Op = Op::Alu64(Alu::Add, Source::Immediate);
const EXIT: Instruction = i(Op::Exit, 0, 0, 0, 0);

fn layout() -> Layout {
    let mut layout = Layout::default();
    for member in [Member::Cwnd, Member::MssCache, Member::Private] {
        layout.add(member, 4, (0, 0)).unwrap();
    }
    layout
}

/// A program of one operation.
fn program(code: Vec<Instruction>, relocated: BTreeMap<usize, Option<Member>>) -> Program {
    Program {
        name: "drawn".into(),
        hz: 1_000,
        layout: layout(),
        samples: Samples::default(),
        cong_control: CongControlArguments::Sample,
        code,
        entries: alloc::vec![(Operation::CongAvoid, 0)],
        sections: Vec::new(),
        maps: Vec::new(),
        constants: Vec::new(),
        fixed: Vec::new(),
        counters: Vec::new(),
        poisons: Vec::new(),
        functions: Vec::new(),
        lines: Vec::new(),
        origins: Origins {
            relocated,
            addresses: BTreeSet::new(),
        },
        is_verified: true,
    }
}

fn refusal(program: &Program) -> Option<(usize, String)> {
    let mut path = Path {
        program,
        operation: Operation::CongAvoid,
        used: Used::default(),
    };
    let (alive, joins) = (live::live(&program.code), joins(&program.code));
    let refused = follow(&mut path, 0, &alive, &joins).err()?;
    Some((refused.at, refused.what))
}

/// The instruction whose store the interpreter refuses; `Err`: it stops for another reason.
fn stopped(program: &Program) -> Result<Option<usize>, Trap> {
    let mut memory = Memory::new(program.layout.rooms(), 16, []);
    memory.region_mut(CONTEXT)[..8].copy_from_slice(&address(SOCKET, 0).to_le_bytes());
    match vm::run(&program.code, 0, &mut memory, &mut NoKernel) {
        Ok(_) => Ok(None),
        Err(stop) => match (program.code[stop.at].op, stop.trap) {
            (Op::Store(..) | Op::Atomic { .. }, Trap::Memory(_)) => Ok(Some(stop.at)),
            (_, trap) => Err(trap),
        },
    }
}

/// Drawn programs.
const CASES: usize = 4_000;

/// A step of a drawn program.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    Copy(u8, u8),
    Set(u8, u64),
    /// The address of a member, from the socket's.
    Member(u8, Member),
    Add(u8, u64),
    Spill(u8, i32),
    Fill(u8, i32),
    Store(u8, i32, Width),
    Change(u8, i32, Atomic, bool),
    /// Jumps over some of the next instructions if register 9 has this value.
    SkipIf(u64, i32),
    /// Calls a function that stores to its first argument.
    Call(u8),
}

/// Draws numbers below a bound (Knuth's MMIX generator).
struct Random(u64);

impl Random {
    fn draw(&mut self, below: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.draw(choices.len())]
    }

    fn step(&mut self) -> Drawn {
        let register = self.of(&[1, 2, 3, 4, 5]);
        let pointer = self.of(&[1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 7, 10]);
        let slot = self.of(&[-8, -16, -24, -32]);
        // Below a member lies another one: only the path tells which is meant.
        let offset = match pointer {
            10 => self.of(&[-8, -16, -24]),
            _ => self.of(&[0, 0, 0, 0, 4, 8, 96, 100, 104, 112]),
        };
        let width = self.of(&[Width::Byte, Width::Half, Width::Word, Width::Double]);
        match self.draw(18) {
            0 | 1 => Drawn::Copy(register, pointer),
            2 => Drawn::Set(self.of(&[1, 2, 3, 9]), self.draw(3) as u64),
            3..6 => Drawn::Member(
                register,
                self.of(&[
                    Member::Cwnd,
                    Member::Cwnd,
                    Member::Private,
                    Member::Private,
                    Member::MssCache,
                ]),
            ),
            6 => Drawn::Add(register, self.draw(9) as u64),
            7 | 8 => Drawn::Spill(register, slot),
            9 | 10 => Drawn::Fill(register, slot),
            11..14 => Drawn::Store(pointer, offset, width),
            14 => Drawn::Change(
                pointer,
                offset,
                self.of(&[
                    Atomic::Add,
                    Atomic::Or,
                    Atomic::And,
                    Atomic::Xor,
                    Atomic::Exchange,
                    Atomic::CompareExchange,
                ]),
                self.draw(2) == 0,
            ),
            15 | 16 => Drawn::SkipIf(self.draw(3) as u64, self.of(&[1, 2, 3])),
            _ => Drawn::Call(register),
        }
    }
}

/// Makes a program of drawn steps; each becomes as many instructions, so that a jump lands between
/// two steps.
fn assembled(steps: &[Drawn]) -> Program {
    const LENGTH: usize = 7;
    let nothing = i(Op::Jump, 0, 0, 0, 0);
    let mut code = alloc::vec![
        i(Op::Load(Width::Double), 6, 1, 0, 0),
        i(COPY, 7, 1, 0, 0),
        i(SET, 9, 0, 0, 0),
        i(SET, 0, 0, 0, 0),
    ];
    // Every register is a number, and not what the caller left in it.
    code.extend((1..6).map(|register| i(SET, register, 0, 0, 0)));
    let function = code.len() + steps.len() * LENGTH + 1;
    let mut relocated = BTreeMap::new();
    for step in steps {
        let start = code.len();
        match *step {
            Drawn::Copy(dst, src) => code.push(i(COPY, dst, src, 0, 0)),
            Drawn::Set(dst, n) => code.push(i(SET, dst, 0, 0, n)),
            Drawn::Member(dst, member) => {
                let slot = layout().slot(member).unwrap();
                code.push(i(COPY, dst, 6, 0, 0));
                relocated.insert(code.len(), Some(member));
                code.push(i(ADD, dst, 0, 0, slot.offset.into()));
            }
            Drawn::Add(dst, n) => code.push(i(ADD, dst, 0, 0, n)),
            Drawn::Spill(src, slot) => {
                code.push(i(
                    Op::Store(Width::Double, Source::Register),
                    10,
                    src,
                    slot,
                    0,
                ));
            }
            Drawn::Fill(dst, slot) => code.push(i(Op::Load(Width::Double), dst, 10, slot, 0)),
            Drawn::Store(base, offset, width) => {
                code.push(i(Op::Store(width, Source::Register), base, 0, offset, 0));
            }
            Drawn::Change(base, offset, change, wide) => {
                let fetch = matches!(change, Atomic::Exchange | Atomic::CompareExchange);
                let op = Op::Atomic {
                    change,
                    wide,
                    fetch,
                };
                code.push(i(op, base, 0, offset, 0));
                code.push(i(SET, 0, 0, 0, 0));
            }
            Drawn::SkipIf(n, skip) => {
                let length = i32::try_from(LENGTH).unwrap();
                let op = Op::JumpIf64(Condition::Equal, Source::Immediate);
                code.push(i(op, 9, 0, length * skip + length - 1, n));
            }
            Drawn::Call(argument) => {
                code.push(i(COPY, 1, argument, 0, 0));
                code.push(i(Op::CallFunction, 0, 0, 0, function as u64));
                code.extend((1..6).map(|register| i(SET, register, 0, 0, 0)));
            }
        }
        code.resize(start + LENGTH, nothing);
    }
    // A jump from the last steps lands here.
    code.push(EXIT);
    code.push(i(Op::Store(Width::Word, Source::Register), 1, 0, 0, 0));
    code.push(EXIT);
    code.extend([EXIT; 4 * LENGTH]);
    program(code, relocated)
}

/// All values of these programs are known, so that both find the same store.
#[test]
fn what_is_refused_before_the_run_is_what_the_interpreter_refuses() {
    let mut random = Random(44);
    let (mut accepted, mut refused) = (0, 0);
    for case in 0..CASES {
        let steps: Vec<_> = (0..1 + random.draw(12)).map(|_| random.step()).collect();
        let program = assembled(&steps);
        let Ok(expected) = stopped(&program) else {
            continue;
        };
        let found = refusal(&program);
        // The interpreter's frames lie one after the other: it sees no end of one.
        if found
            .as_ref()
            .is_some_and(|(_, what)| what.contains("of the stack"))
        {
            continue;
        }
        let at = found.as_ref().map(|(at, _)| *at);
        assert_eq!(at, expected, "case {case}: {steps:?}: {found:?}");
        match expected {
            None => accepted += 1,
            Some(_) => refused += 1,
        }
    }
    assert!(
        accepted > CASES / 8 && refused > CASES / 8,
        "{accepted} {refused}"
    );
}

#[test]
fn a_path_that_constants_exclude_is_not_followed() {
    let store = |n| {
        let slot = layout().slot(Member::MssCache).unwrap();
        let code = alloc::vec![
            i(Op::Load(Width::Double), 6, 1, 0, 0),
            i(SET, 2, 0, 0, n),
            i(
                Op::JumpIf64(Condition::Equal, Source::Immediate),
                2,
                0,
                1,
                0
            ),
            i(
                Op::Store(Width::Word, Source::Immediate),
                6,
                0,
                i32::try_from(slot.offset).unwrap(),
                1,
            ),
            EXIT,
        ];
        program(code, [(3, Some(Member::MssCache))].into())
    };
    assert_eq!(refusal(&store(0)), None);
    let (at, what) = refusal(&store(1)).unwrap();
    assert_eq!(at, 3);
    assert!(what.contains("a store to mss_cache"), "{what}");
    assert!(store(1).verify().is_err() && store(0).verify().is_ok());
}

/// As compilers do without a free register: the offset of a member waits in the stack.
#[test]
fn a_members_offset_in_the_stack_stays_its_offset() {
    let slot = layout().slot(Member::Cwnd).unwrap();
    let code = alloc::vec![
        i(Op::Load(Width::Double), 6, 1, 0, 0),
        i(SET, 2, 0, 0, slot.offset.into()),
        i(Op::Store(Width::Double, Source::Register), 10, 2, -8, 0),
        i(Op::Load(Width::Double), 3, 10, -8, 0),
        i(Op::Alu64(Alu::Add, Source::Register), 6, 3, 0, 0),
        i(Op::Store(Width::Word, Source::Immediate), 6, 0, 0, 2),
        EXIT,
    ];
    let made = program(code.clone(), [(1, Some(Member::Cwnd))].into());
    assert_eq!(refusal(&made), None);
    let bare = program(code, BTreeMap::new());
    let (at, what) = refusal(&bare).unwrap();
    assert_eq!(at, 5);
    assert!(what.contains("without a CO-RE record"), "{what}");
}
