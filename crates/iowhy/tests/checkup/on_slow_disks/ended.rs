//! However it ends, nothing is left, and no load lasts longer or writes more than was said.

use super::disk::{on_disk, GOOD};
use super::refused::{fake_fio, with_path};
use serde_json::Value as Json;

#[test]
fn killed_at_any_stage_nothing_is_left() {
    let run = r#"
set_now() { cat $queue/scheduler $queue/nr_requests $queue/wbt_lat_usec 2>/dev/null; }
before=$(set_now)
# Stages by what they leave in the folder: not yet there, laying the data, a load that runs, a load that is recorded.
stage() { case $1 in
  data|load.pid) for i in $(seq 1200); do [ -e mnt/.iowhy-checkup-*/$1 ] && return; sleep 0.02; done; echo "no $1"; exit 6;;
  recorded) stage load.pid; for i in $(seq 1200); do [ -e /sys/kernel/tracing/instances/iowhy-$pid-* ] && return; sleep 0.02; done; echo "not recorded"; exit 6;;
  begun) sleep 0.1;;
esac }
begin() {
  # bash starts what is in the background with SIGINT ignored, unless it has job control.
  set -m; "$IOWHY" checkup mnt --seconds 1 --only 2 -o r.json >/dev/null 2>said.txt & pid=$!; set +m
  stage $1
}
for each in INT:data TERM:load.pid HUP:recorded INT:recorded; do
  begin ${each#*:}; kill -${each%:*} $pid; status=0; wait $pid || status=$?
  [ $status = 130 ] && grep -q interrupted said.txt || { echo "$each: $status"; cat said.txt; exit 8; }
  clean $pid; [ ! -e r.json ]
done
for at in begun data recorded; do
  begin $at; kill -KILL $pid; wait $pid || true
  # The next one removes it before it does anything else; this one then has no fio.
  PATH= "$IOWHY" checkup mnt 2>next.txt && exit 9 || true
  "$IOWHY" record --clean > /dev/null
  clean $pid
done
[ "$before" = "$(set_now)" ]
"#;
    on_disk(GOOD, "", run);
}

#[test]
fn a_disk_that_fills_up_in_the_middle() {
    let run = r#"
( for i in $(seq 200); do [ -e mnt/.iowhy-checkup-*/load.pid ] && break; sleep 0.05; done
  # It takes nearly all that is free without writing; the rest is filled behind that.
  fallocate -l 2G mnt/fill 2>/dev/null || dd if=/dev/zero of=mnt/fill bs=1M oflag=append conv=notrunc status=none 2>/dev/null || true ) &
filler=$!
checkup --seconds 1 --only 2,3 -o r.json || true
wait $filler; clean 0
"#;
    let Some(done) = on_disk(GOOD, "", run) else { return };
    let text = done.json("r.json").to_string();
    assert!(text.contains("No space left"), "{text}");
    assert!(text.contains("cannot-tell"), "{text}");
}

#[test]
fn a_load_that_never_ends_is_ended() {
    let endless = fake_fio(
        "[ \"$1\" = --version ] && { echo fio-3.33; exit; }\ntrap '' INT TERM\nsleep 1000 & wait; sleep 1000",
    );
    let path = format!("{}:/usr/bin:/bin", endless.path().display());
    let began = std::time::Instant::now();
    let (out, result, _dir) = with_path(&path, &["--only", "1"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    // By itself it would last a thousand.
    assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    let json: Json = serde_json::from_slice(&std::fs::read(result).unwrap()).unwrap();
    let trouble = json["scenarios"][0]["steps"][0]["trouble"].as_str().unwrap();
    assert!(trouble.contains("did not end"), "{trouble}");
    assert_eq!(json["scenarios"][0]["verdict"], "cannot-tell");
}

/// A load that writes more than it may: real bytes, to a real disk. (What is in memory only is no writing.)
#[test]
fn a_load_that_writes_too_much_is_ended() {
    let run = r#"
mkdir bin; cat > bin/fio <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo fio-3.33; exit; }
exec dd if=/dev/zero of=big bs=64k count=20000 oflag=dsync
END
chmod +x bin/fio; PATH="$DIR/bin:$PATH" checkup --only 1 --seconds 1 -o r.json; clean 0
"#;
    let Some(done) = on_disk(GOOD, "", run) else { return };
    let json = done.json("r.json");
    let troubles: Vec<&str> = json["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|s| s["steps"].as_array().unwrap())
        .filter_map(|s| s["trouble"].as_str())
        .collect();
    assert!(troubles[0].contains("more than its limit, and was killed"), "{troubles:#?}");
    assert!(troubles[1].contains("not run"), "{troubles:#?}");
    // What it wrote until then is counted, and it is little.
    let laid = json["probe"]["size"].as_u64().unwrap();
    let written = json["written_bytes"].as_u64().unwrap() - laid;
    assert!((8 << 20..64 << 20).contains(&written), "{written}");
    assert!(!done.said().contains("NO PROBLEMS FOUND"), "{}", done.said());
}
