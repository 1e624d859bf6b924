//! Every request and every operation as a row, for notebooks. Times are in nanoseconds of the recording's clock; phases
//! that were not recorded are empty.

use crate::device_names::DeviceNames;
use crate::output::{Failure, Folder};
use crate::tables::{Form, TableFile};
use ledger::{Ledger, Reason};
use life::{Bio, Class, IoObserver, Names, Op, Request, Timeline};
use operation::{Account, Follow, History, Operation, OperationObserver, Outside};
use serde_json::{json, Value};
use trace::{Batch, Bytes, DevId, Nanos, Sector, Tid};

const REQUESTS: [&str; 20] = [
    "device",
    "op",
    "class",
    "sector",
    "bytes",
    "task",
    "tid",
    "bios",
    "error",
    "from_ns",
    "to_ns",
    "total_ns",
    "q2g_ns",
    "g2i_ns",
    "i2d_ns",
    "d2c_ns",
    "requeues",
    "ahead",
    "served",
    "served_bytes",
];
/// Columns of operations; a column for each reason follows.
const OPERATIONS: [&str; 10] =
    ["op", "task", "tid", "filesystem", "device", "inode", "result", "from_ns", "to_ns", "total_ns"];

/// The tables of requests and operations that are being written.
pub struct Rows {
    follow: Follow,
    tables: Tables,
}

struct Tables {
    requests: TableFile,
    operations: TableFile,
    name: DeviceNames,
}

impl Rows {
    /// Creates the tables `requests` and `operations` without rows.
    pub fn create(folder: &Folder, form: Form, name: DeviceNames) -> Result<Rows, Failure> {
        let requests = TableFile::create(folder, "requests", form, &REQUESTS)?;
        let reasons = Reason::ALL.iter().map(|r| format!("{}_ns", r.name()));
        let keys: Vec<String> = OPERATIONS.into_iter().map(String::from).chain(reasons).collect();
        let operations = TableFile::create(folder, "operations", form, &keys)?;
        Ok(Rows { follow: Follow::default(), tables: Tables { requests, operations, name } })
    }

    /// Uses a tracker with known facts about the machine and with the filter: only selected operations are written.
    pub fn follows(self, follow: Follow) -> Self {
        Self { follow, ..self }
    }

    /// Writes the requests and operations that ended in a batch.
    pub fn feed(&mut self, batch: &Batch) {
        self.follow.feed(batch, &mut self.tables);
    }

    /// Finishes the tables. Returns the name and number of rows of each file.
    pub fn finish(self) -> Result<Vec<(String, u64)>, Failure> {
        Ok(vec![self.tables.requests.finish()?, self.tables.operations.finish()?])
    }
}

/// The values of a request, or of a bio of a device without requests.
struct Row<'a> {
    dev: DevId,
    op: Op,
    class: Class,
    start: Sector,
    bytes: Bytes,
    task: &'a str,
    tid: Tid,
    bios: u32,
    error: u16,
    time: &'a Timeline,
    ledger: Ledger,
    contention: &'a life::Contention,
}

impl Tables {
    fn completed(&mut self, r: &Row) {
        let phase = |time: Option<Nanos>| time.map_or(Value::Null, |t| t.0.into());
        self.requests.row(&[
            (self.name)(r.dev).into(),
            r.op.name().into(),
            json!(r.class),
            r.start.0.into(),
            r.bytes.0.into(),
            r.task.into(),
            r.tid.0.into(),
            r.bios.into(),
            r.error.into(),
            r.ledger.from.0.into(),
            r.ledger.to.0.into(),
            r.ledger.total().0.into(),
            phase(r.time.q2g()),
            phase(r.time.g2i()),
            phase(r.time.i2d()),
            phase(r.time.d2c()),
            r.time.requeues.into(),
            r.contention.ahead().into(),
            r.contention.served().into(),
            r.contention.served_bytes.0.into(),
        ]);
    }
}

impl IoObserver for Tables {
    fn request(&mut self, r: &Request, names: &Names) {
        self.completed(&Row {
            dev: r.dev,
            op: r.op,
            class: r.class(),
            start: r.start,
            bytes: r.bytes,
            task: names.text(r.task),
            tid: r.tid,
            bios: r.bios,
            error: r.error,
            time: &r.time,
            ledger: Ledger::of(&r.time),
            contention: &r.contention,
        });
    }

    fn bio(&mut self, b: &Bio, names: &Names) {
        if b.by_request {
            return;
        }
        self.completed(&Row {
            dev: b.dev,
            op: b.op,
            class: b.class(),
            start: b.start,
            bytes: b.bytes,
            task: names.text(b.task),
            tid: b.tid,
            bios: 1,
            error: 0,
            time: &b.time,
            ledger: Ledger::of_bio(b),
            contention: &b.contention,
        });
    }
}

impl OperationObserver for Tables {
    fn operation(&mut self, o: &Operation, account: Account, names: &Names, _: &History) {
        if !o.is_storage {
            return;
        }
        let known = |v: u64| if v == 0 { Value::Null } else { v.into() };
        let device = if o.dev == DevId(0) { Value::Null } else { (self.name)(o.dev).into() };
        let mut row = vec![
            o.kind.name().into(),
            names.text(o.task).into(),
            o.tid.0.into(),
            o.fs.name().into(),
            device,
            known(o.inode),
            o.result.into(),
            o.from.0.into(),
            o.to.0.into(),
            o.total().0.into(),
        ];
        row.extend(Reason::ALL.iter().map(|reason| Value::from(account.of(*reason).0)));
        self.operations.row(&row);
    }

    fn outside(&mut self, _: &Outside) {}
}
