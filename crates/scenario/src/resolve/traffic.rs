//! `[traffic]`: the applications that use the connections.

use airtcp_units::Probability;

use crate::document::{Applications, Document, EmailTable, FtpTable, HttpTable, MixTable};
use crate::error::Problem;
use crate::mix::Mix;
use crate::traffic::{Email, Ftp, Http, Traffic};

/// Tolerance for shares that should add up to 1.
const ROUNDING: f64 = 1e-6;

/// Traffic of each of `flows` flows; `None` is a bulk transfer, or `flows.bytes`.
pub(super) fn resolve(document: &Document, flows: u32) -> Result<Vec<Option<Traffic>>, Problem> {
    let Some(table) = &document.traffic else {
        return Ok(vec![None]);
    };
    let applications = Applications::of(table, key!(traffic))?;
    if !matches!(
        applications,
        Applications::Bulk {} | Applications::Mix { .. }
    ) && document.flows.bytes().is_some()
    {
        return Err(Problem::at(
            key!(flows.bytes),
            "traffic.application says already what flows carry; give one of them",
        ));
    }
    if !matches!(applications, Applications::Bulk {}) && document.flows.request.is_some() {
        return Err(Problem::at(
            key!(flows.request),
            "applications open their connections themselves; remove it, or set \
             traffic.application = \"bulk\"",
        ));
    }
    Ok(match applications {
        Applications::Bulk {} => vec![None],
        Applications::Ftp { ftp } => vec![Some(self::ftp(&ftp))],
        Applications::Http { http } => vec![Some(self::http(&http))],
        Applications::Email { email } => vec![Some(self::email(&email))],
        Applications::Mix {
            ftp,
            http,
            email,
            mix,
        } => {
            let applications = [
                None,
                Some(self::ftp(&ftp)),
                Some(self::http(&http)),
                Some(self::email(&email)),
            ];
            let mix = Mix {
                shares: shares(&mix)?.into_iter().zip(applications).collect(),
            };
            mix.assign(flows)
        }
    })
}

fn ftp(table: &FtpTable) -> Traffic {
    Traffic::Ftp(Ftp {
        size: table.size(),
        repeat: table.repeat(),
    })
}

fn http(table: &HttpTable) -> Traffic {
    Traffic::Http(Http {
        page_interval: table.page_interval(),
        object_size: table.object_size() as f64,
        objects: table.objects(),
        request: table.request(),
        pipelined: table.pipelined(),
    })
}

fn email(table: &EmailTable) -> Traffic {
    Traffic::Email(Email {
        size: table.size(),
        interval: table.interval(),
    })
}

/// Shares of bulk, files, pages, e-mail.
fn shares(table: &MixTable) -> Result<[f64; 4], Problem> {
    let shares = table.shares().map(Probability::as_f64);
    let sum: f64 = shares.iter().sum();
    if (sum - 1.0).abs() > ROUNDING {
        return Err(Problem::at(
            key!(traffic.mix),
            format!("the shares add up to {sum:.3}; expected 1"),
        ));
    }
    Ok(shares)
}
