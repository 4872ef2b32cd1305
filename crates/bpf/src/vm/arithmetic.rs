//! Arithmetic and comparisons (RFC 9669 §4).

use crate::isa::{Alu, Condition, Width};

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
#[inline(always)]
pub const fn low(value: u64) -> u32 {
    value as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the lower part is meant")]
pub const fn extended(value: u64, width: Width) -> u64 {
    match width {
        Width::Byte => value as i8 as u64,
        Width::Half => value as i16 as u64,
        Width::Word => value as i32 as u64,
        Width::Double => value,
    }
}

pub const fn truncated(value: u64, width: Width) -> u64 {
    match width {
        Width::Byte => value & 0xff,
        Width::Half => value & 0xffff,
        Width::Word => value & 0xffff_ffff,
        Width::Double => value,
    }
}

pub const fn swapped(value: u64, width: Width) -> u64 {
    match width {
        Width::Byte => value & 0xff,
        Width::Half => value.swap_bytes() >> 48,
        Width::Word => value.swap_bytes() >> 32,
        Width::Double => value.swap_bytes(),
    }
}

/// RFC 9669 §4.1: a division by zero gives zero, a remainder of it leaves the dividend.
#[inline(always)]
pub fn arithmetic64(alu: Alu, a: u64, b: u64) -> u64 {
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
pub fn arithmetic32(alu: Alu, a: u32, b: u32) -> u32 {
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
pub const fn holds64(condition: Condition, a: u64, b: u64) -> bool {
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
pub const fn holds32(condition: Condition, a: u32, b: u32) -> bool {
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
