//! Puts many mutants into the sources at once, each asleep until the variable IOWHY_MUTANT names its number: one build serves all of them.
//!
//! Reads from standard input what is to be changed (`Wanted`), changes the files in place, and prints the numbers of those that it has
//! no form for. Around what belongs to a mutant stand comments, so that an error of the compiler can be put down to it: `/*{1 2*/`
//! to `/*}*/` around the place of mutants 1 and 2, `/*<1*/` to `/*>*/` around what only mutant 1 does.

mod mutant;
mod places;
mod region;

use mutant::Mutant;
use places::Places;
use region::Regions;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;

#[derive(Deserialize)]
struct Wanted {
    /// Where the sources are.
    root: PathBuf,
    /// The crates' folders, whose `src/lib.rs` gets the function that is asked whether a mutant is awake.
    crates: Vec<PathBuf>,
    mutants: Vec<Mutant>,
}

/// A number of 4294967295 notes which mutants are met, a line each, in the file that IOWHY_MUTANTS_MET names.
const AWAKE: &str = r#"
#[doc(hidden)]
#[allow(missing_docs)]
pub mod __mutant {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::sync::{Mutex, OnceLock};

    static AWAKE: OnceLock<u32> = OnceLock::new();
    static MET: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

    pub fn is(id: u32) -> bool {
        let awake = *AWAKE.get_or_init(|| std::env::var("IOWHY_MUTANT").map_or(0, |id| id.parse().unwrap()));
        if awake == u32::MAX && MET.lock().unwrap().insert(id) {
            let to = std::env::var("IOWHY_MUTANTS_MET").unwrap();
            let mut to = std::fs::OpenOptions::new().create(true).append(true).open(to).unwrap();
            to.write_all(format!("{id}\n").as_bytes()).unwrap();
        }
        awake == id
    }
}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted: Wanted = serde_json::from_reader(std::io::stdin())?;
    let mut of_file: BTreeMap<&PathBuf, Vec<&Mutant>> = BTreeMap::new();
    for mutant in &wanted.mutants {
        of_file.entry(&mutant.file).or_default().push(mutant);
    }
    let mut without = Vec::new();
    for (file, mutants) in of_file {
        let path = wanted.root.join(file);
        let source = std::fs::read_to_string(&path)?;
        let tree = syn::parse_file(&source).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut regions = Regions::new(&source);
        let placed = Places::find(&tree, &mutants, &mut regions);
        without.extend(mutants.iter().map(|m| m.id).filter(|id| !placed.contains(id)));
        std::fs::write(&path, regions.render())?;
    }
    for folder in &wanted.crates {
        let path = wanted.root.join(folder).join("src/lib.rs");
        let source = std::fs::read_to_string(&path)?;
        std::fs::write(&path, source + AWAKE)?;
    }
    println!("{}", serde_json::to_string(&without)?);
    Ok(())
}
