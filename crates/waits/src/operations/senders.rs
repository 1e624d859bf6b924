//! Determines the culprit of a request for an operation.

use super::{Accounts, Adding};
use crate::culprit::{Culprit, CulpritId, CulpritKind};
use crate::table::Table;
use crate::who::{is_of, By};
use device::Holder;
use life::{is_unknown_sender, Holding, Io, Names, TaskName};
use trace::{is_kernel_thread, Tid};

impl Accounts {
    /// The culprit of a request that the operation waited for.
    pub(super) fn sender(&mut self, table: &mut Table, a: &Adding, r: &By, doer: Option<Tid>) -> CulpritId {
        let is_own = |task: TaskName| a.names.is_one_job(task, a.o.task);
        // Of a request that was sent before the recording, only writeback is known to be another's.
        let is_unknown = is_unknown_sender(r.tid, r.task) && r.holding.io != Io::BackgroundWrite;
        let mine =
            is_unknown || r.tid == a.o.tid || is_own(r.task) || r.owner.is_some_and(|o| is_own(o.task));
        match r.owner {
            _ if mine && !r.owner.is_some_and(|o| o.journal) => table.plain(CulpritKind::Own, None),
            Some(_) => self.of_holding(table, a, &r.holding),
            None => self.doer(table, a, doer.or(Some(r.tid)), Some(r.holding.io)),
        }
    }

    /// The culprit for work of a task on behalf of the operation: the operation's own task, a kernel thread, or another task.
    pub(super) fn doer(
        &mut self,
        table: &mut Table,
        a: &Adding,
        doer: Option<Tid>,
        io: Option<Io>,
    ) -> CulpritId {
        let name = doer.map(|tid| a.names.of(tid));
        let is_other = |name: &TaskName| doer != Some(a.o.tid) && !a.names.is_one_job(*name, a.o.task);
        let Some(name) = name.filter(is_other) else {
            return table.plain(CulpritKind::Own, None);
        };
        let kind = if self.is_kernel(name, a.names) { CulpritKind::Kernel } else { CulpritKind::Task };
        table.culprit(&Culprit { kind, name: Some(a.names.text(name).into()), dirtied_by: None, io })
    }

    pub(super) fn holder(&mut self, table: &mut Table, a: &Adding, holder: Holder) -> CulpritId {
        match a.names.holding(holder) {
            Some(holding) => {
                let holding = *holding;
                if is_of(&holding, a.o.task, a.names) {
                    return table.plain(CulpritKind::Own, Some(holding.io));
                }
                self.known(table, holder, &holding, a.names)
            }
            None => table.culprit(&Culprit::others()),
        }
    }

    pub(super) fn of_holding(&mut self, table: &mut Table, a: &Adding, h: &Holding) -> CulpritId {
        if is_of(h, a.o.task, a.names) {
            return table.plain(CulpritKind::Own, Some(h.io));
        }
        let culprit = self.culprit(h, a.names);
        table.culprit(&culprit)
    }

    /// The culprit of a holder of the device, cached by the holder's number.
    pub(crate) fn known(
        &mut self,
        table: &mut Table,
        holder: Holder,
        h: &Holding,
        names: &Names,
    ) -> CulpritId {
        match self.holders.get(holder.0 as usize) {
            Some(Some((known, id))) if known == h => return *id,
            Some(_) => {}
            None => self.holders.resize(holder.0 as usize + 1, None),
        }
        let culprit = self.culprit(h, names);
        let id = table.culprit(&culprit);
        self.holders[holder.0 as usize] = Some((*h, id));
        id
    }

    fn culprit(&mut self, h: &Holding, names: &Names) -> Culprit {
        let kernel = self.is_kernel(h.task, names);
        let text = |name: TaskName| -> Option<Box<str>> { Some(names.text(name).into()) };
        let kind = |kernel| if kernel { CulpritKind::Kernel } else { CulpritKind::Task };
        let io = Some(h.io);
        match (kernel, h.owner == h.task) {
            (_, true) => Culprit { kind: kind(kernel), name: text(h.task), dirtied_by: None, io },
            (true, false) => Culprit { kind: CulpritKind::Task, name: text(h.owner), dirtied_by: None, io },
            (false, false) => {
                Culprit { kind: CulpritKind::Task, name: text(h.task), dirtied_by: text(h.owner), io }
            }
        }
    }

    fn is_kernel(&mut self, task: TaskName, names: &Names) -> bool {
        *self.kernel.entry(task).or_insert_with(|| is_kernel_thread(names.text(task)))
    }
}
