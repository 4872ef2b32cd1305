//! The retransmissions of the largest flow of a capture, labelled:
//! `cargo run -p airtcp-capture --example labels -- FILE`, or `-` for a pipe.

use std::path::Path;
use std::process::ExitCode;

use airtcp_capture::analysis::Limit;
use airtcp_capture::{Capture, Limits};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("labels: expected a capture, or - for standard input");
        return ExitCode::FAILURE;
    };
    match Capture::read(
        Path::new(&path),
        None,
        None,
        &Limits::default(),
        &mut |_| true,
    ) {
        Ok(capture) if std::env::args().nth(2).is_some() => {
            for sent in capture.analysis.iter().flat_map(|analysis| &analysis.sent) {
                println!("{},{}", sent.number, sent.index);
            }
            ExitCode::SUCCESS
        }
        Ok(capture) => {
            print(&capture);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}

fn print(capture: &Capture) {
    for flow in capture.survey.by_size().iter().take(10) {
        println!(
            "# flow {}: {} to {}, {} bytes: {}",
            flow.number,
            flow.client,
            flow.server,
            flow.bytes(),
            flow.verdict()
        );
    }
    let Some(analysis) = &capture.analysis else {
        return;
    };
    println!("# captured at the {}", analysis.vantage.place.name());
    for limit in Limit::ALL {
        println!(
            "# {}: {:.3} ({} s)",
            limit.name(),
            analysis.shares.share(limit),
            analysis.shares.time(limit).as_secs_f64()
        );
    }
    for stop in &analysis.stops {
        println!("# stop from {} to {}", stop.start, stop.end);
    }
    for bin in &analysis.hazard.bins {
        println!(
            "# queue of {} to {} bytes: {} transmissions, {} lost",
            bin.low, bin.high, bin.transmissions, bin.lost
        );
    }
    for refusal in &analysis.refusals {
        println!("# not said: {}; {}", refusal.reason, refusal.remedy);
    }
    println!(
        "packet,index,original,start,attempt,trigger,backoff,verdict,evidence,cause,loss,queue"
    );
    for label in &analysis.labels {
        println!(
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            label.number,
            analysis.sent[label.sent].index,
            label.original.unwrap_or(0),
            label.start,
            label.attempt,
            label.trigger.name(),
            label.backoff,
            label.need.name(),
            label.evidence.name(),
            label.cause.name(),
            label.loss.map_or("", |loss| loss.name()),
            label.queue_bytes.unwrap_or(0)
        );
    }
}
