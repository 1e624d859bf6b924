//! The file as it is written. What is missing is empty, what is new is passed over.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Debug, Default, serde::Deserialize)]
pub struct File {
    pub before: Option<Snapshot>,
    pub after: Option<Snapshot>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Snapshot {
    pub kernel: Texts,
    pub cpus: Texts,
    pub memory_bytes: Option<u64>,
    pub disks: BTreeMap<String, Disk>,
    pub mounts: Vec<Mount>,
    pub cgroups: Cgroups,
    pub vm: Texts,
    pub processes: Processes,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Processes {
    pub list: BTreeMap<u32, Process>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Process {
    pub threads: Vec<u32>,
    pub files: BTreeMap<i32, OpenFile>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct OpenFile {
    pub dev: String,
    pub inode: u64,
    pub path: String,
    pub closed_on_exec: Option<bool>,
    pub subvolume: String,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Disk {
    pub dev: Text,
    pub sectors: Text,
    pub read_only: Text,
    pub driver: Text,
    pub device: Texts,
    pub queue: Texts,
    pub iosched: Texts,
    pub hardware_queues: Vec<HardwareQueue>,
    pub bdi: Texts,
    pub partitions: BTreeMap<String, Partition>,
    pub lower: Vec<String>,
    pub md: Texts,
    pub md_members: BTreeMap<String, Texts>,
    pub dm: Texts,
    #[serde(rename = "loop")]
    pub loop_file: LoopFile,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct LoopFile {
    pub extents: Extents,
    #[serde(flatten)]
    pub settings: Texts,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Extents {
    pub list: Vec<Extent>,
}

#[derive(Clone, Copy, Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Extent {
    pub file: u64,
    pub device: u64,
    pub len: u64,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Partition {
    pub dev: Text,
    pub start: Text,
    pub sectors: Text,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct HardwareQueue {
    pub tags: Text,
    pub reserved_tags: Text,
    pub cpus: Text,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Mount {
    pub dev: String,
    pub source: String,
    pub point: String,
    pub fstype: String,
    pub options: String,
    pub super_options: String,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Cgroups {
    pub list: Vec<Group>,
    pub paths: BTreeMap<u64, String>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
pub struct Group {
    pub path: String,
    pub id: u64,
    pub settings: Texts,
}

pub type Texts = BTreeMap<String, Text>;

/// A setting as text. Numbers are told as text too, `true` as `1`; what has parts of its own is passed over.
#[derive(Debug, Default)]
pub struct Text(pub Option<String>);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        from.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a setting")
    }
    fn visit_str<E>(self, v: &str) -> Result<Text, E> {
        Ok(Text(Some(v.to_owned())))
    }
    fn visit_u64<E>(self, v: u64) -> Result<Text, E> {
        Ok(Text(Some(v.to_string())))
    }
    fn visit_i64<E>(self, v: i64) -> Result<Text, E> {
        Ok(Text(Some(v.to_string())))
    }
    fn visit_f64<E>(self, v: f64) -> Result<Text, E> {
        Ok(Text(Some(v.to_string())))
    }
    fn visit_bool<E>(self, v: bool) -> Result<Text, E> {
        Ok(Text(Some(u8::from(v).to_string())))
    }
    fn visit_unit<E>(self) -> Result<Text, E> {
        Ok(Text(None))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Text, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Text, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text(None))
    }
}
