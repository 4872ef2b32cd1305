//! The interpreter, call by call, compared with the same C file built for this machine.

use std::fmt::Write;
use std::path::Path;

use airtcp_bpf::{Arguments, Field, Flow, Member, Operation, Program};

use crate::compile;

const EVENTS: u32 = 20_000;

struct Random(u64);

impl Random {
    fn draw(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

/// The members of the native build's socket that the events change.
#[derive(Default)]
struct Events {
    cwnd: u32,
    una: u32,
    delivered: u32,
    lost: u32,
    min_rtt: u32,
    bytes: u64,
}

struct Run<'a> {
    program: &'a Program,
    flow: Flow,
    native: std::str::Lines<'a>,
    calls: u32,
}

impl Run<'_> {
    fn set(&mut self, member: Member, value: impl Into<u64>) {
        self.flow.set(self.program, member, value.into());
    }

    fn get(&self, member: Member) -> Option<u64> {
        self.flow.get(self.program, member)
    }

    /// Calls an operation, and compares the socket with the next line of the native run.
    fn call(&mut self, operation: Operation, arguments: Arguments) -> Option<u32> {
        let returned = self
            .flow
            .call(self.program, operation, arguments)
            .unwrap_or_else(|fault| panic!("{fault}"))?;
        let returns = matches!(operation, Operation::Ssthresh | Operation::UndoCwnd);
        let returned = if returns { returned as u32 } else { 0 };
        let line = self
            .native
            .next()
            .expect("the native run made as many calls");
        let mut words = line.split(' ');
        let mut seen = format!("{} {returned}", operation.name());
        let mut expected = words.by_ref().take(2).collect::<Vec<_>>().join(" ");
        for member in [
            Member::Cwnd,
            Member::CwndCount,
            Member::Ssthresh,
            Member::PacingRate,
            Member::PacingStatus,
        ] {
            let native = words.next().unwrap();
            if let Some(value) = self.get(member) {
                write!(seen, " {}={value}", member.name()).unwrap();
                write!(expected, " {}={native}", member.name()).unwrap();
            }
        }
        if let Some(slot) = self.program.layout.slot(Member::Private) {
            let bytes = &self.flow.socket()[slot.offset as usize..][..slot.size as usize];
            let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
            write!(seen, " private {hash}").unwrap();
            write!(expected, " private {}", words.next().unwrap()).unwrap();
        }
        assert_eq!(seen, expected, "call {}", self.calls);
        self.calls += 1;
        Some(returned)
    }
}

/// Returns the number of calls, all with equal results.
fn compare(source: &Path, variable: &str, options: &[&str]) -> Option<u32> {
    let object = compile::object(source, options)?;
    let program = Program::load(&object, &Default::default()).unwrap_or_else(|e| panic!("{e}"));
    let native = compile::native(source, variable, EVENTS);
    let mut run = Run {
        flow: Flow::new(&program, 0),
        program: &program,
        native: native.lines(),
        calls: 0,
    };
    let mut random = Random(88_172_645_463_325_252);
    let mut now = Events {
        cwnd: 10,
        una: 0xffff_f000,
        ..Events::default()
    };
    run.set(Member::Cwnd, 10_u32);
    run.set(Member::CwndClamp, u32::MAX);
    run.set(Member::Ssthresh, 0x7fff_ffff_u32);
    run.set(Member::MssCache, 1_448_u32);
    run.set(Member::SndUna, now.una);
    run.set(Member::SndNxt, now.una);
    run.call(Operation::Init, Arguments::Socket);
    for step in 0..u64::from(EVENTS) {
        one_acknowledgment(&mut run, &mut random, &mut now, step);
        match random.draw(700) {
            0..6 => {
                let lost = 1 + random.draw(6) as u32;
                now.lost += lost;
                run.set(Member::LostOut, lost);
                run.set(Member::Lost, now.lost);
                let threshold = reduce(&mut run);
                run.call(Operation::SetState, Arguments::Number(3));
                resize(&mut run, threshold);
                run.set(Member::LostOut, 0_u32);
            }
            6 => {
                reduce(&mut run);
                run.call(Operation::CwndEvent, Arguments::Number(3));
                run.call(Operation::SetState, Arguments::Number(4));
                resize(&mut run, 1);
            }
            7 => {
                let cwnd = run.call(Operation::UndoCwnd, Arguments::Socket).unwrap();
                run.set(Member::Cwnd, cwnd);
            }
            _ => {}
        }
        now.cwnd = run.get(Member::Cwnd).unwrap() as u32;
    }
    assert_eq!(run.native.next(), None);
    Some(run.calls)
}

fn reduce(run: &mut Run<'_>) -> u32 {
    let cwnd = run.get(Member::Cwnd).unwrap();
    run.set(Member::PriorCwnd, cwnd);
    let threshold = run.call(Operation::Ssthresh, Arguments::Socket).unwrap();
    run.set(Member::Ssthresh, threshold);
    threshold
}

fn resize(run: &mut Run<'_>, cwnd: u32) {
    run.set(Member::Cwnd, cwnd);
    run.set(Member::CwndCount, 0_u32);
}

fn one_acknowledgment(run: &mut Run<'_>, random: &mut Random, now: &mut Events, step: u64) {
    let segments = 1 + random.draw(3);
    let cwnd = now.cwnd;
    let now_ns = (step + 1) * 1_000_000;
    run.flow.environment.now_ns = now_ns;
    now.una = now.una.wrapping_add(1_448 * segments as u32);
    now.delivered += segments as u32;
    now.bytes += 1_448 * segments;
    run.set(Member::Mstamp, now_ns / 1_000);
    run.set(Member::SndUna, now.una);
    run.set(
        Member::SndNxt,
        now.una.wrapping_add(1_448_u32.wrapping_mul(cwnd)),
    );
    run.set(Member::BytesAcked, now.bytes);
    run.set(Member::Delivered, now.delivered);
    run.set(Member::MaxPacketsOut, cwnd);
    run.set(Member::PacketsOut, cwnd);
    run.set(Member::IsCwndLimited, u64::from(random.draw(8) != 0));
    let rtt = match random.draw(20) {
        0 => -1,
        _ => 20_000 + random.draw(1 + step % 60_000) as i64,
    };
    if let Ok(rtt) = u32::try_from(rtt) {
        run.set(Member::Srtt, rtt * 8);
        if now.min_rtt == 0 || rtt < now.min_rtt {
            now.min_rtt = rtt;
            if let Some(slot) = run.program.layout.slot(Member::RttMin) {
                run.flow.set_minmax(slot, 0, rtt);
            }
        }
    }
    let delivered = match random.draw(30) {
        0 => -1,
        _ => 1 + random.draw(40) as i64,
    };
    let interval = 1_000 + random.draw(40_000) as i64;
    let prior = i64::from(now.delivered.wrapping_sub(random.draw(50) as u32));
    let app_limited = i64::from(random.draw(10) == 0);
    let program = run.program;
    run.flow
        .write_sample(program, "ack_sample", |field| match field {
            Field::PktsAcked => 1,
            Field::AckRtt => rtt,
            Field::AckInFlight => cwnd.into(),
            _ => 0,
        });
    run.call(Operation::PktsAcked, Arguments::Sample);
    run.flow
        .write_sample(program, "rate_sample", |field| match field {
            Field::AckedSacked => 1,
            Field::RateDelivered => delivered,
            Field::Interval => interval,
            Field::RateRtt => rtt,
            Field::PriorDelivered => prior,
            Field::IsAppLimited => app_limited,
            _ => 0,
        });
    let ack = u64::from(now.una);
    run.call(Operation::CongControl, Arguments::NumbersSample(ack, 0));
    run.call(Operation::CongAvoid, Arguments::Numbers(ack, segments));
}

#[test]
fn every_control_of_the_repository_does_as_its_native_build() {
    for (file, variable) in [
        ("coin.bpf.c", "coin"),
        ("newzag.bpf.c", "newzag"),
        ("veno.bpf.c", "veno"),
        ("westwood.bpf.c", "westwood"),
        ("examples/cubic.bpf.c", "cubic"),
        ("examples/paced.bpf.c", "paced"),
    ] {
        // The kernel's type widths differ with the instruction set: 32-bit jumps and moves.
        for cpu in ["-mcpu=v1", "-mcpu=v2", "-mcpu=v3"] {
            if cpu != "-mcpu=v3" && !file.contains("cubic") {
                continue;
            }
            let source = compile::sources().join(file);
            let Some(calls) = compare(&source, variable, &[cpu]) else {
                return;
            };
            assert!(calls > EVENTS, "{file}: {calls}");
        }
    }
}
