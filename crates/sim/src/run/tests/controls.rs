//! A control that is not compiled in: its lines in the qlog, and its last call.

use airtcp_tcp::config::CongestionControl;
use airtcp_tcp::external::{Call, ExternalControl, Operations, Socket, Source};
use airtcp_units::Instant;

use super::*;

/// Halves at a loss, grows by a segment an acknowledgment, and prints a line for each loss and at
/// the end.
#[derive(Clone, Debug, Default)]
struct Talking {
    lines: Vec<(Instant, String)>,
    losses: i128,
}

impl Source for Talking {
    fn name(&self) -> &str {
        "talking"
    }

    fn operations(&self) -> Box<dyn Operations> {
        Box::new(self.clone())
    }
}

impl Operations for Talking {
    fn boxed(&self) -> Box<dyn Operations> {
        Box::new(self.clone())
    }

    fn is_model(&self) -> bool {
        false
    }

    fn call(&mut self, call: Call<'_>, socket: &mut Socket) -> Result<Option<u64>, String> {
        match call {
            Call::Threshold => {
                self.losses += 1;
                let line = format!("loss at {}", socket.cwnd);
                self.lines.push((socket.now, line));
                return Ok(Some(u64::from(socket.cwnd / 2).max(2)));
            }
            Call::Grow(_) => socket.cwnd += 1,
            Call::Release => self.lines.push((socket.now, "released".into())),
            _ => {}
        }
        Ok(None)
    }

    fn counters(&self) -> Vec<(String, i128)> {
        vec![("losses".into(), self.losses)]
    }

    fn message(&self, index: usize) -> Option<(Instant, &str)> {
        let (at, line) = self.lines.get(index)?;
        Some((*at, line))
    }

    fn messages(&self) -> Vec<(Instant, String)> {
        self.lines.clone()
    }
}

#[test]
fn lines_and_counters_of_a_control_are_in_the_qlog_and_its_release_is_the_last() {
    let mut scenario = scenario("duration = '10 s'\nlink.loss.rate = 0.01\ntcp.profile = 'linux'");
    let talking = ExternalControl::keep(Box::new(Talking::default()));
    scenario.tcp.congestion = CongestionControl::External(talking);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.sqlog");
    let observe = Observe {
        qlog: Some(path.clone()),
        ..Observe::default()
    };
    let result = run(&scenario, 1, &observe, &|_| true).expect("a run");
    let report = &result.controls[0];
    let printed: Vec<_> = report.messages.iter().map(|line| &line.text).collect();
    assert!(printed.len() > 3 && printed[0].starts_with("loss at "));
    assert_eq!(
        printed.iter().filter(|line| **line == "released").count(),
        1
    );
    assert_eq!(printed.last().unwrap().as_str(), "released");
    let log = std::fs::read_to_string(path).unwrap();
    let records: Vec<serde_json::Value> = log
        .split('\u{1e}')
        .skip(1)
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let schemas = records[0]["trace"]["event_schemas"].as_array().unwrap();
    assert_eq!(schemas.len(), 2);
    assert!(schemas[1].as_str().unwrap().contains(":loglevel-"));
    let logged: Vec<_> = records
        .iter()
        .filter(|record| record["name"] == "loglevel:info")
        .map(|record| record["data"]["message"].as_str().unwrap())
        .collect();
    let (counter, lines) = logged.split_last().unwrap();
    assert_eq!(lines, printed);
    assert_eq!(*counter, format!("losses = {}", printed.len() - 1));
    let times = records[1..]
        .iter()
        .map(|record| record["time"].as_f64().unwrap());
    assert!(times.is_sorted());
}
