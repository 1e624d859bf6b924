//! The modules stand in layers, as `lib.rs` lists them: each uses only those of layers below its own.

use std::collections::HashMap;
use std::path::Path;

#[test]
fn a_module_uses_only_what_stands_below_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(src.join("lib.rs")).unwrap();
    // Layers are separated by blank lines.
    let mut layers = HashMap::new();
    for (at, layer) in lib.split("\n\n").enumerate() {
        let modules = layer.lines().filter_map(|l| l.strip_prefix("mod ")?.strip_suffix(';'));
        layers.extend(modules.map(|module| (module.to_owned(), at)));
    }
    assert!(layers.len() > 20, "{layers:?}");
    let name = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().to_owned();
    for (module, layer) in &layers {
        let text = std::fs::read_to_string(src.join(format!("{module}.rs"))).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for line in code.lines().filter(|l| l.starts_with("use crate::")) {
            let path = &line["use crate::".len()..];
            let used: Vec<_> = match path.strip_prefix('{') {
                Some(several) => several.split(", ").map(name).collect(),
                None => vec![name(path)],
            };
            for u in used {
                assert!(layers[&u] > *layer, "{module} uses {u}, which does not stand below it");
            }
        }
    }
}
