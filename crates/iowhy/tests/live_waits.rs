//! Live, as root: waits that are no I/O of the operation's own: for memory in a small control group, for a file's lock and
//! whoever has it, for a time that the journal waits, for a worker.

use crate::lab::{All, Case, Recorded};
use ledger::Reason;
use operation::{Account, Kind, Operation, Part, Wait};
use std::collections::BTreeSet;
use trace::{Call, Nanos};

type One = (Operation, Account, String);

/// Parts of a ledger that wait so, with what ended each: the parts one deeper.
fn waits(account: &Account, is: Wait) -> Vec<(Nanos, Vec<&Part>)> {
    let nodes = &account.nodes;
    let found =
        nodes.iter().enumerate().filter(|(_, n)| matches!(n.part, Part::Wait { wait, .. } if wait == is));
    found
        .map(|(at, n)| {
            let within = nodes[at + 1..].iter().take_while(|m| m.depth > n.depth);
            (n.length(), within.filter(|m| m.depth == n.depth + 1).map(|m| &m.part).collect())
        })
        .collect()
}

fn of<'a>(all: &'a All, kind: Kind, tasks: &[&str]) -> Vec<&'a One> {
    let is = |(o, _, task): &&One| o.kind == kind && o.is_storage && tasks.contains(&task.as_str());
    all.operations.iter().filter(is).collect()
}

/// Every wait that is known by its function only: nothing here may be.
fn all_are_named(r: &Recorded, capture: &str) {
    let mut unnamed = BTreeSet::new();
    // Those that applications wait for, and what goes on behind their backs.
    for op in [&[][..], &["--op", "journal-commit"], &["--op", "writeback"]] {
        let said = r.iowhy(&[&["slow", "-n", "50"], op].concat(), capture);
        for part in said["slowest"].as_array().unwrap().iter().flat_map(|o| o["parts"].as_array().unwrap()) {
            let stack = part["stack"].as_array().map_or(0, Vec::len);
            if part["wait"] == "unknown" && stack > 0 {
                unnamed.insert(format!("{}: {}", part["function"], part["stack"]));
            }
        }
    }
    println!("{capture}: waits without a name: {unnamed:#?}");
    assert!(unnamed.is_empty(), "{unnamed:#?}");
}

/// 64 MiB are written and read in a group that may have 8. In version 1 a task that frees memory waits for the write-back of
/// what it meets.
const SMALL: &str = r#"
    v1=/sys/fs/cgroup/memory; v2=/sys/fs/cgroup
    if [ -e $v1/memory.limit_in_bytes ]; then
        group=$v1/iowhy-$name; mkdir $group; echo 8M > $group/memory.limit_in_bytes
    elif grep -qw memory $v2/cgroup.subtree_control 2>/dev/null; then
        group=$v2/iowhy-$name; mkdir $group; echo 8M > $group/memory.max
    else
        echo 'CANNOT: no cgroup here limits memory' >&2; exit 1
    fi
    cp $(command -v dd) small
    held() {
        echo $BASHPID > $group/cgroup.procs
        ./small if=/dev/zero of=mnt/f bs=64k count=512 2>/dev/null
        ./small if=mnt/f of=/dev/null bs=64k 2>/dev/null
    }
    export group; export -f held
    (record capture held); status=$?
    for i in $(seq 50); do rmdir $group 2>/dev/null && break; sleep 0.1; done; exit $status"#;

fn memory_of_a_small_group() {
    let disk = Some("--channels 1 --read-us 200 --write-us 500 --mbps 40");
    let Some(r) = (Case { disk, fs: "ext4", setup: "", run: SMALL, needs: &[] }).run() else { return };
    let all = r.operations("capture");
    let mut calls = of(&all, Kind::Call(Call::Write), &["small"]);
    calls.extend(of(&all, Kind::Call(Call::Read), &["small"]));
    let reclaim: Nanos = calls.iter().map(|(_, a, _)| a.of(Reason::Reclaim)).sum();
    let throttle: Nanos = calls.iter().map(|(_, a, _)| a.of(Reason::DirtyThrottle)).sum();
    let timer: Nanos = calls.iter().map(|(_, a, _)| a.of(Reason::Timer)).sum();
    let total: Nanos = calls.iter().map(|(_, a, _)| a.total()).sum();
    let ms = |t: Nanos| t.0 as f64 / 1e6;
    println!(
        "{} calls, {:.0} ms: {:.0} ms for memory, {:.0} ms for having written too much, {:.0} ms for timers",
        calls.len(),
        ms(total),
        ms(reclaim),
        ms(throttle),
        ms(timer)
    );
    assert!(reclaim.0 * 20 > total.0, "{} of {} ms", ms(reclaim), ms(total));
    // Sleeps in io_schedule_timeout within balance_dirty_pages are throttling, and no timer.
    assert!(timer.0 * 100 < total.0, "{} ms", ms(timer));
    all_are_named(&r, "capture");
}

/// Two tasks append to one file past its cache. A write that makes the file longer has its lock alone until the device has
/// the data: 10 ms.
const ONE_FILE: &str = r#"
    cp $(command -v dd) first; cp $(command -v dd) second; touch mnt/f
    both() {
        ./first if=/dev/zero of=mnt/f bs=4k count=40 oflag=direct,append conv=notrunc 2>/dev/null &
        ./second if=/dev/zero of=mnt/f bs=4k count=40 oflag=direct,append conv=notrunc 2>/dev/null
        wait
    }
    export -f both
    record capture both"#;

fn two_tasks_on_one_file_wait_for_each_other() {
    let disk = Some("--channels 4 --read-us 200 --write-us 10000");
    let Some(r) = (Case { disk, fs: "ext4", setup: "", run: ONE_FILE, needs: &[] }).run() else { return };
    let all = r.operations("capture");
    let writes = of(&all, Kind::Call(Call::Write), &["first", "second"]);
    let mut tids: Vec<_> = writes.iter().map(|(o, ..)| o.tid).collect();
    tids.sort_unstable();
    tids.dedup();
    assert_eq!((writes.len(), tids.len()), (80, 2));
    let (mut held, mut by_other, mut unknown) = (Vec::new(), 0, 0);
    for (o, account, _) in &writes {
        let other = tids.iter().find(|t| **t != o.tid).copied();
        for (time, parts) in waits(account, Wait::InodeLock) {
            held.push(time);
            match parts[..] {
                [Part::Task(tid)] if Some(*tid) == other => by_other += 1,
                _ => unknown += 1,
            }
        }
    }
    held.sort_unstable();
    let median = held.get(held.len() / 2).copied().unwrap_or_default();
    println!("{} waits for the lock, median {} ms; the other task had it {by_other} times, not known {unknown} times", held.len(), median.0 as f64 / 1e6);
    assert!(held.len() >= 30, "{}", held.len());
    assert!(by_other * 10 >= held.len() * 9, "{by_other} of {}", held.len());
    // As long as the other one's write is in the device, or most of it.
    assert!((Nanos(3_000_000)..Nanos(30_000_000)).contains(&median), "{median:?}");
    let said = r.iowhy(&["slow", "--op", "write", "-n", "5"], "capture");
    assert!(said.to_string().contains("the file's lock (rwsem_down_write_slowpath): "), "{said:#}");
    all_are_named(&r, "capture");
}

/// Files are made by two tasks on a file system on which each change must be on disk at once: whoever is not the last one to
/// have asked waits a moment whether others join (fs/jbd2/transaction.c, `jbd2_journal_stop`).
const IN_TURNS: &str = r#"
    umount mnt; mount -o dirsync,max_batch_time=15000,min_batch_time=5000 $dev mnt; mkdir mnt/a mnt/b
    turns() {
        make() { for i in $(seq 30); do : > mnt/$1/$i; done; }
        make a & make b & wait
    }
    export -f turns
    record capture turns"#;

fn a_journal_that_waits_for_company() {
    let disk = Some("--channels 4 --read-us 200 --write-us 1000 --flush-us 1500");
    let Some(r) = (Case { disk, fs: "ext4", setup: "", run: IN_TURNS, needs: &[] }).run() else { return };
    let all = r.operations("capture");
    let opens = of(&all, Kind::Call(Call::Open), &["bash"]);
    let batched: Vec<Nanos> =
        opens.iter().flat_map(|(_, a, _)| waits(a, Wait::JournalBatch)).map(|(time, _)| time).collect();
    let timer: Nanos = opens.iter().map(|(_, a, _)| a.of(Reason::Timer)).sum();
    println!(
        "{} opens, {} waited for company, {} ms in all",
        opens.len(),
        batched.len(),
        timer.0 as f64 / 1e6
    );
    assert!(batched.len() >= 5, "{}", batched.len());
    assert!(batched.iter().copied().sum::<Nanos>() <= timer);
    all_are_named(&r, "capture");
}

/// An fsync on XFS hands the gathered changes to a worker.
fn a_work_item_says_who_queued_it_and_how_long_it_lay() {
    let run =
        "record capture fio --output=fio.json --name=sync --directory=mnt --rw=write --bs=4k --size=4M \
        --ioengine=psync --fsync=1 --numjobs=2 --group_reporting --runtime=1 --time_based";
    let disk = Some("--channels 4 --read-us 200 --write-us 1000 --flush-us 1500");
    let Some(r) = (Case { disk, fs: "xfs", setup: "", run, needs: &[] }).run() else { return };
    let said = r.iowhy(&["slow", "--op", "fsync", "-n", "200"], "capture");
    let (mut pushes, mut by_fio, mut lay) = (0, 0, Vec::new());
    for o in said["slowest"].as_array().unwrap() {
        let parts = o["parts"].as_array().unwrap();
        for (at, part) in parts.iter().enumerate().filter(|(_, p)| p["work"] == "xlog_cil_push_work") {
            pushes += 1;
            by_fio += usize::from(part["queued_by"] == "fio" && part["queued_in_interrupt"] == false);
            // The time in the queue is a part of its own.
            let deeper = |p: &serde_json::Value| p["depth"].as_u64() > part["depth"].as_u64();
            let within = parts[at + 1..].iter().take_while(|p| deeper(p));
            lay.extend(within.filter(|p| p["reason"] == "work-queue").filter_map(|p| p["ns"].as_u64()));
        }
    }
    lay.sort_unstable();
    println!(
        "{pushes} pushes of the log, {by_fio} queued by fio; lay in the queue for {:?} ns (least, median, most)",
        [0, lay.len() / 2, lay.len().saturating_sub(1)].map(|at| lay.get(at))
    );
    assert!(pushes >= 20 && by_fio * 10 >= pushes * 9, "{by_fio} of {pushes}");
    assert!(lay.len() * 2 >= pushes && lay.first().is_some_and(|ns| *ns > 0));
    let text = said["slowest"].to_string();
    assert!(
        text.contains("work item xlog_cil_push_work in kworker") && text.contains(", queued by fio"),
        "{text}"
    );
}

crate::lab::tried!(
    memory_of_a_small_group,
    two_tasks_on_one_file_wait_for_each_other,
    a_journal_that_waits_for_company,
    a_work_item_says_who_queued_it_and_how_long_it_lay
);
