//! Any bytes are a trace or one clear error, and an accepted trace can be replayed.

#![no_main]

use airtcp_link::{
    Delay, Discipline, ErrorModel, MahimahiTrace, Pipe, PipeConfig, QueueLimit, Service, Stream,
    Transmission,
};
use airtcp_units::{Duration, Instant};
use libfuzzer_sys::fuzz_target;
use std::sync::Arc;

fuzz_target!(|bytes: &[u8]| {
    let trace = match MahimahiTrace::parse(bytes, "fuzz") {
        Ok(trace) => trace,
        Err(error) => {
            assert!(error.to_string().len() < 500, "{error}");
            return;
        }
    };
    assert!(trace.opportunities_ms().is_sorted());
    assert!(trace.period_ms() > 0);
    let period = Duration::from_millis(trace.period_ms());
    let mut pipe = Pipe::new(
        PipeConfig {
            fec: None,
            policer: None,
            service: Service::Mahimahi(Arc::new(trace)),
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            error: ErrorModel::None,
            delay: Delay::Constant(Duration::ZERO),
        },
        Stream::new(0, "fuzz"),
    );
    // Packets of all kinds, on a busy link and after idle gaps longer than the trace.
    let mut now = Instant::ZERO;
    for (index, bytes) in (0..).zip([1500, 40, 1, 9000, 1500, 700]) {
        let transmission = Transmission {
            bytes,
            flow: 0,
            index,
        };
        pipe.push(now, transmission, now.as_nanos());
        if index % 2 == 1 {
            now = now + period + period + Duration::from_micros(index * 333);
        }
    }
    let mut last = Instant::ZERO;
    while pipe.in_flight() > 0 {
        let arrival = pipe.next_wakeup();
        let sent = Instant::from_nanos(pipe.pop(arrival).expect("it has arrived"));
        assert!(sent < arrival && last <= arrival && arrival < Instant::FAR_FUTURE);
        last = arrival;
    }
});
