//! `causes --json`, schema `iowhy.causes/1`: the known causes, or one of them with its page.

use causes::Nature;
use serde::Serialize;

/// The name of the schema.
pub(crate) const SCHEMA: &str = "iowhy.causes/1";

/// The known causes in the order in which they claim time; or one cause with its page.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownCauses {
    /// The name of this schema.
    schema: &'static str,
    /// The causes; one if it was named.
    causes: Vec<KnownCause>,
}

/// A known cause.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct KnownCause {
    /// Its name, which never changes. Example: `writeback-flood`.
    name: &'static str,
    /// What happens, in one line.
    title: &'static str,
    /// How much of it is significant.
    nature: Significant,
    /// Whether a recording can show it; if not, only texts of other tools can.
    in_recordings: bool,
    /// Its page in Markdown: how it is found, what would refute it, what to do; left out in the list of all causes.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'static str>,
}

/// How much of a cause is significant: `general`: it only says where the time passed; `contention`: another task's requests in the
/// device; `everyday`: every busy machine has a little of it; `limit`: somebody set a limit; `rare`: even a little of it is worth
/// reporting.
#[derive(Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum Significant {
    General,
    Contention,
    Everyday,
    Limit,
    Rare,
}

impl From<Nature> for Significant {
    fn from(nature: Nature) -> Significant {
        match nature {
            Nature::General => Significant::General,
            Nature::Contention => Significant::Contention,
            Nature::Everyday => Significant::Everyday,
            Nature::Limit => Significant::Limit,
            Nature::Rare => Significant::Rare,
        }
    }
}

impl KnownCauses {
    /// All causes, without their pages.
    pub fn all() -> KnownCauses {
        let causes = causes::all_pages().map(|(name, title, _)| KnownCause::of(name, title, None));
        KnownCauses { schema: SCHEMA, causes: causes.collect() }
    }

    /// The cause of this name, with its page; `None` if no cause has this name.
    pub fn one(name: &str) -> Option<KnownCauses> {
        let (name, title, page) = causes::all_pages().find(|(known, ..)| *known == name)?;
        Some(KnownCauses { schema: SCHEMA, causes: vec![KnownCause::of(name, title, Some(page))] })
    }
}

impl KnownCause {
    fn of(name: &'static str, title: &'static str, page: Option<&'static str>) -> KnownCause {
        let in_recordings = causes::is_in_recordings(name);
        KnownCause { name, title, nature: causes::nature(name).into(), in_recordings, page }
    }
}
