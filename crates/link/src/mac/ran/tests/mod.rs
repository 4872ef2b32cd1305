mod cell;
mod schedulers;
mod uplink;
mod urgent;

use std::num::NonZeroU32;

use airtcp_units::{Duration, Instant, Probability};

use super::Ran;
use super::config::{
    CarrierConfig, CqiConfig, Generation, HarqConfig, OuterLoopConfig, PdcpConfig, RanConfig,
    RlcConfig, RlcMode, UplinkConfig,
};
use super::frame_structure::{FrameStructure, SlotDirection};
use super::grid::{Grid, lte_group_size};
use super::transport_block::{BlockFormat, McsTable, Resources, SharedChannel};
use crate::fading::{Fading, Radio, RadioConfig};
use crate::frame::{ACCESS_POINT, Offer, Outcome, PacketClass, RetryLimit};
use crate::mac::Medium;
use crate::mac::cellular::Scheduler;
use crate::queue::{Discipline, QueueLimit};
use crate::random::Stream;

/// A user with a mean signal-to-noise ratio of `snr_db`, in `subbands` subbands.
fn radio(snr_db: f64, fading: Fading, user: u64, subbands: u64) -> Vec<Radio> {
    let config = RadioConfig {
        carrier_hz: 1.8e9,
        transmit_power_dbm: snr_db,
        noise_dbm: 0.0,
        path_loss_exponent: 0.0,
        loss_at_1_m_db: Some(0.0),
        shadowing_db: 0.0,
        shadowing_distance_m: None,
        fading,
    };
    let stream = Stream::new(4, "users").substream(user);
    (0..subbands)
        .map(|subband| Radio::in_subband(&config, 1.0, stream, subband).unwrap())
        .collect()
}

fn attempts(most: u32) -> RetryLimit {
    RetryLimit::Attempts(NonZeroU32::new(most).unwrap())
}

/// LTE of 10 MHz in FDD, one transport block each millisecond.
fn lte(radios: Vec<Vec<Radio>>) -> RanConfig {
    let grid = Grid::new(50, lte_group_size(50), radios[0].len() as u32);
    let channel = |channel| CarrierConfig {
        grid,
        format: BlockFormat {
            channel,
            table: McsTable::Qam64,
        },
    };
    RanConfig {
        frame: FrameStructure {
            slot: Duration::from_millis(1),
            pattern: Vec::new(),
            processing: 3,
        },
        down: channel(SharedChannel::LtePdsch { elements: 120 }),
        up: channel(SharedChannel::LtePusch { elements: 144 }),
        scheduler: Scheduler::RoundRobin,
        gap_db: 3.0,
        cqi: CqiConfig {
            period: NonZeroU32::MIN,
            delay: 0,
        },
        outer_loop: OuterLoopConfig {
            target: Probability::new(0.1).unwrap(),
            step_db: 0.0,
        },
        harq: HarqConfig {
            processes: NonZeroU32::new(8).unwrap(),
            transmissions: attempts(4),
            nack_to_ack: Probability::NEVER,
        },
        generation: Generation::Lte,
        rlc: RlcConfig {
            mode: RlcMode::Acknowledged,
            window: NonZeroU32::new(512).unwrap(),
            poll_pdu: NonZeroU32::new(64),
            poll_byte: Some(750_000),
            poll_retransmit: Duration::from_millis(120),
            status_prohibit: Duration::from_millis(50),
            reordering: Duration::from_millis(50),
            max_retransmissions: attempts(32),
        },
        pdcp: PdcpConfig {
            discard: None,
            reordering: Duration::from_millis(50),
        },
        uplink: UplinkConfig {
            request_period: NonZeroU32::new(10).unwrap(),
            request_grant: 150,
            queue: QueueLimit::Unlimited,
            power_offset_db: 0.0,
        },
        drx: None,
        handover: None,
        reestablishment: Duration::from_millis(200),
        outage: None,
        radios,
        saturated: 0,
        sessions: None,
        queue: QueueLimit::Unlimited,
        discipline: Discipline::DropTail,
        order: None,
        report_retries: false,
    }
}

/// NR of 20 MHz at 30 kHz, a DDDSU pattern with the special slot as one of the downlink.
fn nr(radios: Vec<Vec<Radio>>) -> RanConfig {
    let base = lte(radios);
    let grid = Grid::new(51, 4, base.radios[0].len() as u32);
    let carrier = CarrierConfig {
        grid,
        format: BlockFormat {
            channel: SharedChannel::Nr(Resources {
                symbols: 12,
                dmrs: 12,
                overhead: 0,
                layers: 1,
            }),
            table: McsTable::Qam64,
        },
    };
    use SlotDirection::{Down, Up};
    RanConfig {
        frame: FrameStructure {
            slot: Duration::from_micros(500),
            pattern: vec![Down, Down, Down, Down, Up],
            processing: 3,
        },
        down: carrier,
        up: carrier,
        harq: HarqConfig {
            processes: NonZeroU32::new(16).unwrap(),
            ..base.harq
        },
        generation: Generation::Nr,
        rlc: RlcConfig {
            window: NonZeroU32::new(131_072).unwrap(),
            poll_pdu: NonZeroU32::new(4),
            ..base.rlc
        },
        ..base
    }
}

fn unacknowledged(config: RanConfig) -> RanConfig {
    RanConfig {
        rlc: RlcConfig {
            mode: RlcMode::Unacknowledged,
            ..config.rlc
        },
        ..config
    }
}

fn offer(bytes: u32) -> Offer {
    Offer {
        bytes,
        flow: 0,
        class: PacketClass::Data,
        urgency: None,
    }
}

/// Fate of each packet: number, time, attempts, outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Delivered,
    Lost,
    Dropped,
}

type Fate = (u64, Instant, End);

/// Takes the outcomes that are known at `now`.
fn collect(ran: &mut Ran<u64>, now: Instant, fates: &mut Vec<Fate>) {
    while let Some(outcome) = ran.poll() {
        match outcome {
            Outcome::Delivered { packet, .. } => fates.push((packet, now, End::Delivered)),
            Outcome::Discarded { packet, .. } => fates.push((packet, now, End::Lost)),
            Outcome::Dropped { packet } => fates.push((packet, now, End::Dropped)),
            Outcome::Retried { .. } | Outcome::Acknowledged { .. } => {}
        }
    }
}

/// Runs until `end` or until nothing is left to do.
fn run(ran: &mut Ran<u64>, end: Instant, fates: &mut Vec<Fate>) {
    while ran.next_wakeup() <= end && ran.next_wakeup() < Instant::FAR_FUTURE {
        let now = ran.next_wakeup();
        ran.on_wakeup(now, &mut ());
        collect(ran, now, fates);
    }
}

/// Hands over packets of 1500 bytes for user 1 (or from it) at the given times and runs to the end.
fn transfer(config: &RanConfig, way: (u32, u32), times: &[Instant]) -> Vec<Fate> {
    let mut ran = Ran::new(config, Stream::new(1, "cell")).unwrap();
    let mut fates = Vec::new();
    for (packet, at) in (0..).zip(times) {
        while ran.next_wakeup() < *at {
            let now = ran.next_wakeup();
            ran.on_wakeup(now, &mut ());
            collect(&mut ran, now, &mut fates);
        }
        assert!(ran.push(*at, way, offer(1500), packet, &mut ()));
    }
    let end = Instant::ZERO + Duration::from_secs(3600);
    run(&mut ran, end, &mut fates);
    assert_eq!(
        ran.next_wakeup(),
        Instant::FAR_FUTURE,
        "it does not come to rest"
    );
    fates
}

const DOWN: (u32, u32) = (ACCESS_POINT, 1);
const UP: (u32, u32) = (1, ACCESS_POINT);
