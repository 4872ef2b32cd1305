//! The instruction set (RFC 9669), decoded once at load: an unknown opcode never reaches the
//! interpreter.

use crate::helper_functions::Helper;
use crate::kfuncs::Kfunc;

/// Width of a memory access, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 1 byte.
    Byte,
    /// 2 bytes.
    Half,
    /// 4 bytes.
    Word,
    /// 8 bytes.
    Double,
}

/// The second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// [`Instruction::imm`].
    Immediate,
    /// The register [`Instruction::src`].
    Register,
}

/// An arithmetic or logical operation on two operands (RFC 9669 §4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alu {
    Add,
    Sub,
    Mul,
    Div,
    SignedDiv,
    Or,
    And,
    ShiftLeft,
    ShiftRight,
    Mod,
    SignedMod,
    Xor,
    Move,
    ArithmeticShiftRight,
}

/// A comparison of two operands (RFC 9669 §4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Equal,
    Greater,
    GreaterEqual,
    AnyBit,
    NotEqual,
    SignedGreater,
    SignedGreaterEqual,
    Less,
    LessEqual,
    SignedLess,
    SignedLessEqual,
}

/// The change of an atomic operation (RFC 9669 §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    Add,
    Or,
    And,
    Xor,
    Exchange,
    CompareExchange,
}

/// Operation of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// 64-bit arithmetic.
    Alu64(Alu, Source),
    /// 32-bit arithmetic; the upper half of the destination becomes zero.
    Alu32(Alu, Source),
    /// Two's complement of the destination.
    Negate64,
    /// The same for the lower half; the upper half becomes zero.
    Negate32,
    /// Moves the source, sign-extended from a narrower width to 64 bits.
    Extend64(Width),
    /// The same to 32 bits; the upper half becomes zero.
    Extend32(Width),
    /// Truncates the destination to a width: a conversion to little endian.
    Truncate(Width),
    /// Reverses the bytes of the destination within a width, and truncates it.
    Swap(Width),
    /// Sets the destination to a 64-bit immediate.
    LoadImmediate,
    /// Loads zero-extended from memory.
    Load(Width),
    /// Loads sign-extended from memory.
    LoadSigned(Width),
    /// Stores to memory.
    Store(Width, Source),
    /// Changes memory atomically; `fetch`: the old value goes to the source register.
    Atomic {
        /// The change.
        change: Atomic,
        /// 8 bytes rather than 4.
        wide: bool,
        /// Whether the old value is returned.
        fetch: bool,
    },
    /// Jumps by the offset.
    Jump,
    /// Jumps by the offset if 64-bit operands compare so.
    JumpIf64(Condition, Source),
    /// The same for 32-bit operands.
    JumpIf32(Condition, Source),
    /// Calls the function at the instruction that the immediate names.
    CallFunction,
    /// Calls a function of the kernel's.
    CallKfunc(Kfunc),
    /// Calls a helper.
    CallHelper(Helper),
    /// Returns.
    Exit,
    /// Does nothing: the second half of a 64-bit immediate.
    Nothing,
    /// Ends the run with the reason of this number: the program uses a feature that is not
    /// simulated.
    Poison,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The operation.
    pub op: Op,
    /// Destination register, 0 to 10.
    pub dst: u8,
    /// Source register, 0 to 10.
    pub src: u8,
    /// Offset of a memory access in bytes, or of a jump in instructions.
    pub offset: i32,
    /// The immediate, extended to 64 bits.
    pub imm: u64,
}

/// The eight bytes of an instruction, before it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The opcode.
    pub opcode: u8,
    /// Destination register.
    pub dst: u8,
    /// Source register, or a variant of the opcode.
    pub src: u8,
    /// Offset, or a variant of the opcode.
    pub offset: i16,
    /// The immediate.
    pub imm: i32,
}

impl Encoded {
    /// A conditional load of a 64-bit immediate: two instructions.
    pub const LOAD_IMMEDIATE: u8 = 0x18;
    /// Any call.
    pub const CALL: u8 = 0x85;
    /// The source of a call of a function of the program.
    pub const FUNCTION: u8 = 1;

    /// Splits eight bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 8]) -> Self {
        let [opcode, registers, low, high, a, b, c, d] = bytes;
        Self {
            opcode,
            dst: registers & 15,
            src: registers >> 4,
            offset: i16::from_le_bytes([low, high]),
            imm: i32::from_le_bytes([a, b, c, d]),
        }
    }

    /// Whether it is a load of a member's value, or a store: then a relocation patches the offset,
    /// and else the immediate (`bpf_core_patch_insn`).
    #[must_use]
    pub const fn accesses_memory(&self) -> bool {
        matches!(self.opcode & 7, 1..=3)
    }

    /// Decodes everything except calls and wide immediates, which the loader links. `None`: not an
    /// instruction of ISA v1 to v4.
    #[must_use]
    pub fn decode(&self) -> Option<Instruction> {
        if self.dst > 10 || self.src > 10 {
            return None;
        }
        let op = match self.opcode & 7 {
            0x07 => self.alu(true)?,
            0x04 => self.alu(false)?,
            0x05 => self.jump(true)?,
            0x06 => self.jump(false)?,
            _ => self.memory()?,
        };
        // The variant of a division or move is no offset; a long jump has its offset in the
        // immediate (v4, gotol).
        let offset = match (self.opcode, self.opcode & 7) {
            (0x06, _) => self.imm,
            (_, 0x04 | 0x07) => 0,
            _ => i32::from(self.offset),
        };
        Some(Instruction {
            op,
            dst: self.dst,
            src: self.src,
            offset,
            imm: i64::from(self.imm).cast_unsigned(),
        })
    }

    const fn source(&self) -> Source {
        if self.opcode & 8 == 0 {
            Source::Immediate
        } else {
            Source::Register
        }
    }

    fn alu(&self, wide: bool) -> Option<Op> {
        let signed = match self.offset {
            0 => false,
            1 if matches!(self.opcode >> 4, 3 | 9) => true,
            8 | 16 | 32 if self.opcode >> 4 == 0xb => return self.extending_move(wide),
            _ => return None,
        };
        let alu = match (self.opcode >> 4, signed) {
            (0x0, _) => Alu::Add,
            (0x1, _) => Alu::Sub,
            (0x2, _) => Alu::Mul,
            (0x3, false) => Alu::Div,
            (0x3, true) => Alu::SignedDiv,
            (0x4, _) => Alu::Or,
            (0x5, _) => Alu::And,
            (0x6, _) => Alu::ShiftLeft,
            (0x7, _) => Alu::ShiftRight,
            (0x8, _) => return Some(if wide { Op::Negate64 } else { Op::Negate32 }),
            (0x9, false) => Alu::Mod,
            (0x9, true) => Alu::SignedMod,
            (0xa, _) => Alu::Xor,
            (0xb, _) => Alu::Move,
            (0xc, _) => Alu::ArithmeticShiftRight,
            (0xd, _) => return self.byte_order(wide),
            _ => return None,
        };
        Some(if wide {
            Op::Alu64(alu, self.source())
        } else {
            Op::Alu32(alu, self.source())
        })
    }

    fn extending_move(&self, wide: bool) -> Option<Op> {
        let width = match self.offset {
            8 => Width::Byte,
            16 => Width::Half,
            32 if wide => Width::Word,
            _ => return None,
        };
        (self.source() == Source::Register).then_some(if wide {
            Op::Extend64(width)
        } else {
            Op::Extend32(width)
        })
    }

    fn byte_order(&self, wide: bool) -> Option<Op> {
        let width = match self.imm {
            16 => Width::Half,
            32 => Width::Word,
            64 => Width::Double,
            _ => return None,
        };
        match (wide, self.source()) {
            (false, Source::Immediate) => Some(Op::Truncate(width)),
            // To big endian, and unconditionally (v4).
            (false, Source::Register) | (true, Source::Immediate) => Some(Op::Swap(width)),
            (true, Source::Register) => None,
        }
    }

    fn jump(&self, wide: bool) -> Option<Op> {
        let condition = match self.opcode >> 4 {
            0x0 => return Some(Op::Jump),
            0x1 => Condition::Equal,
            0x2 => Condition::Greater,
            0x3 => Condition::GreaterEqual,
            0x4 => Condition::AnyBit,
            0x5 => Condition::NotEqual,
            0x6 => Condition::SignedGreater,
            0x7 => Condition::SignedGreaterEqual,
            0x9 if wide && self.opcode == 0x95 => return Some(Op::Exit),
            0xa => Condition::Less,
            0xb => Condition::LessEqual,
            0xc => Condition::SignedLess,
            0xd => Condition::SignedLessEqual,
            // `may_goto` (v4): never taken, as the budget bounds loops.
            0xe if wide => return Some(Op::Nothing),
            _ => return None,
        };
        Some(if wide {
            Op::JumpIf64(condition, self.source())
        } else {
            Op::JumpIf32(condition, self.source())
        })
    }

    fn memory(&self) -> Option<Op> {
        let width = match self.opcode & 0x18 {
            0x00 => Width::Word,
            0x08 => Width::Half,
            0x10 => Width::Byte,
            _ => Width::Double,
        };
        match (self.opcode & 7, self.opcode & 0xe0) {
            (1, 0x60) => Some(Op::Load(width)),
            (1, 0x80) if width != Width::Double => Some(Op::LoadSigned(width)),
            (2, 0x60) => Some(Op::Store(width, Source::Immediate)),
            (3, 0x60) => Some(Op::Store(width, Source::Register)),
            (3, 0xc0) => self.atomic(width),
            _ => None,
        }
    }

    const fn atomic(&self, width: Width) -> Option<Op> {
        let wide = match width {
            Width::Word => false,
            Width::Double => true,
            _ => return None,
        };
        let (change, fetch) = match self.imm {
            0x00 => (Atomic::Add, false),
            0x01 => (Atomic::Add, true),
            0x40 => (Atomic::Or, false),
            0x41 => (Atomic::Or, true),
            0x50 => (Atomic::And, false),
            0x51 => (Atomic::And, true),
            0xa0 => (Atomic::Xor, false),
            0xa1 => (Atomic::Xor, true),
            0xe1 => (Atomic::Exchange, true),
            0xf1 => (Atomic::CompareExchange, true),
            _ => return None,
        };
        Some(Op::Atomic {
            change,
            wide,
            fetch,
        })
    }
}
