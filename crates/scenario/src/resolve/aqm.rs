//! `[link.aqm]` and `[link.reverse.aqm]`.

use airtcp_link::{
    AbcConfig, AckFilter, CakeConfig, CoDelConfig, CodePoints, Discipline, DualPi2Config,
    FqCoDelConfig, PieConfig, Tins,
};

use crate::document::AqmTable;
use crate::error::Problem;
use crate::names::{AckFilterName, CodePoint, DisciplineName, TinsName};
use airtcp_units::Duration;
use airtcp_units::bounded::{Whole, Within};
use airtcp_units::written::Written;

/// The discipline that `table`, found at `key`, describes.
pub(super) fn resolve(table: &mut AqmTable, key: &str) -> Result<Discipline, Problem> {
    let name = table.discipline();
    refuse_of_others(table, name, key)?;
    Ok(match name {
        DisciplineName::DropTail => Discipline::DropTail,
        DisciplineName::Codel => Discipline::CoDel(codel(table, key, CoDelConfig::default())?),
        DisciplineName::FqCodel => Discipline::FqCoDel(fq_codel(table, key)?),
        DisciplineName::Pie => Discipline::Pie(pie(table)),
        DisciplineName::Dualpi2 => Discipline::DualPi2(dual_pi2(table)),
        DisciplineName::Cake => Discipline::Cake(cake(table, key)?),
        DisciplineName::Abc => Discipline::Abc(abc(table)),
    })
}

fn codel(table: &mut AqmTable, key: &str, defaults: CoDelConfig) -> Result<CoDelConfig, Problem> {
    let codel = CoDelConfig {
        target: Written::fill(&mut table.target, &defaults.target),
        interval: Written::fill(&mut table.interval, &defaults.interval),
        ecn: Written::fill(&mut table.ecn, &defaults.ecn),
        ..defaults
    };
    check_times(table, codel.target, codel.interval, key)?;
    Ok(codel)
}

fn check_times(
    table: &AqmTable,
    target: Duration,
    interval: Duration,
    key: &str,
) -> Result<(), Problem> {
    if target < interval {
        return Ok(());
    }
    Err(Problem::at(
        key_of!(key, table.target),
        format!("expected less than {key}.interval, which is {interval}"),
    ))
}

fn cake(table: &mut AqmTable, key: &str) -> Result<CakeConfig, Problem> {
    let defaults = CakeConfig::default();
    let cake = CakeConfig {
        rate: table.rate.map(Within::get),
        tins: match table.tins.get_or_insert_default() {
            TinsName::Besteffort => Tins::BestEffort,
            TinsName::Diffserv3 => Tins::Diffserv3,
            TinsName::Diffserv4 => Tins::Diffserv4,
        },
        hosts: table.hosts.map(Whole::get_u32),
        target: Written::fill(&mut table.target, &defaults.target),
        interval: Written::fill(&mut table.interval, &defaults.interval),
        ack_filter: match table.ack_filter.get_or_insert_default() {
            AckFilterName::Off => AckFilter::Off,
            AckFilterName::On => AckFilter::On,
            AckFilterName::Aggressive => AckFilter::Aggressive,
        },
        ..defaults
    };
    check_times(table, cake.target, cake.interval, key)?;
    Ok(cake)
}

/// Passes the flows' code points to a discipline with classes.
pub(crate) fn tell_code_points(
    discipline: &mut Discipline,
    marks: Option<&[CodePoint]>,
) -> Result<(), Problem> {
    let (Discipline::Cake(cake), Some(marks)) = (discipline, marks) else {
        return Ok(());
    };
    let numbers = marks.iter().map(|mark| mark.number());
    cake.code_points = CodePoints::new(numbers).ok_or_else(|| {
        let most = CodePoints::MAX;
        Problem::at(
            key!(flows.dscp),
            format!("expected at most {most} for CAKE"),
        )
    })?;
    Ok(())
}

fn fq_codel(table: &mut AqmTable, key: &str) -> Result<FqCoDelConfig, Problem> {
    let defaults = FqCoDelConfig::default();
    Ok(FqCoDelConfig {
        codel: codel(table, key, defaults.codel)?,
        queues: Written::fill(&mut table.queues, &defaults.queues),
        quantum: Written::fill(&mut table.quantum, &defaults.quantum),
    })
}

fn pie(table: &mut AqmTable) -> PieConfig {
    let defaults = PieConfig::default();
    PieConfig {
        target: Written::fill(&mut table.target, &defaults.target),
        update: Written::fill(&mut table.update, &defaults.update),
        alpha: Written::fill(&mut table.alpha, &defaults.alpha),
        beta: Written::fill(&mut table.beta, &defaults.beta),
        ecn: Written::fill(&mut table.ecn, &defaults.ecn),
        ..defaults
    }
}

fn dual_pi2(table: &mut AqmTable) -> DualPi2Config {
    let defaults = DualPi2Config::default();
    DualPi2Config {
        target: Written::fill(&mut table.target, &defaults.target),
        update: Written::fill(&mut table.update, &defaults.update),
        alpha: Written::fill(&mut table.alpha, &defaults.alpha),
        beta: Written::fill(&mut table.beta, &defaults.beta),
        step: Written::fill(&mut table.step, &defaults.step),
        step_packets: Written::fill(&mut table.step_packets, &defaults.step_packets),
        coupling: Written::fill(&mut table.coupling, &defaults.coupling),
        ..defaults
    }
}

fn abc(table: &mut AqmTable) -> AbcConfig {
    let defaults = AbcConfig::default();
    AbcConfig {
        eta: Written::fill(&mut table.eta, &defaults.eta),
        delta: Written::fill(&mut table.delta, &defaults.delta),
        target: Written::fill(&mut table.target, &defaults.target),
        window: Written::fill(&mut table.window, &defaults.window),
    }
}

/// Refuses keys of disciplines other than `name`.
fn refuse_of_others(table: &AqmTable, name: DisciplineName, key: &str) -> Result<(), Problem> {
    use DisciplineName::{Abc, Cake, Codel, Dualpi2, FqCodel, Pie};
    let why = |whose: &str| format!("belongs to {key}.discipline = {whose}; remove it, or choose ");
    let one_of = |whose: &str| why(whose) + "one of them";
    let that = |whose: &str| why(whose) + "that";
    if !matches!(name, Codel | FqCodel | Pie | Dualpi2 | Cake | Abc) {
        let whose = one_of("\"fq-codel\", \"codel\", \"pie\", \"dualpi2\", \"cake\" or \"abc\"");
        refuse_keys!(table, key, whose; target);
    }
    if !matches!(name, Codel | FqCodel | Cake) {
        refuse_keys!(table, key, one_of("\"fq-codel\", \"codel\" or \"cake\""); interval);
    }
    if !matches!(name, Codel | FqCodel | Pie) {
        refuse_keys!(table, key, one_of("\"fq-codel\", \"codel\" or \"pie\""); ecn);
    }
    if name != FqCodel {
        refuse_keys!(table, key, that("\"fq-codel\""); queues, quantum);
    }
    if !matches!(name, Pie | Dualpi2) {
        refuse_keys!(table, key, one_of("\"pie\" or \"dualpi2\""); update, alpha, beta);
    }
    if name != Dualpi2 {
        refuse_keys!(table, key, that("\"dualpi2\""); step, step_packets, coupling);
    }
    if name != Abc {
        refuse_keys!(table, key, that("\"abc\""); eta, delta, window);
    }
    if name != Cake {
        refuse_keys!(table, key, that("\"cake\""); rate, tins, hosts, ack_filter);
    }
    Ok(())
}
