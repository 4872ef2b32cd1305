//! `[link.aqm]` and `[link.reverse.aqm]`.

use airtcp_link::{CoDelConfig, Discipline, FqCoDelConfig};

use super::refuse;
use crate::document::AqmTable;
use crate::error::Problem;
use crate::names::DisciplineName;
use airtcp_units::bounded::{Whole, Within};

/// The discipline that `table`, found at `key`, describes.
pub(super) fn resolve(table: &mut AqmTable, key: &str) -> Result<Discipline, Problem> {
    let name = *table.discipline.get_or_insert_default();
    let defaults = match name {
        DisciplineName::DropTail => {
            refuse_of_codel(table, key)?;
            return Ok(Discipline::DropTail);
        }
        DisciplineName::Codel => CoDelConfig::default(),
        DisciplineName::FqCodel => FqCoDelConfig::default().codel,
    };
    let codel = CoDelConfig {
        target: table
            .target
            .get_or_insert(Within::clamped(defaults.target))
            .get(),
        interval: table
            .interval
            .get_or_insert(Within::clamped(defaults.interval))
            .get(),
        ecn: *table.ecn.get_or_insert(defaults.ecn),
        ..defaults
    };
    if codel.target >= codel.interval {
        return Err(Problem::at(
            format!("{key}.target"),
            format!(
                "expected less than {key}.interval, which is {}",
                codel.interval
            ),
        ));
    }
    if name == DisciplineName::Codel {
        refuse_of_queues(table, key)?;
        return Ok(Discipline::CoDel(codel));
    }
    let FqCoDelConfig {
        queues, quantum, ..
    } = FqCoDelConfig::default();
    Ok(Discipline::FqCoDel(FqCoDelConfig {
        codel,
        queues: table
            .queues
            .get_or_insert(Whole::clamped(u64::from(queues)))
            .get_u32(),
        quantum: table
            .quantum
            .get_or_insert(Whole::clamped(u64::from(quantum)))
            .get_u32(),
    }))
}

fn refuse_of_codel(table: &AqmTable, key: &str) -> Result<(), Problem> {
    let why = format!(
        "belongs to {key}.discipline = \"codel\" or \"fq-codel\"; remove it, or choose one of them"
    );
    refuse(&table.target, &format!("{key}.target"), &why)?;
    refuse(&table.interval, &format!("{key}.interval"), &why)?;
    refuse(&table.ecn, &format!("{key}.ecn"), &why)?;
    refuse_of_queues(table, key)
}

fn refuse_of_queues(table: &AqmTable, key: &str) -> Result<(), Problem> {
    let why = format!("belongs to {key}.discipline = \"fq-codel\"; remove it, or choose that");
    refuse(&table.queues, &format!("{key}.queues"), &why)?;
    refuse(&table.quantum, &format!("{key}.quantum"), &why)
}
