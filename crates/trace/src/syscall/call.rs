//! A system call that does I/O, by its name.

use serde::Serialize;

/// A system call. Variants of one call (`pread64`, `preadv2`) share a value; calls that behave differently are separate.
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
    /// `stat`, `lstat`, `newfstatat`, `statx`, `access`, `faccessat`, `faccessat2`, `readlink`, `readlinkat`, `getxattr`, `listxattr`: calls
    /// that look up a path.
    Stat,
    /// `mkdir`, `mkdirat`, `mknod`, `mknodat`.
    Mkdir,
    /// `link`, `linkat`, `symlink`, `symlinkat`.
    Link,
    /// `chmod`, `chown`, `utimensat`, `setxattr`, `removexattr` and their variants: calls that change the attributes of a file.
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
    /// Any other system call.
    Other,
}

impl Call {
    /// All calls that are operations on files; the remaining calls only affect descriptors.
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

    /// The call by the name in its tracepoint (`sys_enter_NAME`), which is the name of the kernel function.
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

    /// The common name, also used in JSON.
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

    /// Whether it only affects descriptors and never waits significantly.
    pub fn is_of_descriptors(self) -> bool {
        use Call::*;
        matches!(self, Dup | Dup2 | Dup3 | Fcntl | Ioctl | CloseRange | Exec)
    }

    /// Whether the call makes data durable.
    pub fn is_sync(self) -> bool {
        use Call::*;
        matches!(self, Fsync | Fdatasync | Sync | Syncfs | SyncFileRange | Msync)
    }
}
