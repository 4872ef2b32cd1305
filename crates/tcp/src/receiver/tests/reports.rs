//! Selective acknowledgments: the examples of RFC 2018 §4 and RFC 2883 §4.

use super::*;

/// The answers to segments of 500 bytes: the cumulative acknowledgment, then the SACK blocks. Each
/// segment is acknowledged: the examples have no delayed acknowledgments.
fn answers(receiver: &mut Receiver, arrivals: &[Range<u64>]) -> Vec<String> {
    arrivals
        .iter()
        .map(|range| {
            receiver.demand_acknowledgment();
            let (ack, blocks) = answer(receiver, range.clone()).expect("demanded");
            let blocks = blocks
                .iter()
                .map(|block| format!(" {}-{}", block.start, block.end));
            format!("{ack}{}", blocks.collect::<String>())
        })
        .collect()
}

/// A receiver that expects byte 5000, as in RFC 2018 §4.
fn from_5000() -> Receiver {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..5000, false);
    receiver.on_ack_sent();
    receiver
}

fn segment(start: u64) -> Range<u64> {
    start..start + 500
}

/// RFC 2018 §4, case 1: the first four of eight arrive.
#[test]
fn rfc_2018_case_1() {
    let arrivals = [5000, 5500, 6000, 6500].map(segment);
    let expected = ["5500", "6000", "6500", "7000"];
    assert_eq!(answers(&mut from_5000(), &arrivals), expected);
}

/// Case 2: the first is lost.
#[test]
fn rfc_2018_case_2() {
    let arrivals = [5500, 6000, 6500, 7000, 7500, 8000, 8500].map(segment);
    let expected = [
        "5000 5500-6000",
        "5000 5500-6500",
        "5000 5500-7000",
        "5000 5500-7500",
        "5000 5500-8000",
        "5000 5500-8500",
        "5000 5500-9000",
    ];
    assert_eq!(answers(&mut from_5000(), &arrivals), expected);
}

/// Case 3: the second, fourth, sixth and eighth are lost; then the fourth arrives, then the second.
#[test]
fn rfc_2018_case_3() {
    let arrivals = [5000, 6000, 7000, 8000, 6500, 5500].map(segment);
    let expected = [
        "5500",
        "5500 6000-6500",
        "5500 7000-7500 6000-6500",
        "5500 8000-8500 7000-7500 6000-6500",
        "5500 6000-7500 8000-8500",
        "7500 8000-8500",
    ];
    assert_eq!(answers(&mut from_5000(), &arrivals), expected);
}

/// RFC 2018 §4: as many as fit, the most recently changed ones repeated; ranges that were pushed
/// out return when there is room.
#[test]
fn four_ranges_fit_and_none_is_forgotten() {
    let mut receiver = receiver();
    let arrivals = [1, 3, 5, 7, 9, 11].map(|number| segment(number * 500));
    assert_eq!(
        answers(&mut receiver, &arrivals)[5],
        "0 5500-6000 4500-5000 3500-4000 2500-3000"
    );
    // 6 joins two ranges: five are left, and the lowest has been pushed out.
    assert_eq!(
        answers(&mut receiver, &[segment(3000)]),
        ["0 2500-4000 5500-6000 4500-5000 500-1000"]
    );
    // 10 joins two more: four are left, and all are reported.
    assert_eq!(
        answers(&mut receiver, &[segment(5000)]),
        ["0 4500-6000 2500-4000 500-1000 1500-2000"]
    );
}

/// Several segments between two acknowledgments, as a driver may pass them in.
#[test]
fn ranges_between_two_acknowledgments_are_all_told() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 500..1000, false);
    for number in 4..9 {
        receiver.on_data(at(0), segment(number * 500), false);
    }
    assert_eq!(
        answers(&mut receiver, &[segment(4500)]),
        ["0 2000-5000 500-1000"]
    );
}

/// A range that grows from the same first byte is remembered once, and pushes out no other.
#[test]
fn a_range_that_grows_is_one_range() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 100..200, false);
    receiver.on_data(at(0), 5000..5100, false);
    for end in [2100, 2200, 2300, 2400] {
        receiver.on_data(at(0), 2000..end, false);
    }
    assert_eq!(
        answers(&mut receiver, std::slice::from_ref(&(2000..2500))),
        ["0 2000-2400 2000-2500 5000-5100 100-200"]
    );
}

/// RFC 2883 §4.1.1, example 1: the acknowledgments were lost.
#[test]
fn rfc_2883_example_1_a_duplicate() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..3000, false);
    let arrivals = [3000, 3500, 3000].map(segment);
    assert_eq!(
        answers(&mut receiver, &arrivals),
        ["3500", "4000", "4000 3000-3500"]
    );
    receiver.demand_acknowledgment();
    assert_eq!(
        answers(&mut receiver, &[segment(4000)]),
        ["4500"],
        "told once"
    );
}

/// Example 2: out-of-order data, and a duplicate below.
#[test]
fn rfc_2883_example_2_a_duplicate_and_a_gap() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..3000, false);
    let arrivals = [3000, 3500, 4500, 3000].map(segment);
    let expected = ["3500", "4000", "4000 4500-5000", "4000 3000-3500 4500-5000"];
    assert_eq!(answers(&mut receiver, &arrivals), expected);
}

/// Example 3: a duplicate of an out-of-order segment.
#[test]
fn rfc_2883_example_3_a_duplicate_above_the_gap() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..3500, false);
    let arrivals = [3500, 4500, 5000, 5000].map(segment);
    let expected = [
        "4000",
        "4000 4500-5000",
        "4000 4500-5500",
        "4000 5000-5500 4500-5500",
    ];
    assert_eq!(answers(&mut receiver, &arrivals), expected);
}

/// §4.2.1, example 4: part of a larger segment is a duplicate.
#[test]
fn rfc_2883_example_4_a_partial_duplicate() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..500, false);
    let arrivals = [500..1000, 2000..2500, 1000..1500, 1000..2000];
    let expected = ["1000", "1000 2000-2500", "1500 2000-2500", "2500 1000-1500"];
    assert_eq!(answers(&mut receiver, &arrivals), expected);
}

/// §4.2.2, example 5: two parts are duplicates, both below the acknowledgment: the first is
/// reported.
#[test]
fn rfc_2883_example_5_two_partial_duplicates_below() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..500, false);
    let arrivals = [500..1000, 3000..3500, 1000..1500, 2000..2500, 1000..2500];
    let expected = [
        "1000",
        "1000 3000-3500",
        "1500 3000-3500",
        "1500 2000-2500 3000-3500",
        "2500 1000-1500 3000-3500",
    ];
    assert_eq!(answers(&mut receiver, &arrivals), expected);
}

/// §4.2.3, example 6: two parts are duplicates, both above it.
#[test]
fn rfc_2883_example_6_two_partial_duplicates_above() {
    let mut receiver = receiver();
    receiver.on_data(at(0), 0..500, false);
    let arrivals = [500..1000, 3500..4000, 1500..2000, 2500..3000, 1500..3000];
    let expected = [
        "1000",
        "1000 3500-4000",
        "1000 1500-2000 3500-4000",
        "1000 2500-3000 1500-2000 3500-4000",
        "1000 1500-2000 1500-3000 3500-4000",
    ];
    assert_eq!(answers(&mut receiver, &arrivals), expected);
}

/// A duplicate above the gap is reported together with at most three ranges.
#[test]
fn a_duplicate_takes_the_place_of_a_range() {
    let mut receiver = receiver();
    let arrivals = [1, 3, 5, 7, 3].map(|number| segment(number * 500));
    assert_eq!(
        answers(&mut receiver, &arrivals)[4],
        "0 1500-2000 1500-2000 3500-4000 2500-3000"
    );
    assert_eq!(
        answers(&mut receiver, &[segment(500)])[0],
        "0 500-1000 500-1000 1500-2000 3500-4000"
    );
}

#[test]
fn duplicates_need_not_be_told() {
    let mut receiver = Receiver::new(
        &Config {
            dsack: false,
            ..config()
        },
        500,
    );
    let arrivals = [0, 0, 1000, 1000].map(segment);
    let expected = ["500", "500", "500 1000-1500", "500 1000-1500"];
    assert_eq!(answers(&mut receiver, &arrivals), expected);
    assert_eq!(receiver.duplicates(), 2);
}

#[test]
fn without_sack_nothing_is_reported() {
    let mut receiver = Receiver::new(
        &Config {
            sack: false,
            ..config()
        },
        500,
    );
    let arrivals = [0, 0, 1000].map(segment);
    assert_eq!(answers(&mut receiver, &arrivals), ["500", "500", "500"]);
}
