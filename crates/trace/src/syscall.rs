//! System calls that do I/O, whatever number an architecture gives them.

use serde::Serialize;

/// What a task asks of the kernel. Variants of one call (`pread64`, `preadv2`) keep apart what behaves apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// `read`, `readv`, `pread64`, `preadv`, `preadv2`.
    Read,
    /// `write`, `writev`, `pwrite64`, `pwritev`, `pwritev2`.
    Write,
    /// `fsync`.
    Fsync,
    /// `fdatasync`.
    Fdatasync,
    /// `sync`.
    Sync,
    /// `syncfs`.
    Syncfs,
    /// `sync_file_range`.
    SyncFileRange,
    /// `msync`.
    Msync,
    /// `open`, `openat`, `openat2`, `creat`.
    Open,
    /// `close`.
    Close,
    /// `unlink`, `unlinkat`, `rmdir`.
    Unlink,
    /// `rename`, `renameat`, `renameat2`.
    Rename,
    /// `truncate`, `ftruncate`.
    Truncate,
    /// `fallocate`.
    Fallocate,
    /// `getdents`, `getdents64`.
    Getdents,
    /// `stat`, `lstat`, `newfstatat`, `statx`, `access`, `faccessat`, `faccessat2`, `readlink`, `readlinkat`, `getxattr`, `listxattr`: they look a
    /// path up.
    Stat,
    /// `mkdir`, `mkdirat`, `mknod`, `mknodat`.
    Mkdir,
    /// `link`, `linkat`, `symlink`, `symlinkat`.
    Link,
    /// `chmod`, `chown`, `utimensat`, `setxattr`, `removexattr` and their variants: they change what a file is said to be.
    Attributes,
    /// `sendfile`.
    Sendfile,
    /// `copy_file_range`.
    CopyFileRange,
    /// `io_submit` (libaio).
    IoSubmit,
    /// `io_getevents`, `io_pgetevents` (libaio).
    IoGetevents,
    /// `io_uring_enter`.
    IoUringEnter,
    /// `dup`.
    Dup,
    /// `dup2`.
    Dup2,
    /// `dup3`.
    Dup3,
    /// `fcntl`.
    Fcntl,
    /// `ioctl`.
    Ioctl,
    /// `close_range`.
    CloseRange,
    /// `execve`, `execveat`.
    Exec,
    /// Any other.
    Other,
}

/// x86-64: number, call (arch/x86/entry/syscalls/syscall_64.tbl).
const X86_64: &[(u16, Call)] = &[
    (0, Call::Read),
    (1, Call::Write),
    (2, Call::Open),
    (3, Call::Close),
    (4, Call::Stat),
    (6, Call::Stat),
    (16, Call::Ioctl),
    (17, Call::Read),
    (18, Call::Write),
    (19, Call::Read),
    (20, Call::Write),
    (21, Call::Stat),
    (26, Call::Msync),
    (32, Call::Dup),
    (33, Call::Dup2),
    (40, Call::Sendfile),
    (59, Call::Exec),
    (72, Call::Fcntl),
    (74, Call::Fsync),
    (75, Call::Fdatasync),
    (76, Call::Truncate),
    (77, Call::Truncate),
    (78, Call::Getdents),
    (82, Call::Rename),
    (83, Call::Mkdir),
    (84, Call::Unlink),
    (85, Call::Open),
    (86, Call::Link),
    (87, Call::Unlink),
    (88, Call::Link),
    (89, Call::Stat),
    (90, Call::Attributes),
    (91, Call::Attributes),
    (92, Call::Attributes),
    (93, Call::Attributes),
    (94, Call::Attributes),
    (132, Call::Attributes),
    (133, Call::Mkdir),
    (162, Call::Sync),
    (188, Call::Attributes),
    (189, Call::Attributes),
    (190, Call::Attributes),
    (191, Call::Stat),
    (192, Call::Stat),
    (193, Call::Stat),
    (194, Call::Stat),
    (195, Call::Stat),
    (196, Call::Stat),
    (197, Call::Attributes),
    (198, Call::Attributes),
    (199, Call::Attributes),
    (208, Call::IoGetevents),
    (209, Call::IoSubmit),
    (217, Call::Getdents),
    (235, Call::Attributes),
    (257, Call::Open),
    (258, Call::Mkdir),
    (259, Call::Mkdir),
    (260, Call::Attributes),
    (261, Call::Attributes),
    (262, Call::Stat),
    (263, Call::Unlink),
    (264, Call::Rename),
    (265, Call::Link),
    (266, Call::Link),
    (267, Call::Stat),
    (268, Call::Attributes),
    (269, Call::Stat),
    (277, Call::SyncFileRange),
    (280, Call::Attributes),
    (285, Call::Fallocate),
    (292, Call::Dup3),
    (295, Call::Read),
    (296, Call::Write),
    (306, Call::Syncfs),
    (316, Call::Rename),
    (322, Call::Exec),
    (326, Call::CopyFileRange),
    (327, Call::Read),
    (328, Call::Write),
    (332, Call::Stat),
    (333, Call::IoGetevents),
    (426, Call::IoUringEnter),
    (436, Call::CloseRange),
    (437, Call::Open),
    (439, Call::Stat),
    (452, Call::Attributes),
];

/// What all newer architectures share: arm64, riscv, loongarch (include/uapi/asm-generic/unistd.h).
const GENERIC: &[(u16, Call)] = &[
    (2, Call::IoSubmit),
    (4, Call::IoGetevents),
    (5, Call::Attributes),
    (6, Call::Attributes),
    (7, Call::Attributes),
    (8, Call::Stat),
    (9, Call::Stat),
    (10, Call::Stat),
    (11, Call::Stat),
    (12, Call::Stat),
    (13, Call::Stat),
    (14, Call::Attributes),
    (15, Call::Attributes),
    (16, Call::Attributes),
    (23, Call::Dup),
    (24, Call::Dup3),
    (25, Call::Fcntl),
    (29, Call::Ioctl),
    (33, Call::Mkdir),
    (34, Call::Mkdir),
    (35, Call::Unlink),
    (36, Call::Link),
    (37, Call::Link),
    (38, Call::Rename),
    (45, Call::Truncate),
    (46, Call::Truncate),
    (47, Call::Fallocate),
    (48, Call::Stat),
    (52, Call::Attributes),
    (53, Call::Attributes),
    (54, Call::Attributes),
    (55, Call::Attributes),
    (56, Call::Open),
    (57, Call::Close),
    (61, Call::Getdents),
    (63, Call::Read),
    (64, Call::Write),
    (65, Call::Read),
    (66, Call::Write),
    (67, Call::Read),
    (68, Call::Write),
    (69, Call::Read),
    (70, Call::Write),
    (71, Call::Sendfile),
    (78, Call::Stat),
    (79, Call::Stat),
    (81, Call::Sync),
    (82, Call::Fsync),
    (83, Call::Fdatasync),
    (84, Call::SyncFileRange),
    (88, Call::Attributes),
    (221, Call::Exec),
    (227, Call::Msync),
    (267, Call::Syncfs),
    (276, Call::Rename),
    (281, Call::Exec),
    (285, Call::CopyFileRange),
    (286, Call::Read),
    (287, Call::Write),
    (291, Call::Stat),
    (292, Call::IoGetevents),
    (426, Call::IoUringEnter),
    (436, Call::CloseRange),
    (437, Call::Open),
    (439, Call::Stat),
    (452, Call::Attributes),
];

/// The numbers of one architecture.
#[derive(Clone, Copy, Debug)]
pub struct Calls(&'static [(u16, Call)]);

impl Calls {
    /// Of a machine whose numbers are not known: all calls are [`Call::Other`].
    pub const NONE: Calls = Calls(&[]);

    /// Of a machine as `uname -m` calls it; `None` for one whose numbers are not known here.
    pub fn of_machine(machine: &str) -> Option<Calls> {
        match machine {
            "x86_64" => Some(Calls(X86_64)),
            "aarch64" | "riscv64" | "loongarch64" => Some(Calls(GENERIC)),
            _ => None,
        }
    }

    /// The call with this number.
    #[inline]
    pub fn call(self, number: u64) -> Call {
        let found = self.0.binary_search_by_key(&number, |(n, _)| u64::from(*n));
        found.map_or(Call::Other, |at| self.0[at].1)
    }

    /// Which argument of the `open` with this number has the flags, where one has: `creat` has none, and `openat2` keeps
    /// them in memory.
    pub fn open_flags(self, number: u64) -> Option<usize> {
        let is_x86 = self.0.first() == X86_64.first();
        match number {
            2 if is_x86 => Some(1),
            257 if is_x86 => Some(2),
            56 if !is_x86 => Some(2),
            _ => None,
        }
    }
}

impl Call {
    /// All that are operations on files; the others say what descriptors mean.
    pub const ALL: [Call; 24] = {
        use Call::*;
        [
            Read,
            Write,
            Fsync,
            Fdatasync,
            Sync,
            Syncfs,
            SyncFileRange,
            Msync,
            Open,
            Close,
            Unlink,
            Rename,
            Truncate,
            Fallocate,
            Getdents,
            Stat,
            Mkdir,
            Link,
            Attributes,
            Sendfile,
            CopyFileRange,
            IoSubmit,
            IoGetevents,
            IoUringEnter,
        ]
    };

    /// By the name of its own tracepoint (`sys_enter_NAME`): that of the function in the kernel.
    pub fn by_name(name: &str) -> Call {
        match name {
            "readv" | "pread64" | "preadv" | "preadv2" => Call::Read,
            "writev" | "pwrite64" | "pwritev" | "pwritev2" => Call::Write,
            "openat" | "openat2" | "creat" => Call::Open,
            "unlinkat" | "rmdir" => Call::Unlink,
            "renameat" | "renameat2" | "newrename" => Call::Rename,
            "ftruncate" => Call::Truncate,
            "getdents64" => Call::Getdents,
            "newstat" | "newlstat" | "lstat" | "newfstatat" | "statx" | "access" | "faccessat"
            | "faccessat2" | "readlink" | "readlinkat" | "getxattr" | "lgetxattr" | "fgetxattr"
            | "listxattr" | "llistxattr" | "flistxattr" => Call::Stat,
            "chmod" | "fchmod" | "fchmodat" | "fchmodat2" | "chown" | "lchown" | "fchown" | "fchownat"
            | "utime" | "utimes" | "futimesat" | "utimensat" | "setxattr" | "lsetxattr" | "fsetxattr"
            | "removexattr" | "lremovexattr" | "fremovexattr" => Call::Attributes,
            "mkdirat" | "mknod" | "mknodat" => Call::Mkdir,
            "linkat" | "symlink" | "symlinkat" => Call::Link,
            "sendfile64" => Call::Sendfile,
            "io_pgetevents" => Call::IoGetevents,
            "execve" | "execveat" => Call::Exec,
            "dup" => Call::Dup,
            "dup2" => Call::Dup2,
            "dup3" => Call::Dup3,
            "fcntl" => Call::Fcntl,
            "ioctl" => Call::Ioctl,
            "close_range" => Call::CloseRange,
            name => Call::ALL.into_iter().find(|call| call.name() == name).unwrap_or(Call::Other),
        }
    }

    /// Its name, as people call it and as JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Call::Read => "read",
            Call::Write => "write",
            Call::Fsync => "fsync",
            Call::Fdatasync => "fdatasync",
            Call::Sync => "sync",
            Call::Syncfs => "syncfs",
            Call::SyncFileRange => "sync_file_range",
            Call::Msync => "msync",
            Call::Open => "open",
            Call::Close => "close",
            Call::Unlink => "unlink",
            Call::Rename => "rename",
            Call::Truncate => "truncate",
            Call::Fallocate => "fallocate",
            Call::Getdents => "getdents",
            Call::Stat => "stat",
            Call::Mkdir => "mkdir",
            Call::Link => "link",
            Call::Attributes => "setattr",
            Call::Sendfile => "sendfile",
            Call::CopyFileRange => "copy_file_range",
            Call::IoSubmit => "io_submit",
            Call::IoGetevents => "io_getevents",
            Call::IoUringEnter => "io_uring_enter",
            Call::Dup => "dup",
            Call::Dup2 => "dup2",
            Call::Dup3 => "dup3",
            Call::Fcntl => "fcntl",
            Call::Ioctl => "ioctl",
            Call::CloseRange => "close_range",
            Call::Exec => "execve",
            Call::Other => "other",
        }
    }

    /// Whether its first argument is a file descriptor.
    pub fn has_fd(self) -> bool {
        use Call::*;
        !matches!(
            self,
            Sync | Msync
                | Open
                | Unlink
                | Rename
                | Truncate
                | Stat
                | Mkdir
                | Link
                | Attributes
                | IoSubmit
                | IoGetevents
                | IoUringEnter
                | CloseRange
                | Exec
                | Other
        )
    }

    /// Whether it only says what descriptors mean, and waits for nothing worth telling.
    pub fn is_of_descriptors(self) -> bool {
        use Call::*;
        matches!(self, Dup | Dup2 | Dup3 | Fcntl | Ioctl | CloseRange | Exec)
    }

    /// Whether the call is about making data durable.
    pub fn is_sync(self) -> bool {
        use Call::*;
        matches!(self, Fsync | Fdatasync | Sync | Syncfs | SyncFileRange | Msync)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_for_the_search() {
        for table in [X86_64, GENERIC] {
            assert!(table.windows(2).all(|w| w[0].0 < w[1].0));
        }
    }

    #[test]
    fn numbers_differ_between_machines() {
        let x86 = Calls::of_machine("x86_64").unwrap();
        let arm = Calls::of_machine("aarch64").unwrap();
        assert_eq!((x86.call(74), arm.call(82)), (Call::Fsync, Call::Fsync));
        assert_eq!((x86.call(1 << 40), arm.call(74)), (Call::Other, Call::Other));
        assert_eq!((x86.call(280), arm.call(88)), (Call::Attributes, Call::Attributes), "utimensat");
        assert!(Calls::of_machine("vax").is_none());
    }
}
