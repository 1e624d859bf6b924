//! What is written for Perfetto, read with its published schema: the slices are the ledgers, to the nanosecond.

use crate::support::{by_number, fixture, read, All};
use export::{Folder, Perfetto};
use ledger::Ledger;
use operation::Part;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

/// A slice of a decoded trace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Slice {
    track: u64,
    from: u64,
    to: u64,
    depth: usize,
    name: String,
    flows: BTreeSet<u64>,
}

/// A decoded trace.
#[derive(Default)]
struct Decoded {
    /// Parent and name, or the thread.
    tracks: HashMap<u64, (Option<u64>, String)>,
    slices: Vec<Slice>,
    /// Ends of arrows: of each its number, and what is told of it, by time.
    ends: BTreeMap<u64, Vec<(u64, u64, String, String)>>,
    counters: BTreeMap<u64, Vec<(u64, i64)>>,
}

fn schema() -> DescriptorPool {
    let packed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perfetto/perfetto_trace.binpb.zst");
    let files = zstd::decode_all(std::fs::File::open(packed).unwrap()).unwrap();
    DescriptorPool::decode(&files[..]).unwrap()
}

fn field(m: &DynamicMessage, name: &str) -> Option<Value> {
    m.has_field_by_name(name).then(|| m.get_field_by_name(name).unwrap().into_owned())
}

fn number(m: &DynamicMessage, name: &str) -> Option<u64> {
    field(m, name).map(|v| match v {
        Value::U64(n) => n,
        Value::U32(n) => n.into(),
        Value::I64(n) => n as u64,
        Value::I32(n) | Value::EnumNumber(n) => n as u64,
        other => panic!("{name}: {other:?}"),
    })
}

fn text(m: &DynamicMessage, name: &str) -> Option<String> {
    field(m, name).and_then(|v| v.as_str().map(str::to_string))
}

fn message(m: &DynamicMessage, name: &str) -> Option<DynamicMessage> {
    field(m, name).and_then(|v| v.as_message().cloned())
}

/// Reads a trace as Perfetto does: by time, packets of one moment in their order.
fn decode(bytes: &[u8]) -> Decoded {
    let kind = schema().get_message_by_name("perfetto.protos.Trace").unwrap();
    let trace = DynamicMessage::decode(kind, bytes).expect("the schema's Trace");
    assert_eq!(trace.unknown_fields().count(), 0);
    let mut decoded = Decoded::default();
    let mut names: HashMap<u64, String> = HashMap::new();
    let mut events = vec![];
    let packets = field(&trace, "packet").unwrap();
    for (i, packet) in packets.as_list().unwrap().iter().enumerate() {
        let packet = packet.as_message().unwrap();
        assert_eq!(packet.unknown_fields().count(), 0);
        assert_eq!(number(packet, "trusted_packet_sequence_id"), Some(1));
        assert_eq!(number(packet, "sequence_flags").unwrap() & 1 == 1, i == 0, "names are cleared once");
        if let Some(interned) = message(packet, "interned_data") {
            for name in field(&interned, "event_names").unwrap().as_list().unwrap() {
                let name = name.as_message().unwrap();
                names.insert(number(name, "iid").unwrap(), text(name, "name").unwrap());
            }
        }
        if let Some(track) = message(packet, "track_descriptor") {
            assert_eq!(track.unknown_fields().count(), 0);
            let thread = message(&track, "thread").map(|t| number(&t, "tid").unwrap().to_string());
            let name = text(&track, "name").or(thread).unwrap();
            decoded.tracks.insert(number(&track, "uuid").unwrap(), (number(&track, "parent_uuid"), name));
        }
        if let Some(event) = message(packet, "track_event") {
            assert_eq!(event.unknown_fields().count(), 0);
            let name = number(&event, "name_iid").map(|n| names[&n].clone()).or(text(&event, "name"));
            events.push((number(packet, "timestamp").unwrap(), event, name));
        }
    }
    events.sort_by_key(|(at, ..)| *at);
    let mut open: HashMap<u64, Vec<Slice>> = HashMap::new();
    for (at, event, name) in events {
        let track = number(&event, "track_uuid").unwrap();
        assert!(decoded.tracks.contains_key(&track));
        let stack = open.entry(track).or_default();
        match number(&event, "type").unwrap() {
            1 => {
                let flows = field(&event, "flow_ids").map_or(BTreeSet::new(), |v| {
                    v.as_list().unwrap().iter().map(|f| f.as_u64().unwrap()).collect()
                });
                let (depth, name) = (stack.len(), name.unwrap());
                stack.push(Slice { track, from: at, to: at, depth, name, flows });
            }
            2 => {
                let mut slice = stack.pop().expect("a slice that ends has begun");
                slice.to = at;
                decoded.slices.push(slice);
            }
            3 => {
                let flow = field(&event, "flow_ids").unwrap().as_list().unwrap()[0].as_u64().unwrap();
                let notes = field(&event, "debug_annotations").unwrap();
                let who = text(notes.as_list().unwrap()[0].as_message().unwrap(), "string_value").unwrap();
                assert!(!stack.is_empty(), "it stands in what ends then");
                decoded.ends.entry(flow).or_default().push((at, track, name.unwrap(), who));
            }
            4 => {
                let value = field(&event, "counter_value").unwrap().as_i64().unwrap();
                decoded.counters.entry(track).or_default().push((at, value));
            }
            other => panic!("type {other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice ends");
    decoded
}

fn exported(recording: &str) -> (Decoded, All) {
    let dir = tempfile::tempdir().unwrap();
    let mut export = Perfetto::create(&Folder::create(dir.path()).unwrap(), by_number()).unwrap();
    read(&fixture(recording), |batch| export.feed(batch));
    let ((name, packets), left_out) = export.finish().unwrap();
    assert!(packets > 0);
    assert_eq!(left_out, 0);
    (decode(&std::fs::read(dir.path().join(name)).unwrap()), All::of(&fixture(recording)))
}

/// The slice and those right within it, as text.
fn told(from: u64, to: u64, name: &str, parts: impl Iterator<Item = (u64, u64, String)>) -> String {
    let parts: Vec<String> = parts.map(|(a, b, name)| format!("{a}-{b} {name}")).collect();
    format!("{from}-{to} {name}: {}", parts.join(", "))
}

fn told_slices(decoded: &Decoded, is_ours: impl Fn(&str) -> bool) -> Vec<String> {
    let mut by_track: BTreeMap<u64, Vec<&Slice>> = BTreeMap::new();
    decoded.slices.iter().for_each(|s| by_track.entry(s.track).or_default().push(s));
    let mut all = vec![];
    for (track, slices) in by_track {
        if !is_ours(&decoded.tracks[&track].1) {
            continue;
        }
        // Parts end before the whole.
        let mut parts: Vec<&Slice> = vec![];
        for slice in slices {
            if slice.depth == 0 {
                let parts = parts.drain(..).filter(|p| p.depth == 1);
                all.push(told(
                    slice.from,
                    slice.to,
                    &slice.name,
                    parts.map(|p| (p.from, p.to, p.name.clone())),
                ));
            } else {
                parts.push(slice);
            }
        }
    }
    all.sort();
    all
}

fn is_class(name: &str) -> bool {
    life::Class::ALL.iter().any(|c| stats::class_words(*c) == name)
}

#[test]
fn slices_of_requests_are_their_ledgers() {
    for recording in ["randread-vs-bufferedwrite", "raid5-randwrite8k", "misc-events"] {
        let (decoded, all) = exported(recording);
        let segments = |l: &Ledger| -> Vec<(u64, u64, String)> {
            l.segments.iter().map(|s| (s.from.0, s.to.0, s.reason.words().to_string())).collect()
        };
        let requests = all.requests.iter().map(|(r, _)| (Ledger::of(&r.time), r.op));
        let bios = all.bios.iter().filter(|(b, _)| !b.by_request).map(|(b, _)| (Ledger::of_bio(b), b.op));
        let mut expected: Vec<String> = requests
            .chain(bios)
            .map(|(l, op)| told(l.from.0, l.to.0, op.name(), segments(&l).into_iter()))
            .collect();
        expected.sort();
        assert!(!expected.is_empty());
        assert_eq!(told_slices(&decoded, is_class), expected, "{recording}");
    }
}

#[test]
fn slices_of_operations_are_their_accounts_and_arrows_lead_to_requests() {
    let (decoded, all) = exported("fsync-ordered-data");
    let operations: Vec<_> = all.operations.iter().filter(|(o, _)| o.is_storage).collect();
    assert!(!operations.is_empty());
    let mut expected: Vec<String> = operations
        .iter()
        .map(|(o, account)| {
            let parts = account.nodes.iter().filter(|n| n.depth == 0);
            let word = |part: &Part| match part {
                Part::Leaf(reason) => Some(reason.words().to_string()),
                Part::Wait { wait, .. } => Some(wait.words().to_string()),
                _ => None,
            };
            let parts = parts.map(|n| (n.from.0, n.to.0, word(&n.part).unwrap_or("*".into())));
            told(o.from.0, o.to.0, o.kind.name(), parts)
        })
        .collect();
    expected.sort();
    let slices = told_slices(&decoded, |name| !is_class(name));
    assert_eq!(slices.len(), expected.len());
    // What is neither reason nor wait has more words here than there.
    let same = |(ours, theirs): &(&String, &String)| theirs.contains('*') || ours == theirs;
    assert_eq!(slices.iter().zip(&expected).find(|pair| !same(pair)), None);

    let of_requests: BTreeSet<u64> = decoded
        .slices
        .iter()
        .filter(|s| is_class(&decoded.tracks[&s.track].1))
        .flat_map(|s| s.flows.iter().copied())
        .collect();
    let waited: Vec<&Slice> = decoded
        .slices
        .iter()
        .filter(|s| s.depth == 0 && !is_class(&decoded.tracks[&s.track].1) && !s.flows.is_empty())
        .collect();
    let with_requests = |a: &operation::Account| a.nodes.iter().any(|n| matches!(n.part, Part::Request(_)));
    assert_eq!(waited.len(), operations.iter().filter(|(_, a)| with_requests(a)).count());
    assert!(waited.len() > 10);
    let lost = waited.iter().flat_map(|s| &s.flows).filter(|f| !of_requests.contains(f)).count();
    assert_eq!(lost, 0, "arrows that lead nowhere");
}

#[test]
fn arrows_lead_from_who_was_in_the_way_to_who_waited() {
    let (decoded, all) = exported("randread-vs-bufferedwrite");
    assert!(decoded.ends.len() > 10);
    for ends in decoded.ends.values() {
        let [(from, of, way, whom), (to, at, behind, who)] = ends.as_slice() else { panic!("{ends:?}") };
        assert_eq!((way.as_str(), behind.as_str()), ("in the way", "behind another task"));
        assert!(from <= to && of != at && whom != who, "{ends:?}");
        let waited = all.requests.iter().any(|(r, _)| {
            let issued = r.time.first_issued.is_some_and(|issued| issued.0 <= *from);
            issued && r.time.completed.0 == to + 1
        });
        assert!(waited, "{ends:?}: it was in the device meanwhile");
    }
}

#[test]
fn counters_end_empty_and_sum_to_what_was_moved() {
    let (decoded, all) = exported("randread-vs-bufferedwrite");
    let named = |track: &u64| decoded.tracks[track].1.clone();
    let mut moved = 0i128;
    for (track, values) in &decoded.counters {
        assert!(values.iter().all(|(_, v)| *v >= 0), "{}", named(track));
        if named(track).ends_with("bytes a second") {
            assert_eq!(values.last().unwrap().1, 0);
            moved += values.iter().map(|(_, v)| i128::from(*v)).sum::<i128>() / 10;
        }
    }
    let bytes: i128 = all.requests.iter().map(|(r, _)| i128::from(r.bytes.0)).sum();
    assert_eq!(moved, bytes);
    let depth = decoded.counters.keys().filter(|t| named(t).ends_with("in the device")).count();
    assert!(depth >= 2, "reads and writes in the device");
}
