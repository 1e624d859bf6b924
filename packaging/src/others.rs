//! What is in the program and is no crate: cargo knows nothing of it.

use crate::outcome::Outcome;
use crate::parts::{root, Program};

/// Something of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    pub name: &'static str,
    /// Empty where it is that of the machine that builds.
    pub version: String,
    pub licence: &'static str,
    /// Where it is, and why.
    pub why: &'static str,
    pub text: &'static str,
}

/// All of them, as they are in this program.
pub fn others(program: &Program) -> Outcome<Vec<Other>> {
    let of_crate = |name: &str| {
        let part = program.of_others().find(|p| p.name == name);
        part.map(|p| p.version.clone()).ok_or_else(|| format!("the program no longer has the crate {name}"))
    };
    let zstd = of_crate("zstd-sys")?;
    of_crate("noto-sans-mono-bitmap")?;
    let page = std::fs::read_to_string(root().join("crates/report/page/package.json"))?;
    let page: serde_json::Value = serde_json::from_str(&page)?;
    let uplot = page["devDependencies"]["uplot"].as_str().ok_or("the page no longer has uplot")?;
    Ok(vec![
        Other {
            name: "glibc",
            version: String::new(),
            licence: "LGPL-2.1-or-later",
            why: "linked into the packages' static programs. To link another one, build the program with it: the whole source \
                  is public, and scripts/build-static does it.",
            text: include_str!("../texts/LGPL-2.1"),
        },
        Other {
            name: "rust-std",
            version: String::new(),
            licence: "MIT OR Apache-2.0",
            why: "Rust's standard library",
            text: include_str!("../texts/rust-std"),
        },
        Other {
            name: "zstd",
            version: zstd.split_once("zstd.").map_or(String::new(), |(_, version)| version.to_string()),
            licence: "BSD-3-Clause",
            why: "the C library in the crate zstd-sys; chosen of its two licences",
            text: include_str!("../texts/zstd"),
        },
        Other {
            name: "uplot",
            version: uplot.to_string(),
            licence: "MIT",
            why: "in the script of `iowhy report --html`",
            text: include_str!("../texts/uplot"),
        },
        Other {
            name: "noto-sans-mono",
            version: String::new(),
            licence: "OFL-1.1",
            why: "the letters of pictures, as points, in the crate noto-sans-mono-bitmap",
            text: include_str!("../texts/OFL-1.1"),
        },
    ])
}
