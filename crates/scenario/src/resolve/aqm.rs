//! `[link.aqm]` and `[link.reverse.aqm]`.

use airtcp_link::{CoDelConfig, Discipline, FqCoDelConfig};

use super::refuse_keys;
use crate::document::AqmTable;
use crate::error::Problem;
use crate::names::DisciplineName;
use airtcp_units::written::Written;

/// The discipline that `table`, found at `key`, describes.
pub(super) fn resolve(table: &mut AqmTable, key: &str) -> Result<Discipline, Problem> {
    let name = table.discipline();
    let defaults = match name {
        DisciplineName::DropTail => {
            refuse_of_codel(table, key)?;
            return Ok(Discipline::DropTail);
        }
        DisciplineName::Codel => CoDelConfig::default(),
        DisciplineName::FqCodel => FqCoDelConfig::default().codel,
    };
    let codel = CoDelConfig {
        target: Written::fill(&mut table.target, &defaults.target),
        interval: Written::fill(&mut table.interval, &defaults.interval),
        ecn: Written::fill(&mut table.ecn, &defaults.ecn),
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
        queues: Written::fill(&mut table.queues, &queues),
        quantum: Written::fill(&mut table.quantum, &quantum),
    }))
}

fn refuse_of_codel(table: &AqmTable, key: &str) -> Result<(), Problem> {
    let why = format!(
        "belongs to {key}.discipline = \"codel\" or \"fq-codel\"; remove it, or choose one of them"
    );
    refuse_keys!(table, key, why; target, interval, ecn);
    refuse_of_queues(table, key)
}

fn refuse_of_queues(table: &AqmTable, key: &str) -> Result<(), Problem> {
    let why = format!("belongs to {key}.discipline = \"fq-codel\"; remove it, or choose that");
    refuse_keys!(table, key, why; queues, quantum);
    Ok(())
}
