//! `[tcp]`: a profile, and what differs from it.

use airtcp_tcp::config::{CongestionControl, DelayedAckConfig, SpuriousDetection, TimeoutConfig};
use airtcp_tcp::{Config, Profile};
use airtcp_units::ByteCount;

use crate::scenario::bounded::{Limit, Real, Whole, Within};
use crate::scenario::document::TcpTable;
use crate::scenario::error::Problem;

/// Bytes that the timestamps option takes of each segment (RFC 7323 §3.2, appendix A).
const TIMESTAMPS_BYTES: u32 = 12;
/// Largest IPv4 packet less the IPv4 and TCP headers without options.
const LARGEST_PAYLOAD: u32 = 65_495;

/// The endpoint's configuration; fills in what the profile gives.
pub(super) fn resolve(table: &mut TcpTable) -> Result<Config, Problem> {
    let profile: Profile = (*table.profile.get_or_insert(Profile::default().into())).into();
    let of_profile = profile.config();
    if table.dsack == Some(true) && !table.sack.unwrap_or(of_profile.sack) {
        return Err(Problem::at(
            "tcp.dsack",
            "needs selective acknowledgments, which carry it; set tcp.sack = true as well",
        ));
    }
    let sack = *table.sack.get_or_insert(of_profile.sack);
    if sack {
        table.dsack.get_or_insert(of_profile.dsack);
    }
    let config = Config {
        mss: whole(&mut table.mss, of_profile.mss),
        initial_window: whole(&mut table.initial_window, of_profile.initial_window),
        initial_ssthresh: table
            .initial_ssthresh
            .get_or_insert(
                of_profile
                    .initial_ssthresh
                    .map(|bytes| Within::clamped(ByteCount::from_bytes(bytes)))
                    .into(),
            )
            .at()
            .map(|bytes| bytes.get().as_bytes()),
        max_window: table
            .max_window
            .get_or_insert(Limit::from(
                of_profile
                    .max_window
                    .map(|segments| Whole::clamped(segments.into())),
            ))
            .get_u32(),
        receive_buffer: table
            .receive_buffer
            .get_or_insert(Within::clamped(ByteCount::from_bytes(
                of_profile.receive_buffer,
            )))
            .get()
            .as_bytes(),
        sack,
        // Without SACK it says nothing yet; a remedy may still bring SACK.
        dsack: table.dsack.unwrap_or(of_profile.dsack),
        timestamps: *table.timestamps.get_or_insert(of_profile.timestamps),
        timestamp_tick: table
            .timestamp_tick
            .get_or_insert(Within::clamped(of_profile.timestamp_tick))
            .get(),
        congestion: congestion(table, of_profile.congestion),
        slow_start: (*table.slow_start.get_or_insert(of_profile.slow_start.into())).into(),
        loss_detection: (*table
            .loss_detection
            .get_or_insert(of_profile.loss_detection.into()))
        .into(),
        tail_loss_probe: *table
            .tail_loss_probe
            .get_or_insert(of_profile.tail_loss_probe),
        reduction: (*table.reduction.get_or_insert(of_profile.reduction.into())).into(),
        reduction_base: (*table
            .reduction_base
            .get_or_insert(of_profile.reduction_base.into()))
        .into(),
        window_validation: (*table
            .window_validation
            .get_or_insert(of_profile.window_validation.into()))
        .into(),
        restart_after_idle: *table
            .restart_after_idle
            .get_or_insert(of_profile.restart_after_idle),
        nagle: *table.nagle.get_or_insert(of_profile.nagle),
        pacing: *table.pacing.get_or_insert(of_profile.pacing),
        spurious_detection: SpuriousDetection {
            eifel: *table
                .eifel
                .get_or_insert(of_profile.spurious_detection.eifel),
            frto: *table
                .f_rto
                .get_or_insert(of_profile.spurious_detection.frto),
            dsack: *table
                .dsack_undo
                .get_or_insert(of_profile.spurious_detection.dsack),
        },
        spurious_response: (*table
            .spurious_response
            .get_or_insert(of_profile.spurious_response.into()))
        .into(),
        // Only remedies bring these.
        differentiation: of_profile.differentiation,
        link_feedback: of_profile.link_feedback,
        limits: of_profile.limits,
        // Set for each flow from the run's seed.
        seed: of_profile.seed,
        recovery: (*table.recovery.get_or_insert(of_profile.recovery.into())).into(),
        duplicate_ack_threshold: whole(
            &mut table.duplicate_ack_threshold,
            of_profile.duplicate_ack_threshold,
        ),
        limited_transmit: *table
            .limited_transmit
            .get_or_insert(of_profile.limited_transmit),
        retransmission: (*table
            .retransmission
            .get_or_insert(of_profile.retransmission.into()))
        .into(),
        window_growth: (*table
            .window_growth
            .get_or_insert(of_profile.window_growth.into()))
        .into(),
        growth_credit: (*table
            .growth_credit
            .get_or_insert(of_profile.growth_credit.into()))
        .into(),
        slow_start_limit: whole(&mut table.slow_start_limit, of_profile.slow_start_limit),
        slow_start_limit_after_timeout: whole(
            &mut table.slow_start_limit_after_timeout,
            of_profile.slow_start_limit_after_timeout,
        ),
        partial_ack_timer: (*table
            .partial_ack_timer
            .get_or_insert(of_profile.partial_ack_timer.into()))
        .into(),
        timer_restart: (*table
            .timer_restart
            .get_or_insert(of_profile.timer_restart.into()))
        .into(),
        reported_rtt: (*table
            .reported_rtt
            .get_or_insert(of_profile.reported_rtt.into()))
        .into(),
        late_reports: (*table
            .late_reports
            .get_or_insert(of_profile.late_reports.into()))
        .into(),
        reneging: (*table.reneging.get_or_insert(of_profile.reneging.into())).into(),
        timeout: timeout(table, of_profile.timeout),
        delayed_ack: delayed_ack(table, of_profile.delayed_ack),
    };
    check(&config, "")?;
    Ok(config)
}

/// What no endpoint can do, whoever asks for it: the keys of `[tcp]`, or `asked_by` if not empty.
pub(super) fn check(config: &Config, asked_by: &str) -> Result<(), Problem> {
    let problem = |key: &str, message: String| {
        if asked_by.is_empty() {
            Problem::at(format!("tcp.{key}"), message)
        } else {
            Problem::at(asked_by, format!("tcp.{key}: {message}"))
        }
    };
    let TimeoutConfig {
        min, max, initial, ..
    } = config.timeout;
    if max < min {
        return Err(problem(
            "max_rto",
            format!("expected at least tcp.min_rto, which is {min}; change one of them"),
        ));
    }
    if initial > max {
        return Err(problem(
            "initial_rto",
            format!("expected at most tcp.max_rto, which is {max}; change one of them"),
        ));
    }
    let options = if config.timestamps {
        TIMESTAMPS_BYTES
    } else {
        0
    };
    if config.mss > LARGEST_PAYLOAD - options {
        return Err(problem(
            "mss",
            format!(
                "expected at most {} with timestamps, which take {options} bytes of a segment",
                LARGEST_PAYLOAD - options
            ),
        ));
    }
    Ok(())
}

fn whole<const MIN: u64, const MAX: u64>(
    key: &mut Option<Whole<MIN, MAX>>,
    of_profile: u32,
) -> u32 {
    key.get_or_insert(Whole::clamped(of_profile.into()))
        .get_u32()
}

fn real<const MIN: i64, const MAX: i64>(key: &mut Option<Real<MIN, MAX>>, of_profile: f64) -> f64 {
    key.get_or_insert(Real::clamped(of_profile)).get()
}

fn timeout(table: &mut TcpTable, of_profile: TimeoutConfig) -> TimeoutConfig {
    let max = table
        .max_rto
        .get_or_insert(Within::clamped(of_profile.max))
        .get();
    // A ceiling that is set below the usual first timeout lowers it.
    let initial = of_profile.initial.min(max);
    TimeoutConfig {
        mean_gain: real(&mut table.rtt_mean_gain, of_profile.mean_gain),
        deviation_gain: real(&mut table.rtt_deviation_gain, of_profile.deviation_gain),
        factor: real(&mut table.rto_factor, of_profile.factor),
        min: table
            .min_rto
            .get_or_insert(Within::clamped(of_profile.min))
            .get(),
        max,
        initial: table
            .initial_rto
            .get_or_insert(Within::clamped(initial))
            .get(),
        granularity: table
            .rto_granularity
            .get_or_insert(Within::clamped(of_profile.granularity))
            .get(),
        estimation: (*table
            .rtt_estimation
            .get_or_insert(of_profile.estimation.into()))
        .into(),
        sampling: (*table.rtt_sampling.get_or_insert(of_profile.sampling.into())).into(),
        deviation_from: (*table
            .deviation_from
            .get_or_insert(of_profile.deviation_from.into()))
        .into(),
        back_off: *table.rto_back_off.get_or_insert(of_profile.back_off),
        scope: (*table.timer.get_or_insert(of_profile.scope.into())).into(),
    }
}

fn delayed_ack(table: &mut TcpTable, of_profile: DelayedAckConfig) -> DelayedAckConfig {
    let table = table.delayed_ack.get_or_insert_default();
    DelayedAckConfig {
        segments: whole(&mut table.segments, of_profile.segments),
        timeout: table
            .timeout
            .get_or_insert(Within::clamped(of_profile.timeout))
            .get(),
        quick: whole(&mut table.quick, of_profile.quick),
    }
}

/// The profile's own values stay where the name is the profile's.
fn congestion(table: &mut TcpTable, of_profile: CongestionControl) -> CongestionControl {
    let name = *table.congestion_control.get_or_insert(of_profile.into());
    if name == of_profile.into() {
        of_profile
    } else {
        name.into()
    }
}
