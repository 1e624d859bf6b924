//! Writes the seeds of all targets into folders named for them, and their names to standard output, with the longest input of each.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use targets::{seeds, TARGETS};

fn main() -> ExitCode {
    let is_folder = |to: &PathBuf| !to.to_string_lossy().starts_with('-');
    let Some(to) = std::env::args_os().nth(1).map(PathBuf::from).filter(is_folder) else {
        eprintln!("usage: fuzz-seeds FOLDER");
        return ExitCode::from(2);
    };
    for target in TARGETS {
        if let Err(e) = write(target, &to.join(target.name)) {
            eprintln!("fuzz-seeds: {}: {e}", target.name);
            return ExitCode::FAILURE;
        }
        println!("{} {}", target.name, target.longest);
    }
    ExitCode::SUCCESS
}

fn write(target: &targets::Target, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for seed in seeds(target, &root)? {
        std::fs::write(folder.join(seed.name), seed.bytes)?;
    }
    Ok(())
}
