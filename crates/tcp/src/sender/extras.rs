//! Parts that only some senders have, in one box: very many connections without them fit in memory,
//! and a single check shows that a sender has no such part.

use alloc::boxed::Box;

use super::living::Departures;
use super::marks::Marks;
use super::pacing::Pacing;
use super::path_mtu::PathMtu;
use super::send_buffer::SendBuffer;
use crate::delivery_rate::DeliveryRate;
use crate::link_feedback::LinkReports;

/// Declares each part once: its name and type, and its accessors.
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

/// Usually empty.
#[derive(Clone, Debug, Default)]
pub(super) struct Extras(Option<Box<Parts>>);

parts! {
    /// The delivery rate, for a model-based controller.
    rate, rate_mut, set_rate: DeliveryRate;
    /// Pacing.
    pacing, pacing_mut, set_pacing: Pacing;
    /// The link's reports.
    link, link_mut, set_link: LinkReports;
    /// Reductions of the window for congestion marks.
    marks, marks_mut, set_marks: Marks;
    /// The largest segment that the path carries.
    path, path_mut, set_path: PathMtu;
    /// The limit on data written and not yet acknowledged.
    buffer, buffer_mut, set_buffer: SendBuffer;
    /// Segments that still wait in the driver.
    departures, departures_mut, set_departures: Departures;
}
