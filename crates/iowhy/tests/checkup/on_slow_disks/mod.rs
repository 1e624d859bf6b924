//! A disk with a fault is named for it, a good one gets a result without problems, runs on one disk agree and a slower disk is told
//! ([`faults`], [`agree`]); what a checkup must never do it does not ([`ended`], [`refused`]). What the machine lacks for it is said loudly.

mod agree;
mod disk;
mod ended;
mod faults;
mod refused;
