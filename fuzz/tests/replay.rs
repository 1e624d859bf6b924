//! Every target reads its seeds, cut and changed, and all that fuzzing once found.

use std::fs;
use std::path::Path;
use targets::{seeds, TARGETS};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Longer seeds are read from their beginning: this runs unoptimized.
const LONGEST: usize = 16 << 10;

#[test]
fn every_target_has_seeds_and_reads_them() {
    for target in TARGETS {
        let seeds = seeds(target, root()).unwrap();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for seed in seeds.iter().take(4) {
            assert!(!seed.bytes.is_empty(), "{}: {} is empty", target.name, seed.name);
            let bytes = &seed.bytes[..seed.bytes.len().min(LONGEST)];
            (target.run)(bytes);
            (target.run)(&bytes[..bytes.len() / 2]);
            let mut changed = bytes.to_vec();
            let middle = changed.len() / 2;
            changed[middle] ^= 0x81;
            (target.run)(&changed);
        }
        (target.run)(b"");
    }
}

#[test]
fn what_was_found_stays_mended() {
    let mut read = 0;
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("found")).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let target = targets::target(&name).unwrap_or_else(|| panic!("no target is called {name}"));
        for file in fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            let began = std::time::Instant::now();
            println!("{}", file.display());
            (target.run)(&fs::read(&file).unwrap());
            // An input that is slow is a finding too; unoptimized and on a busy machine it may take this long.
            assert!(began.elapsed().as_secs() < 20, "{} took {:?}", file.display(), began.elapsed());
            read += 1;
        }
    }
    println!("{read} findings");
}
