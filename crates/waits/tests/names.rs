//! Kernel threads are told from programs by their names: nobody is advised to stop a thread of the kernel, or told that a program is one.

use waits::is_kernel_thread;

#[test]
fn threads_of_the_kernel_are_known_and_programs_of_similar_names_are_none() {
    for name in ["kworker/u8:1", "jbd2/sda1-8", "xfsaild/dm-0", "loop0", "loop12", "md0_raid5", "md127_raid1"]
    {
        assert!(is_kernel_thread(name), "{name}");
    }
    for name in ["loop", "looper", "loop0x", "md5sum", "mdadm", "my_raid_tool", "postgres", "worker", ""] {
        assert!(!is_kernel_thread(name), "{name}");
    }
}
