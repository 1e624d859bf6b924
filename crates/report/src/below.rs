//! Where loop devices lie on disks, from the settings beside a recording, as ledgers need it.

use evidence::System;
use operation::Below;

/// All places that the settings tell of.
pub fn below(system: &System) -> Vec<Below> {
    let of =
        |p: evidence::Placed| Below { upper: p.upper, at: p.at, len: p.len, lower: p.lower, lies: p.lies };
    system.placed().into_iter().map(of).collect()
}
