//! Best start's file: what it answers, what it keeps, and what becomes of it when things go wrong.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use airtcp_sessions::{Cell, Limits, Sessions, Warning};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
/// Wednesday, 1 July 2026, 12:00 UTC.
const NOON: i64 = 1_782_907_200;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("sessions");
    (folder, file)
}

fn open(file: &std::path::Path) -> Sessions {
    let (sessions, warning) = Sessions::open(file, Limits::default());
    assert_eq!(warning, None);
    sessions
}

/// By the calendar.
#[test]
fn cells_are_local_time() {
    let cell = |offset| Cell::at(NOON, offset);
    assert_eq!((cell(0).month, cell(0).weekday, cell(0).hour), (7, 3, 12));
    let tokyo = cell(13 * 3600);
    assert_eq!((tokyo.weekday, tokyo.hour), (4, 1), "the day after");
    assert_eq!(Cell::at(i64::MAX, 0).month, 1);
    let weeks = [0_i64, 6, 7, 27, 28, 30].map(|days| Cell::at(NOON + days * DAY, 0).week);
    assert_eq!(weeks, [1, 1, 2, 4, 5, 5]);
}

#[test]
fn another_week_of_the_month_counts_where_its_own_is_unknown() {
    let (_folder, file) = place();
    let mut sessions = open(&file);
    for window in [40, 50, 60] {
        sessions.record("peer", NOON, 0, window).expect("written");
        let second_week = NOON + 7 * DAY;
        sessions
            .record("peer", second_week, 0, 90)
            .expect("written");
    }
    let in_week = |week: i64| sessions.initial_window("peer", NOON + (week - 1) * 7 * DAY, 0);
    assert_eq!(in_week(1), Ok(Some(50)));
    assert_eq!(in_week(2), Ok(Some(90)));
    assert_eq!(in_week(3), Ok(Some(60)), "of 40 50 60 90 90 90");
}

#[test]
fn the_closest_cell_with_enough_sessions_answers() {
    let (_folder, file) = place();
    let mut sessions = open(&file);
    let mut record = |at: i64, window| sessions.record("peer", at, 0, window).expect("written");
    // The same hour of the same weekday in the same month, then other days, then other hours.
    for (at, window) in [(0, 40), (-7 * DAY + DAY * 7, 50), (HOUR / 2, 60)] {
        record(NOON + at, window);
    }
    for day in 1..4 {
        record(NOON - day * DAY, 20);
        record(NOON - day * DAY + 5 * HOUR, 10);
        record(NOON - day * DAY + 5 * HOUR, 8);
    }
    let at = |at| sessions.initial_window("peer", at, 0).expect("read");
    assert_eq!(at(NOON), Some(50), "the median of this very cell");
    assert_eq!(at(NOON + DAY), Some(20), "the same hour on other days");
    assert_eq!(
        at(NOON + 9 * HOUR),
        Some(10),
        "any time: 8 8 8 10 10 10 20 …"
    );
    assert_eq!(sessions.initial_window("other", NOON, 0), Ok(None));
}

#[test]
fn two_sessions_are_not_enough() {
    let (_folder, file) = place();
    let mut sessions = open(&file);
    for _ in 0..2 {
        sessions.record("peer", NOON, 0, 40).expect("written");
        assert_eq!(sessions.initial_window("peer", NOON, 0), Ok(None));
    }
    sessions.record("peer", NOON, 0, 40).expect("written");
    assert_eq!(sessions.initial_window("peer", NOON, 0), Ok(Some(40)));
}

#[test]
fn old_sessions_do_not_count_and_go() {
    let (_folder, file) = place();
    let mut sessions = open(&file);
    for _ in 0..3 {
        sessions
            .record("peer", NOON - 100 * DAY, 0, 40)
            .expect("written");
    }
    assert_eq!(sessions.initial_window("peer", NOON, 0), Ok(None));
    assert_eq!(sessions.count(), Ok(3));
    sessions.record("other", NOON, 0, 40).expect("written");
    assert_eq!(sessions.count(), Ok(1));
}

#[test]
fn the_file_stays_small() {
    let (_folder, file) = place();
    let limits = Limits {
        sessions: 50,
        of_a_peer: 20,
        ..Limits::default()
    };
    let (mut sessions, _) = Sessions::open(&file, limits);
    for index in 0..100 {
        sessions.record("one", NOON + index, 0, 1).expect("written");
    }
    assert_eq!(sessions.count(), Ok(20));
    for index in 0..100 {
        let peer = format!("peer {index}");
        sessions
            .record(&peer, NOON + 100 + index, 0, 2)
            .expect("written");
    }
    assert_eq!(sessions.count(), Ok(50));
    assert_eq!(
        sessions.initial_window("one", NOON, 0),
        Ok(None),
        "the oldest go first"
    );
}

#[test]
fn many_write_and_read_at_once() {
    let (_folder, file) = place();
    drop(open(&file));
    thread::scope(|scope| {
        for writer in 0..4 {
            let file = &file;
            scope.spawn(move || {
                let mut sessions = open(file);
                for index in 0..50 {
                    sessions
                        .record("peer", NOON + index, 0, writer)
                        .expect("written while others write");
                }
            });
            scope.spawn(move || {
                let sessions = open(file);
                for _ in 0..50 {
                    sessions
                        .initial_window("peer", NOON, 0)
                        .expect("read while others write");
                }
            });
        }
    });
    assert_eq!(open(&file).count(), Ok(200));
}

#[test]
fn a_file_of_anything_else_stays_as_it_is() {
    // A database of another program (SQLite's Database File Format §1.3, application ID).
    let mut foreign = b"SQLite format 3\0".to_vec();
    foreign.resize(4096, 0);
    foreign[68..72].copy_from_slice(b"else");
    for content in [
        b"not a database at all, but long enough to look at: ".repeat(50),
        b"SQLite format 3\0 and then nonsense".repeat(50),
        foreign,
    ] {
        let (folder, file) = place();
        std::fs::write(&file, &content).expect("written");
        let (mut sessions, warning) = Sessions::open(&file, Limits::default());
        let text = warning.expect("a warning").to_string();
        assert!(text.contains("sessions: "), "{text}");
        assert!(text.contains("in memory only"), "{text}");
        sessions.record("peer", NOON, 0, 1).expect("in memory");
        drop(sessions);
        assert_eq!(std::fs::read(&file).expect("still there"), content);
        let files = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(files, 1, "no other file was made");
    }
}

/// A copy that lost its tail, as after a full disk, keeps the rest, and can be continued.
#[test]
fn a_file_without_its_tail_keeps_the_rest() {
    let (_folder, file) = place();
    let mut sessions = open(&file);
    for index in 0..2000 {
        sessions
            .record(&format!("peer {index}"), NOON + index, 0, 1)
            .expect("written");
    }
    let content = std::fs::read(&file).expect("it is there");
    let half = &content[..content.len() / 2];
    std::fs::write(&file, half).expect("written");
    let lines = half.iter().filter(|&&byte| byte == b'\n').count();
    let rest = u32::try_from(lines - 1).expect("few");
    assert_eq!(open(&file).count(), Ok(rest));
    sessions.record("peer", NOON, 0, 1).expect("written");
    assert_eq!(open(&file).count(), Ok(rest + 1));
}

/// A damaged line, and a file of SQLite that an earlier version of airtcp wrote.
#[test]
fn a_damaged_file_is_set_aside() {
    let mut earlier = b"SQLite format 3\0".to_vec();
    earlier.resize(4096, 0);
    earlier[68..72].copy_from_slice(b"airt");
    let damaged = b"airtcp sessions 2\n[\"peer\",1,0,7]\n[\"peer\",\0\0\0]\n".to_vec();
    for (content, reason) in [(damaged, "damaged"), (earlier, "an earlier version")] {
        let (_folder, file) = place();
        std::fs::write(&file, content).expect("written");
        let (mut sessions, warning) = Sessions::open(&file, Limits::default());
        let Some(Warning::SetAside { reason: found, .. }) = warning else {
            panic!("{warning:?}");
        };
        assert!(found.contains(reason), "{found}");
        assert_eq!(sessions.count(), Ok(0));
        sessions.record("peer", NOON, 0, 1).expect("written");
        assert_eq!(open(&file).count(), Ok(1));
    }
}

/// Deleted sessions leave the file, and others that have it open go on.
#[test]
fn the_file_is_rewritten_without_deleted_sessions() {
    let (folder, file) = place();
    let limits = Limits {
        of_a_peer: 10,
        ..Limits::default()
    };
    let (mut one, _) = Sessions::open(&file, limits);
    let (mut other, _) = Sessions::open(&file, limits);
    for index in 0..3000 {
        one.record("peer", NOON + index, 0, 1).expect("written");
    }
    let length = std::fs::metadata(&file).expect("it is there").len();
    assert!(length < 50_000, "{length} bytes");
    other.record("other", NOON + 3000, 0, 1).expect("written");
    assert_eq!((one.count(), other.count()), (Ok(11), Ok(11)));
    let files = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(files, 1);
}

#[test]
fn a_folder_that_is_not_there_is_no_reason_to_stop() {
    let (folder, _) = place();
    let file = folder.path().join("missing/sessions");
    let (mut sessions, warning) = Sessions::open(&file, Limits::default());
    assert!(
        matches!(warning, Some(Warning::InMemory { .. })),
        "{warning:?}"
    );
    sessions.record("peer", NOON, 0, 1).expect("in memory");
    assert_eq!(sessions.count(), Ok(1));
}

/// What the child of the next test does, in a process of its own: never the same peer twice, so
/// that nothing is deleted, and not for ever, should nobody kill it.
#[test]
#[ignore = "run by a_killed_writer_loses_nothing_that_was_written"]
fn write_many() {
    let file = PathBuf::from(std::env::var("AIRTCP_SESSIONS_FILE").expect("told which"));
    let mut sessions = open(&file);
    for index in 0..20_000 {
        let peer = format!("{} {index}", std::process::id());
        sessions.record(&peer, NOON, 0, 7).expect("written");
    }
}

#[test]
fn a_killed_writer_loses_nothing_that_was_written() {
    let (_folder, file) = place();
    drop(open(&file));
    let mut before = 0;
    for _ in 0..3 {
        let program = std::env::current_exe().expect("this test");
        let mut child = Command::new(program)
            .args(["--ignored", "--exact", "write_many"])
            .env("AIRTCP_SESSIONS_FILE", &file)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        // Until it has written something, or half a minute.
        let reader = open(&file);
        for _ in 0..6000 {
            if reader.count().is_ok_and(|count| count > before) {
                break;
            }
            thread::sleep(Duration::from_millis(5));
        }
        // SIGKILL, in the middle of whatever it writes.
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        let after = open(&file).count().expect("read");
        assert!(after > before, "{after} after {before}");
        before = after;
    }
}
