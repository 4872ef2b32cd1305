//! The parts that only some senders have, behind one pointer: very many connections of the others
//! fit, and that one has none of them is one question.

use super::living::Departures;
use super::marks::Marks;
use super::pacing::Pacing;
use super::path_mtu::PathMtu;
use crate::delivery_rate::DeliveryRate;
use crate::link_feedback::LinkReports;

/// Declares each part once: its name and type, and how it is asked for and set.
macro_rules! parts {
    ($($(#[$attribute:meta])* $part:ident, $part_mut:ident, $set:ident: $Part:ty;)+) => {
        #[derive(Clone, Debug, Default)]
        struct Parts {
            $($(#[$attribute])* $part: Option<$Part>,)+
        }

        impl Extras {
            $(
                #[inline]
                pub fn $part(&self) -> Option<&$Part> {
                    self.0.as_ref()?.$part.as_ref()
                }

                #[inline]
                pub fn $part_mut(&mut self) -> Option<&mut $Part> {
                    self.0.as_mut()?.$part.as_mut()
                }

                pub fn $set(&mut self, part: Option<$Part>) {
                    if part.is_some() || self.0.is_some() {
                        self.0.get_or_insert_default().$part = part;
                    }
                }
            )+
        }
    };
}

/// Nothing, as a rule.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras(Option<Box<Parts>>);

parts! {
    /// How fast the network delivers, where a model of it moves the window.
    rate, rate_mut, set_rate: DeliveryRate;
    /// The pace.
    pacing, pacing_mut, set_pacing: Pacing;
    /// What the link itself reports.
    link, link_mut, set_link: LinkReports;
    /// Reductions of the window for the network's marks.
    marks, marks_mut, set_marks: Marks;
    /// The largest segment that the path takes.
    path, path_mut, set_path: PathMtu;
    /// What still waits in the driver.
    departures, departures_mut, set_departures: Departures;
}
