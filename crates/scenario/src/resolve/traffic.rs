//! `[traffic]`: the applications that use the connections.

use airtcp_units::Probability;

use crate::document::{Document, EmailTable, FtpTable, HttpTable, MixTable};
use crate::error::Problem;
use crate::mix::Mix;
use crate::names::ApplicationName;
use crate::traffic::{Email, Ftp, Http, Traffic};

/// Mahmoodi et al. §IV.
const DEFAULT_SHARES: [f64; 4] = [0.0, 0.40, 0.35, 0.25];
/// Tolerance for shares that should add up to 1.
const ROUNDING: f64 = 1e-6;

/// Traffic of each of `flows` flows; `None` is a bulk transfer, or `flows.bytes`.
pub(super) fn resolve(
    document: &mut Document,
    flows: u32,
) -> Result<Vec<Option<Traffic>>, Problem> {
    let Some(table) = &mut document.traffic else {
        return Ok(vec![None]);
    };
    let application = table.application();
    let is_used = |one| application == one || application == ApplicationName::Mix;
    let belongs = |one: &str| {
        format!("belongs to traffic.application = {one:?} or \"mix\"; remove it, or choose that")
    };
    if !is_used(ApplicationName::Ftp) {
        refuse_keys!(table, key!(traffic), belongs("ftp"); ftp);
    }
    if !is_used(ApplicationName::Http) {
        refuse_keys!(table, key!(traffic), belongs("http"); http);
    }
    if !is_used(ApplicationName::Email) {
        refuse_keys!(table, key!(traffic), belongs("email"); email);
    }
    if application != ApplicationName::Mix {
        let why = "belongs to traffic.application = \"mix\"; remove it, or choose that";
        refuse_keys!(table, key!(traffic), why; mix);
    }
    if !matches!(application, ApplicationName::Bulk | ApplicationName::Mix)
        && document
            .flows
            .bytes
            .is_some_and(|bytes| bytes.at().is_some())
    {
        return Err(Problem::at(
            key!(flows.bytes),
            "traffic.application says already what flows carry; give one of them",
        ));
    }
    let traffic = match application {
        ApplicationName::Bulk => None,
        ApplicationName::Ftp => Some(ftp(table.ftp.get_or_insert_default())),
        ApplicationName::Http => Some(http(table.http.get_or_insert_default())),
        ApplicationName::Email => Some(email(table.email.get_or_insert_default())),
        ApplicationName::Mix => {
            let shares = shares(table.mix.get_or_insert_default())?;
            let applications = [
                None,
                Some(ftp(table.ftp.get_or_insert_default())),
                Some(http(table.http.get_or_insert_default())),
                Some(email(table.email.get_or_insert_default())),
            ];
            let mix = Mix {
                shares: shares.into_iter().zip(applications).collect(),
            };
            return Ok(mix.assign(flows));
        }
    };
    Ok(vec![traffic])
}

fn ftp(table: &mut FtpTable) -> Traffic {
    Traffic::Ftp(Ftp {
        size: table.size(),
        repeat: table.repeat(),
    })
}

fn http(table: &mut HttpTable) -> Traffic {
    Traffic::Http(Http {
        page_interval: table.page_interval(),
        object_size: table.object_size() as f64,
        objects: table.objects(),
        request: table.request(),
        pipelined: table.pipelined(),
    })
}

fn email(table: &mut EmailTable) -> Traffic {
    Traffic::Email(Email {
        size: table.size(),
        interval: table.interval(),
    })
}

/// Shares of bulk, files, pages, e-mail: the paper's, or the given ones, the others being zero.
fn shares(table: &mut MixTable) -> Result<[f64; 4], Problem> {
    let MixTable {
        bulk,
        ftp,
        http,
        email,
    } = table;
    let keys = [bulk, ftp, http, email];
    let is_given = keys.iter().any(|key| key.is_some());
    let mut shares = [0.0; 4];
    for ((share, key), default) in shares.iter_mut().zip(keys).zip(DEFAULT_SHARES) {
        let default = if is_given { 0.0 } else { default };
        let default = Probability::new(default).unwrap_or(Probability::NEVER);
        *share = key.get_or_insert(default).as_f64();
    }
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > ROUNDING {
        return Err(Problem::at(
            key!(traffic.mix),
            format!("the shares add up to {sum:.3}; expected 1"),
        ));
    }
    Ok(shares)
}
