use super::*;

fn pdsch(table: McsTable) -> BlockFormat {
    BlockFormat {
        channel: SharedChannel::LtePdsch { elements: 120 },
        table,
    }
}

fn nr(layers: u32, table: McsTable) -> BlockFormat {
    BlockFormat {
        channel: SharedChannel::Nr(Resources {
            symbols: 12,
            dmrs: 12,
            overhead: 0,
            layers,
        }),
        table,
    }
}

/// Widely published peaks: 75376 bits a millisecond at 20 MHz, 97896 with 256QAM (TS 36.306, table
/// 4.1-1, per layer); and the exception of one resource block at I_TBS = 6.
#[test]
fn lte_sizes_are_the_tables() {
    let down = pdsch(McsTable::Qam64);
    let at_most = |blocks| down.bits(28, blocks);
    assert_eq!(
        [at_most(100), at_most(50), at_most(25)],
        [75_376, 36_696, 18_336]
    );
    assert_eq!(pdsch(McsTable::Qam256).bits(27, 100), 97_896);
    assert_eq!(
        [lte_bits(6, 1), lte_bits(0, 1), lte_bits(5, 1)],
        [328, 16, 72]
    );
    assert_eq!([lte_bits(0, 0), lte_bits(0, 111), lte_bits(34, 1)], [0; 3]);
}

/// More resource blocks or a higher index never carry less; sizes are whole bytes.
#[test]
fn lte_sizes_grow() {
    let is_exception = |i_tbs, blocks| (i_tbs, blocks) == (6, 1);
    for i_tbs in 0..34 {
        for blocks in 1..=110 {
            let size = lte_bits(i_tbs, blocks);
            assert_eq!(size % 8, 0);
            if !is_exception(i_tbs, blocks) {
                assert!(
                    size <= lte_bits(i_tbs, (blocks + 1).min(110)),
                    "{i_tbs} {blocks}"
                );
                // 64QAM ends with 26; the last rows are of 256QAM.
                let next = if i_tbs == 26 { 26 } else { (i_tbs + 1).min(33) };
                assert!(size <= lte_bits(next, blocks), "{i_tbs} {blocks}");
            }
        }
    }
}

/// TS 36.213 tables 7.1.7.1-1, 8.6.1-1: where modulations begin, and the repeated I_TBS.
#[test]
fn lte_schemes_are_the_tables() {
    let up = BlockFormat {
        channel: SharedChannel::LtePusch { elements: 144 },
        ..pdsch(McsTable::Qam64)
    };
    let begins = |format: &BlockFormat| {
        let schemes = format.schemes();
        [2, 4, 6].map(|bits| {
            let first = schemes
                .iter()
                .position(|s| s.modulation_bits == bits)
                .unwrap();
            (first, schemes[first].rate)
        })
    };
    assert_eq!(begins(&pdsch(McsTable::Qam64)), [(0, 0), (10, 9), (17, 15)]);
    assert_eq!(begins(&up), [(0, 0), (11, 10), (21, 19)]);
    assert_eq!(
        begins(&pdsch(McsTable::Qam256)),
        [(0, 0), (5, 10), (11, 16)]
    );
}

/// A second reading of TS 38.214 §5.1.3.2, in real numbers as the text has it.
fn by_the_text(resources: Resources, modulation_bits: u32, rate: f64, blocks: u32) -> u32 {
    let small = |wanted: f64| {
        // Table 5.1.3.2-1 by its steps of 8, 16, 24, 32, 40, …: every multiple of the step in its
        // range.
        let sizes = (1..=478).map(|n| 8 * n).filter(|&size| match size {
            ..=192 => size >= 24,
            193..=384 => size % 16 == 0,
            385..=576 => size % 24 == 0,
            577..=768 => size % 32 == 0,
            _ => [
                808, 848, 888, 928, 984, 1032, 1064, 1128, 1160, 1192, 1224, 1256, 1288, 1320,
                1352, 1416, 1480, 1544, 1608, 1672, 1736, 1800, 1864, 1928, 2024, 2088, 2152, 2216,
                2280, 2408, 2472, 2536, 2600, 2664, 2728, 2792, 2856, 2976, 3104, 3240, 3368, 3496,
                3624, 3752, 3824,
            ]
            .contains(&size),
        });
        sizes
            .into_iter()
            .find(|size| f64::from(*size) >= wanted)
            .unwrap()
    };
    let elements = f64::from(156.min(12 * resources.symbols - resources.dmrs - resources.overhead))
        * f64::from(blocks);
    let info = elements * rate * f64::from(modulation_bits) * f64::from(resources.layers);
    if info <= 3824.0 {
        let n = (info.log2().floor() - 6.0).max(3.0);
        let quantised = 24_f64.max(n.exp2() * (info / n.exp2()).floor());
        return small(quantised);
    }
    let n = (info - 24.0).log2().floor() - 5.0;
    let quantised = 3840_f64.max(n.exp2() * ((info - 24.0) / n.exp2()).round());
    let blocks = if rate <= 0.25 {
        ((quantised + 24.0) / 3816.0).ceil()
    } else if quantised > 8424.0 {
        ((quantised + 24.0) / 8424.0).ceil()
    } else {
        1.0
    };
    (8.0 * blocks * ((quantised + 24.0) / (8.0 * blocks)).ceil() - 24.0) as u32
}

/// Every scheme, number of resource blocks, of layers, and several symbols and overheads: 242 000
/// cases.
#[test]
fn nr_sizes_are_those_of_the_text() {
    for table in [McsTable::Qam64, McsTable::Qam256] {
        for layers in 1..=4 {
            for (symbols, dmrs, overhead) in [(12, 12, 0), (14, 12, 0), (3, 6, 0), (10, 24, 18)] {
                let resources = Resources {
                    symbols,
                    dmrs,
                    overhead,
                    layers,
                };
                let format = BlockFormat {
                    channel: SharedChannel::Nr(resources),
                    table,
                };
                for (mcs, scheme) in format.schemes().iter().enumerate() {
                    let rate = f64::from(scheme.rate) / 2048.0;
                    for blocks in 1..=275 {
                        let expected = by_the_text(resources, scheme.modulation_bits, rate, blocks);
                        assert_eq!(
                            format.bits(mcs, blocks),
                            expected,
                            "{resources:?} {mcs} {blocks}"
                        );
                    }
                }
            }
        }
    }
    assert_eq!(nr(1, McsTable::Qam64).bits(0, 0), 0);
}

/// A block above the largest code rate is not sent: LTE's last scheme with three control symbols.
#[test]
fn no_block_is_above_the_largest_code_rate() {
    assert!(pdsch(McsTable::Qam64).efficiency(28, 50).is_infinite());
    let efficiency = pdsch(McsTable::Qam64).efficiency(27, 50);
    assert!((efficiency - f64::from(31_704 + 24) / 6000.0).abs() < 1e-12);
    // 8 · 948/1024, and the rounding of a size of 530 kbit to one of 2^14 steps.
    assert!((nr(2, McsTable::Qam256).efficiency(27, 273) / 7.4063 - 1.0).abs() < 0.02);
}

/// FNV-1a over the sizes of 28 272 cases, as the package py3gpp 0.6.0 (`nrTBS`) has them, which is
/// another implementation. It differs in two cases, where N_info lies in the middle of two steps:
/// Python rounds to the even one, and the standard up.
#[test]
fn nr_sizes_are_those_of_another_implementation() {
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut cases = 0;
    for table in [McsTable::Qam64, McsTable::Qam256] {
        for layers in 1..=4 {
            for (symbols, dmrs) in [(2, 0), (9, 0), (12, 12), (13, 0)] {
                let resources = Resources {
                    symbols,
                    dmrs,
                    overhead: 0,
                    layers,
                };
                let format = BlockFormat {
                    channel: SharedChannel::Nr(resources),
                    table,
                };
                for mcs in 0..format.schemes().len() {
                    for blocks in (1..276).step_by(9) {
                        cases += 1;
                        for byte in format.bits(mcs, blocks).to_le_bytes() {
                            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
                        }
                    }
                }
            }
        }
    }
    assert_eq!((cases, digest), (28_272, 0x7840_b7f6_62b1_ad22));
    // One of the two: N_info is 5208, between 5120 and 5248 with steps of 128 after 24 bits.
    let tie = Resources {
        symbols: 2,
        dmrs: 0,
        overhead: 0,
        layers: 2,
    };
    assert_eq!(nr_bits(tie, 4, 2 * 434, 64), 5248);
}
