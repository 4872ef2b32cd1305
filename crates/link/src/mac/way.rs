//! The directions between mobiles and the access point. Frames of relays (`wlan.hops`), which no
//! access point sends, go from a station.

use crate::frame::ACCESS_POINT;

/// Direction of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameDirection {
    /// From a station to the access point.
    FromStation,
    /// From the access point to a station.
    ToStation,
}

/// A direction between a mobile and the access point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub mobile: u32,
    pub direction: FrameDirection,
}

impl Way {
    /// The direction from one station to another.
    #[inline]
    pub(super) const fn between(from: u32, to: u32) -> Self {
        if from == ACCESS_POINT {
            Self {
                mobile: to,
                direction: FrameDirection::ToStation,
            }
        } else {
            Self {
                mobile: from,
                direction: FrameDirection::FromStation,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_the_mobiles_at_either_end() {
        for (ends, direction) in [
            ((3, ACCESS_POINT), FrameDirection::FromStation),
            ((ACCESS_POINT, 3), FrameDirection::ToStation),
        ] {
            let way = Way::between(ends.0, ends.1);
            assert_eq!((way.mobile, way.direction), (3, direction));
        }
    }
}
