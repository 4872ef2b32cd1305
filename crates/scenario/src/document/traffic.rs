//! `[traffic]`: use of connections by applications.

use super::keys::Rule;
use super::{Amount, DAY};
use crate::names::ApplicationName;
use airtcp_units::bounded::{Bytes, Real, Span};
use airtcp_units::{Duration, Probability};

/// A mean time between two things.
pub(crate) type Interval = Span<1_000_000, DAY>;

keys! {
    /// Behaviour of applications on their connections.
    #[derive(Clone, Copy, Default)]
    pub struct TrafficTable under Applications takes {
        /// Traffic of every flow; "mix" assigns an application to each by the shares in
        /// `[traffic.mix]`.
        application: ApplicationName = ApplicationName::default();
        /// File transfers.
        ftp: FtpTable, holding keys;
        /// Pages of the web.
        http: HttpTable, holding keys;
        /// E-mail.
        email: EmailTable, holding keys;
        /// Shares of clients by application; they are to add up to 1.
        mix: MixTable, holding keys;
    }
}

alternatives! {
    /// The applications with their tables.
    #[derive(Copy)]
    pub enum Applications of TrafficTable by application: ApplicationName {
        /// As much as a flow can send, or `flows.bytes`.
        Bulk: Bulk;
        /// Files.
        Ftp: Ftp takes { ftp: FtpTable = FtpTable::default() };
        /// Pages of the web.
        Http: Http takes { http: HttpTable = HttpTable::default() };
        /// E-mail.
        Email: Email takes { email: EmailTable = EmailTable::default() };
        /// Each flow one of these, by shares.
        Mix: Mix takes {
            ftp: FtpTable = FtpTable::default(),
            http: HttpTable = HttpTable::default(),
            email: EmailTable = EmailTable::default(),
            mix: MixTable = MixTable::default(),
        };
    }
}

keys! {
    /// File transfers.
    #[derive(Clone, Copy, Default)]
    pub struct FtpTable takes {
        /// Size of a file.
        // Mahmoodi et al. §IV, as all sizes and intervals of applications.
        size: u64 = 16_000_000, as Amount;
        /// Whether the next file follows when one has arrived; else the connection closes.
        repeat: bool = true;
    }
}

keys! {
    /// Pages over one HTTP/1.1 connection.
    #[derive(Clone, Copy, Default)]
    pub struct HttpTable takes {
        /// Mean time from the start of one page to the start of the next, exponential.
        page_interval: Duration = Duration::from_secs(60), as Interval;
        /// Mean size of an object, exponential.
        object_size: u64 = 5_000, as Bytes<1, 1_000_000_000>;
        /// Mean number of objects of a page, exponential, at least 1.
        objects: f64 = 7.0, as Real<1_000_000, 1_000_000_000>;
        /// Size of a request.
        // A request with its headers, as browsers send them.
        request: u64 = 350, as Bytes<1, 1_000_000>;
        /// Whether all objects of a page are asked for at once.
        pipelined: bool = false;
    }
}

keys! {
    /// E-mail.
    #[derive(Clone, Copy, Default)]
    pub struct EmailTable takes {
        /// Size of a message.
        size: u64 = 2_000, as Bytes<1, 1_000_000_000>;
        /// Mean time between messages, exponential.
        interval: Duration = Duration::from_secs(120), as Interval;
    }
}

keys! {
    /// Shares of clients.
    #[derive(Clone, Copy, Default)]
    pub struct MixTable under Shares takes {
        /// Share that sends without end.
        bulk: Probability;
        /// Share that transfers files.
        ftp: Probability;
        /// Share that reads pages.
        http: Probability;
        /// Share that gets e-mail.
        email: Probability;
    }
}

/// Shares that are left out are zero, or those of Mahmoodi et al. §IV if all are.
pub struct Shares;

impl Rule<MixTable> for Shares {
    fn completed(table: &MixTable) -> MixTable {
        let [bulk, ftp, http, email] = table.shares().map(Some);
        MixTable {
            bulk,
            ftp,
            http,
            email,
        }
    }
}

impl MixTable {
    /// Shares of bulk, files, pages, e-mail.
    pub fn shares(&self) -> [Probability; 4] {
        let given = [self.bulk, self.ftp, self.http, self.email];
        if given.iter().all(Option::is_none) {
            return USUAL_SHARES.map(|share| Probability::new(share).unwrap_or(Probability::NEVER));
        }
        given.map(|share| share.unwrap_or(Probability::NEVER))
    }
}

const USUAL_SHARES: [f64; 4] = [0.0, 0.40, 0.35, 0.25];
