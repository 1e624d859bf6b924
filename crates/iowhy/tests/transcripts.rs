//! Runs the commands that the documents show and compares what is printed, and the exit status.
//!
//! After a change that is meant: `make bless` writes what is printed now into the documents; read the diff.

use std::path::Path;

#[test]
fn documents_show_what_is_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::env::set_current_dir(root).expect("the root of the repository");
    trycmd::TestCases::new()
        .register_bin("iowhy", Path::new(env!("CARGO_BIN_EXE_iowhy")))
        // Screens and help are as wide as a pipe gets them.
        .env("COLUMNS", "80")
        .case("README.md")
        .case("docs/commands.md")
        .case("docs/cases/*.md")
        .case("fixtures/*/README.md")
        .case("crates/iowhy/tests/json/*.trycmd");
}
