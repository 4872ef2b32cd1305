//! NewZag's classifier in C, as run by the kernel, compared with that in Rust and the exact
//! verdicts of `bpf/cases.csv`: round trips of recorded connections, and a letter for each n from 1
//! to 4.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use airtcp_tcp::loss_differentiation::{
    Cause, Classifier, Differentiation, LossEvent, ZigZagTable,
};
use airtcp_units::{Duration, Instant};

/// A recorded round trip, with the verdicts of NewZag's table and of the adjusted one.
struct Case {
    name: String,
    rtt_us: u64,
    verdicts: [String; 2],
}

fn bpf(file: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../bpf")
        .join(file)
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(bpf("cases.csv")).unwrap();
    let rows: Vec<Case> = text
        .lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            Case {
                name: fields[0].to_owned(),
                rtt_us: fields[1].parse().unwrap(),
                verdicts: [fields[2].to_owned(), fields[3].to_owned()],
            }
        })
        .collect();
    assert!(rows.len() > 1000, "{} cases", rows.len());
    rows
}

/// The letters of all cases, one line each.
fn expected(adjusted: usize) -> String {
    cases().iter().fold(String::new(), |mut text, case| {
        let _ = writeln!(text, "{}", case.verdicts[adjusted]);
        text
    })
}

fn assert_same(found: &str, adjusted: usize) {
    let expected = expected(adjusted);
    assert_eq!(found.lines().count(), expected.lines().count());
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        // The first line of the file names its columns.
        assert_eq!(found, expected, "cases.csv, line {}", number + 2);
    }
}

#[test]
fn the_classifier_in_rust_says_what_the_cases_say() {
    for (adjusted, table) in [ZigZagTable::NEWZAG, ZigZagTable::NEWZAG_ADJUSTED]
        .into_iter()
        .enumerate()
    {
        let choice = Differentiation::ZigZag(table);
        let (mut classifier, mut name, mut found) =
            (Classifier::new(&choice), String::new(), String::new());
        for case in cases() {
            if case.name != name {
                classifier = Classifier::new(&choice);
                name = case.name;
            }
            classifier.on_rtt_sample(Instant::ZERO, Duration::from_micros(case.rtt_us));
            for lost_segments in 1..=4 {
                let event = LossEvent {
                    now: Instant::ZERO,
                    lost_segments,
                    cwnd: 14_480,
                    mss: 1448,
                    offset: 0,
                };
                found.push(match classifier.classify(&event, &()) {
                    Cause::Radio => 'r',
                    Cause::Congestion => 'c',
                });
            }
            found.push('\n');
        }
        assert_same(&found, adjusted);
    }
}

/// Reads "new" and round trips, and writes the letters.
const PROGRAM: &str = r#"
#include <stdio.h>
#include "zigzag.h"

int main(int count, char **words)
{
	struct zigzag z = {0};
	char word[32];
	unsigned int rtt;

	while (scanf("%31s", word) == 1) {
		if (word[0] == 'n') {
			z = (struct zigzag){0};
			continue;
		}
		if (sscanf(word, "%u", &rtt) != 1)
			return 1;
		zigzag_sample(&z, rtt);
		for (unsigned int lost = 1; lost <= 4; lost++)
			putchar(zigzag_is_radio(&z, count > 1, lost) ? 'r' : 'c');
		putchar('\n');
	}
	return 0;
}
"#;

#[test]
fn the_classifier_in_c_says_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let (source, program) = (directory.path().join("run.c"), directory.path().join("run"));
    fs::write(&source, PROGRAM).unwrap();
    let compiled = Command::new("cc")
        .args(["-O2", "-Wall", "-Werror", "-I"])
        .arg(bpf(""))
        .arg("-o")
        .args([&program, &source])
        .output();
    match compiled {
        Err(error) => {
            airtcp_needs::skip(format_args!("cc: {error}"));
            return;
        }
        Ok(output) => assert!(output.status.success(), "{output:?}"),
    }
    let (mut name, mut input) = (String::new(), String::new());
    for case in cases() {
        if case.name != name {
            input.push_str("new\n");
            name = case.name;
        }
        let _ = writeln!(input, "{}", case.rtt_us);
    }
    let words = directory.path().join("words");
    fs::write(&words, input).unwrap();
    for adjusted in 0..2 {
        let output = Command::new(&program)
            .args(["adjusted"].iter().take(adjusted))
            .stdin(fs::File::open(&words).unwrap())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_same(&String::from_utf8(output.stdout).unwrap(), adjusted);
    }
}
