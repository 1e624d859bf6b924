//! The ledger of every life balances, whatever the events.

use ledger::Ledger;
use proptest::prelude::*;
use testkit::{hostile, observed};
use trace::Nanos;

fn balances(l: &Ledger, end: Nanos) -> Result<(), TestCaseError> {
    let mut at = l.from;
    for s in &l.segments {
        prop_assert_eq!(s.from, at);
        prop_assert!(s.to > s.from);
        at = s.to;
    }
    prop_assert_eq!(at, l.to);
    prop_assert!(l.to >= end, "ends at {:?}, the operation at {:?}", l.to, end);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn ledgers_of_all_lives_balance(script in hostile::script(200)) {
        let told = observed(&script);
        for r in &told.requests {
            balances(&Ledger::of(&r.time), r.time.completed)?;
        }
        for b in &told.bios {
            balances(&Ledger::of_bio(b), b.time.completed)?;
        }
    }
}
