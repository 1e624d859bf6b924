//! Settings by name, with the text that the kernel gives for them.

use crate::lenient::Text;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

/// Files of a folder in /sys or /proc with their contents: `nr_requests` is `256`. A value that is no text (null, a list) is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, String>);

impl Settings {
    /// Whether there are no settings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Deref for Settings {
    type Target = BTreeMap<String, String>;
    fn deref(&self) -> &BTreeMap<String, String> {
        &self.0
    }
}

impl DerefMut for Settings {
    fn deref_mut(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.0
    }
}

impl FromIterator<(String, String)> for Settings {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(all: I) -> Settings {
        Settings(all.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Settings {
    type Item = (&'a String, &'a String);
    type IntoIter = std::collections::btree_map::Iter<'a, String, String>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl IntoIterator for Settings {
    type Item = (String, String);
    type IntoIter = std::collections::btree_map::IntoIter<String, String>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Settings, D::Error> {
        let all = BTreeMap::<String, Text>::deserialize(from)?;
        Ok(all.into_iter().filter_map(|(name, Text(value))| Some((name, value?))).collect())
    }
}
