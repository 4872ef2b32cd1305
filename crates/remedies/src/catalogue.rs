//! The list of all remedies.

use crate::table;
use crate::{Remedy, access_point, link, proxy};

/// The remedies of the endpoints and of every other place, in the order in which they are listed.
const PLACES: [&[Remedy]; 8] = [
    table::timeout::ROWS,
    table::repair::ROWS,
    table::congestion::ROWS,
    table::transmission::ROWS,
    table::receiver::ROWS,
    link::ALL,
    access_point::ALL,
    proxy::ALL,
];

const COUNT: usize = {
    let (mut count, mut place) = (0, 0);
    while place < PLACES.len() {
        count += PLACES[place].len();
        place += 1;
    }
    count
};

/// Every remedy, place by place.
static CATALOGUE: [Remedy; COUNT] = {
    let mut all = [PLACES[0][0]; COUNT];
    let (mut filled, mut place) = (0, 0);
    while place < PLACES.len() {
        let mut remedy = 0;
        while remedy < PLACES[place].len() {
            all[filled] = PLACES[place][remedy];
            filled += 1;
            remedy += 1;
        }
        place += 1;
    }
    all
};

/// Every remedy there is.
pub fn catalogue() -> &'static [Remedy] {
    &CATALOGUE
}

/// The remedy of that name.
pub fn find(name: &str) -> Option<&'static Remedy> {
    CATALOGUE.iter().find(|remedy| remedy.name == name)
}
