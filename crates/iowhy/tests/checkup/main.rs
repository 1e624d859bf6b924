//! Checkups from end to end, with real fio and real recordings on the project's disk model. All are in one module, by whose name
//! `scripts/test` finds them: they wait for their slow disks most of the time, before usual processes, and run beside all other tests.

mod on_slow_disks;
#[path = "../schema/mod.rs"]
mod schema;
