//! Kernel threads are told from programs by their names: nobody is advised to stop a thread of the kernel, or told that a program is one.

use waits::is_kernel_thread;

#[test]
fn threads_of_the_kernel_are_known_and_programs_of_similar_names_are_none() {
    for name in [
        "kworker/u8:1",
        "jbd2/sda1-8",
        "xfsaild/dm-0",
        "xfs-conv/sda1",
        "loop0",
        "loop12",
        "md0_raid5",
        "md127_raid1",
        "f2fs_gc-8:0",
        "bcache_gc",
    ] {
        assert!(is_kernel_thread(name), "{name}");
    }
    for name in [
        "loop",
        "looper",
        "loop0x",
        "md5sum",
        "mdadm",
        "my_raid_tool",
        "postgres",
        "worker",
        "xfs_fsr",
        "xfs_repair",
        "bcachefs",
        "",
    ] {
        assert!(!is_kernel_thread(name), "{name}");
    }
}
