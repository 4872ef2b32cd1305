//! `[link.aqm]` and `[link.reverse.aqm]`.

use airtcp_link::{
    AbcConfig, AckFilter, CakeConfig, CoDelConfig, CodePoints, Discipline, DualPi2Config,
    FqCoDelConfig, PieConfig, Tins,
};

use crate::document::{AqmTable, Disciplines};
use crate::error::Problem;
use crate::names::{AckFilterName, CodePoint, TinsName};
use airtcp_units::Duration;
use airtcp_units::bounded::{Whole, Within};

/// The discipline that `table`, found at `path`, describes.
pub(super) fn resolve(table: &AqmTable, path: &str) -> Result<Discipline, Problem> {
    let check_times = |target: Duration, interval: Duration| {
        if target < interval {
            return Ok(());
        }
        Err(Problem::at(
            key_of!(path, table.target),
            format!("expected less than {path}.interval, which is {interval}"),
        ))
    };
    Ok(match Disciplines::of(table, path)? {
        Disciplines::DropTail {} => Discipline::DropTail,
        Disciplines::Codel {
            target,
            interval,
            ecn,
        } => {
            check_times(target, interval)?;
            Discipline::CoDel(CoDelConfig {
                target,
                interval,
                ecn,
                ..CoDelConfig::default()
            })
        }
        Disciplines::FqCodel {
            target,
            interval,
            ecn,
            queues,
            quantum,
        } => {
            check_times(target, interval)?;
            Discipline::FqCoDel(FqCoDelConfig {
                codel: CoDelConfig {
                    target,
                    interval,
                    ecn,
                    ..FqCoDelConfig::default().codel
                },
                queues,
                quantum,
            })
        }
        Disciplines::Pie {
            target,
            update,
            alpha,
            beta,
            ecn,
        } => Discipline::Pie(PieConfig {
            target,
            update,
            alpha,
            beta,
            ecn,
            ..PieConfig::default()
        }),
        Disciplines::Dualpi2 {
            target,
            update,
            alpha,
            beta,
            step,
            step_packets,
            coupling,
        } => Discipline::DualPi2(DualPi2Config {
            target,
            update,
            alpha,
            beta,
            step,
            step_packets,
            coupling,
            ..DualPi2Config::default()
        }),
        Disciplines::Cake {
            target,
            interval,
            tins,
            ack_filter,
            rate,
            hosts,
        } => {
            check_times(target, interval)?;
            Discipline::Cake(CakeConfig {
                rate: rate.map(Within::get),
                tins: match tins {
                    TinsName::Besteffort => Tins::BestEffort,
                    TinsName::Diffserv3 => Tins::Diffserv3,
                    TinsName::Diffserv4 => Tins::Diffserv4,
                },
                hosts: hosts.map(Whole::get_u32),
                target,
                interval,
                ack_filter: match ack_filter {
                    AckFilterName::Off => AckFilter::Off,
                    AckFilterName::On => AckFilter::On,
                    AckFilterName::Aggressive => AckFilter::Aggressive,
                },
                ..CakeConfig::default()
            })
        }
        Disciplines::Abc {
            target,
            eta,
            delta,
            window,
        } => Discipline::Abc(AbcConfig {
            eta,
            delta,
            target,
            window,
        }),
    })
}

/// The discipline of a table that may be left out.
pub(super) fn or_drop_tail(table: Option<&AqmTable>, path: &str) -> Result<Discipline, Problem> {
    table.map_or(Ok(Discipline::DropTail), |table| resolve(table, path))
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
