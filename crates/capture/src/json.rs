//! How documents of a recording are written.

/// A document as indented JSON with a final newline.
pub(crate) fn pretty(document: &impl serde::Serialize) -> Vec<u8> {
    let mut json = serde_json::to_vec_pretty(document).unwrap_or_default();
    json.push(b'\n');
    json
}
