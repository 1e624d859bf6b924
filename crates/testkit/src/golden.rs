//! Expected texts in files. `make bless` rewrites them; check the difference before you commit it.

use std::fs;
use std::path::Path;

/// Compares `got` with the file `tests/golden/NAME` of the crate in the folder `of` (its `CARGO_MANIFEST_DIR`).
#[track_caller]
pub fn golden(of: &str, name: &str, got: &str) {
    let path = Path::new(of).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, got).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if let Some(at) = got.lines().zip(expected.lines()).position(|(g, e)| g != e) {
        let line = |t: &str| t.lines().nth(at).unwrap_or("(nothing)").to_string();
        panic!("{}:{}\n  got      {}\n  expected {}", path.display(), at + 1, line(got), line(&expected));
    }
    let (lines, wanted) = (got.lines().count(), expected.lines().count());
    assert!(lines == wanted, "{}: {lines} lines, expected {wanted}", path.display());
}
