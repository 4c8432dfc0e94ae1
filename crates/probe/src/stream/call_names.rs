//! Names of the system calls by their numbers, which differ between architectures. The numbers are
//! those of the `libc` crate for the architecture that this program is built for.

/// A list of names, each with its number.
macro_rules! numbered {
    ($($name:ident)*) => {
        &[$((libc::$name, stringify!($name))),*]
    };
}

/// The name of a system call; `None` for a number that this version does not know.
#[allow(
    clippy::useless_conversion,
    reason = "a long has 32 bits on some machines"
)]
pub(super) fn name(number: i64) -> Option<&'static str> {
    let all = COMMON.iter().chain(OWN);
    let mut named = all.filter(|(known, _)| i64::from(*known) == number);
    named.find_map(|(_, name)| name.strip_prefix("SYS_"))
}

/// The number of a system call; `None` if this architecture has none of that name.
#[allow(
    clippy::useless_conversion,
    reason = "a long has 32 bits on some machines"
)]
pub(super) fn number(name: &str) -> Option<i64> {
    let all = COMMON.iter().chain(OWN);
    let mut named = all.filter(|(_, known)| known.strip_prefix("SYS_") == Some(name));
    named.next().map(|(number, _)| i64::from(*number))
}

/// Those that all architectures have.
#[rustfmt::skip]
const COMMON: &[(libc::c_long, &str)] = numbered![
    SYS_accept4 SYS_acct SYS_add_key SYS_adjtimex SYS_bind SYS_bpf SYS_brk SYS_capget SYS_capset
    SYS_chdir SYS_chroot SYS_clock_adjtime SYS_clock_getres SYS_clock_gettime
    SYS_clock_nanosleep SYS_clock_settime SYS_clone SYS_clone3 SYS_close SYS_close_range
    SYS_connect SYS_copy_file_range SYS_delete_module SYS_dup SYS_dup3 SYS_epoll_create1
    SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_execve SYS_execveat SYS_exit
    SYS_exit_group SYS_faccessat SYS_faccessat2 SYS_fallocate SYS_fanotify_init
    SYS_fanotify_mark SYS_fchdir SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_fcntl
    SYS_fdatasync SYS_fgetxattr SYS_finit_module SYS_flistxattr SYS_flock SYS_fremovexattr
    SYS_fsconfig SYS_fsetxattr SYS_fsmount SYS_fsopen SYS_fspick SYS_fstat SYS_fstatfs SYS_fsync
    SYS_ftruncate SYS_futex SYS_futex_waitv SYS_get_mempolicy SYS_get_robust_list SYS_getcpu
    SYS_getcwd SYS_getdents64 SYS_getegid SYS_geteuid SYS_getgid SYS_getgroups SYS_getitimer
    SYS_getpeername SYS_getpgid SYS_getpid SYS_getppid SYS_getpriority SYS_getrandom
    SYS_getresgid SYS_getresuid SYS_getrusage SYS_getsid SYS_getsockname SYS_getsockopt
    SYS_gettid SYS_gettimeofday SYS_getuid SYS_getxattr SYS_init_module SYS_inotify_add_watch
    SYS_inotify_init1 SYS_inotify_rm_watch SYS_io_cancel SYS_io_destroy SYS_io_getevents
    SYS_io_setup SYS_io_submit SYS_io_uring_enter SYS_io_uring_register SYS_io_uring_setup
    SYS_ioctl SYS_ioprio_get SYS_ioprio_set SYS_kcmp SYS_kexec_load SYS_keyctl SYS_kill
    SYS_landlock_add_rule SYS_landlock_create_ruleset SYS_landlock_restrict_self SYS_lgetxattr
    SYS_linkat SYS_listen SYS_listxattr SYS_llistxattr SYS_lookup_dcookie SYS_lremovexattr
    SYS_lseek SYS_lsetxattr SYS_madvise SYS_mbind SYS_membarrier SYS_memfd_create
    SYS_memfd_secret SYS_mincore SYS_mkdirat SYS_mknodat SYS_mlock SYS_mlock2 SYS_mlockall
    SYS_mount SYS_mount_setattr SYS_move_mount SYS_move_pages SYS_mprotect SYS_mq_getsetattr
    SYS_mq_notify SYS_mq_open SYS_mq_timedreceive SYS_mq_timedsend SYS_mq_unlink SYS_mremap
    SYS_msync SYS_munlock SYS_munlockall SYS_munmap SYS_name_to_handle_at SYS_nanosleep
    SYS_nfsservctl SYS_open_by_handle_at SYS_open_tree SYS_openat SYS_openat2
    SYS_perf_event_open SYS_personality SYS_pidfd_getfd SYS_pidfd_open SYS_pidfd_send_signal
    SYS_pipe2 SYS_pivot_root SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect SYS_ppoll SYS_prctl
    SYS_pread64 SYS_preadv SYS_preadv2 SYS_prlimit64 SYS_process_madvise SYS_process_mrelease
    SYS_process_vm_readv SYS_process_vm_writev SYS_pselect6 SYS_ptrace SYS_pwrite64 SYS_pwritev
    SYS_pwritev2 SYS_quotactl SYS_quotactl_fd SYS_read SYS_readahead SYS_readlinkat SYS_readv
    SYS_reboot SYS_recvfrom SYS_recvmmsg SYS_recvmsg SYS_remap_file_pages SYS_removexattr
    SYS_renameat2 SYS_request_key SYS_restart_syscall SYS_rt_sigaction SYS_rt_sigpending
    SYS_rt_sigprocmask SYS_rt_sigqueueinfo SYS_rt_sigreturn SYS_rt_sigsuspend
    SYS_rt_sigtimedwait SYS_rt_tgsigqueueinfo SYS_sched_get_priority_max
    SYS_sched_get_priority_min SYS_sched_getaffinity SYS_sched_getattr SYS_sched_getparam
    SYS_sched_getscheduler SYS_sched_rr_get_interval SYS_sched_setaffinity SYS_sched_setattr
    SYS_sched_setparam SYS_sched_setscheduler SYS_sched_yield SYS_seccomp SYS_sendfile
    SYS_sendmmsg SYS_sendmsg SYS_sendto SYS_set_mempolicy SYS_set_mempolicy_home_node
    SYS_set_robust_list SYS_set_tid_address SYS_setdomainname SYS_setfsgid SYS_setfsuid
    SYS_setgid SYS_setgroups SYS_sethostname SYS_setitimer SYS_setns SYS_setpgid SYS_setpriority
    SYS_setregid SYS_setresgid SYS_setresuid SYS_setreuid SYS_setsid SYS_setsockopt
    SYS_settimeofday SYS_setuid SYS_setxattr SYS_shutdown SYS_sigaltstack SYS_signalfd4
    SYS_socket SYS_socketpair SYS_splice SYS_statfs SYS_statx SYS_swapoff SYS_swapon
    SYS_symlinkat SYS_sync SYS_syncfs SYS_sysinfo SYS_syslog SYS_tee SYS_tgkill SYS_timer_create
    SYS_timer_delete SYS_timer_getoverrun SYS_timer_gettime SYS_timer_settime SYS_timerfd_create
    SYS_timerfd_gettime SYS_timerfd_settime SYS_times SYS_tkill SYS_truncate SYS_umask
    SYS_umount2 SYS_uname SYS_unlinkat SYS_unshare SYS_userfaultfd SYS_utimensat SYS_vhangup
    SYS_vmsplice SYS_wait4 SYS_waitid SYS_write SYS_writev
];

/// Those that this architecture has besides.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const OWN: &[(libc::c_long, &str)] = numbered![
    SYS_accept SYS_access SYS_alarm SYS_arch_prctl SYS_chmod SYS_chown SYS_creat SYS_dup2
    SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_fadvise64 SYS_fchmodat2 SYS_fork
    SYS_futimesat SYS_get_thread_area SYS_getdents SYS_getpgrp SYS_getrlimit SYS_inotify_init
    SYS_ioperm SYS_iopl SYS_kexec_file_load SYS_lchown SYS_link SYS_lstat SYS_migrate_pages
    SYS_mkdir SYS_mknod SYS_mmap SYS_modify_ldt SYS_mseal SYS_msgctl SYS_msgget SYS_msgrcv
    SYS_msgsnd SYS_newfstatat SYS_open SYS_pause SYS_pipe SYS_poll SYS_readlink SYS_rename
    SYS_renameat SYS_rmdir SYS_rseq SYS_select SYS_semctl SYS_semget SYS_semop SYS_semtimedop
    SYS_set_thread_area SYS_setrlimit SYS_shmat SYS_shmctl SYS_shmdt SYS_shmget SYS_signalfd
    SYS_stat SYS_symlink SYS_sync_file_range SYS_sysfs SYS_time SYS_unlink SYS_ustat SYS_utime
    SYS_utimes SYS_vfork
];

/// Those that this architecture has besides.
#[cfg(target_arch = "aarch64")]
#[rustfmt::skip]
const OWN: &[(libc::c_long, &str)] = numbered![
    SYS_accept SYS_fadvise64 SYS_migrate_pages SYS_mmap SYS_mseal SYS_msgctl SYS_msgget
    SYS_msgrcv SYS_msgsnd SYS_newfstatat SYS_rseq SYS_semctl SYS_semget SYS_semop SYS_semtimedop
    SYS_shmat SYS_shmctl SYS_shmdt SYS_shmget
];

/// Those that this architecture has besides.
#[cfg(target_arch = "arm")]
#[rustfmt::skip]
const OWN: &[(libc::c_long, &str)] = numbered![
    SYS__llseek SYS__newselect SYS_accept SYS_access SYS_chmod SYS_chown SYS_chown32 SYS_creat
    SYS_dup2 SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_fchown32 SYS_fcntl64 SYS_fork
    SYS_fstat64 SYS_fstatat64 SYS_fstatfs64 SYS_ftruncate64 SYS_futimesat SYS_getdents
    SYS_getegid32 SYS_geteuid32 SYS_getgid32 SYS_getgroups32 SYS_getpgrp SYS_getresgid32
    SYS_getresuid32 SYS_getuid32 SYS_inotify_init SYS_lchown SYS_lchown32 SYS_link SYS_lstat
    SYS_lstat64 SYS_mkdir SYS_mknod SYS_mmap2 SYS_mseal SYS_msgctl SYS_msgget SYS_msgrcv
    SYS_msgsnd SYS_nice SYS_open SYS_pause SYS_pciconfig_iobase SYS_pciconfig_read
    SYS_pciconfig_write SYS_pipe SYS_poll SYS_readlink SYS_recv SYS_rename SYS_renameat
    SYS_rmdir SYS_semctl SYS_semget SYS_semop SYS_semtimedop SYS_send SYS_sendfile64
    SYS_setfsgid32 SYS_setfsuid32 SYS_setgid32 SYS_setgroups32 SYS_setregid32 SYS_setresgid32
    SYS_setresuid32 SYS_setreuid32 SYS_setrlimit SYS_setuid32 SYS_shmat SYS_shmctl SYS_shmdt
    SYS_shmget SYS_sigaction SYS_signalfd SYS_sigpending SYS_sigprocmask SYS_sigreturn
    SYS_sigsuspend SYS_stat SYS_stat64 SYS_statfs64 SYS_symlink SYS_sysfs SYS_truncate64
    SYS_ugetrlimit SYS_unlink SYS_ustat SYS_utimes SYS_vfork
];

/// Those that this architecture has besides.
#[cfg(target_arch = "x86")]
#[rustfmt::skip]
const OWN: &[(libc::c_long, &str)] = numbered![
    SYS__llseek SYS__newselect SYS_access SYS_alarm SYS_chmod SYS_chown SYS_chown32 SYS_creat
    SYS_dup2 SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_fadvise64 SYS_fadvise64_64
    SYS_fchmodat2 SYS_fchown32 SYS_fcntl64 SYS_fork SYS_fstat64 SYS_fstatat64 SYS_fstatfs64
    SYS_ftruncate64 SYS_futimesat SYS_get_thread_area SYS_getdents SYS_getegid32 SYS_geteuid32
    SYS_getgid32 SYS_getgroups32 SYS_getpgrp SYS_getresgid32 SYS_getresuid32 SYS_getrlimit
    SYS_getuid32 SYS_inotify_init SYS_ioperm SYS_iopl SYS_ipc SYS_lchown SYS_lchown32 SYS_link
    SYS_lstat SYS_lstat64 SYS_migrate_pages SYS_mkdir SYS_mknod SYS_mmap SYS_mmap2
    SYS_modify_ldt SYS_nice SYS_open SYS_pause SYS_pipe SYS_poll SYS_readdir SYS_readlink
    SYS_rename SYS_renameat SYS_rmdir SYS_select SYS_sendfile64 SYS_set_thread_area
    SYS_setfsgid32 SYS_setfsuid32 SYS_setgid32 SYS_setgroups32 SYS_setregid32 SYS_setresgid32
    SYS_setresuid32 SYS_setreuid32 SYS_setrlimit SYS_setuid32 SYS_sgetmask SYS_sigaction
    SYS_signal SYS_signalfd SYS_sigpending SYS_sigprocmask SYS_sigreturn SYS_sigsuspend
    SYS_socketcall SYS_ssetmask SYS_stat SYS_stat64 SYS_statfs64 SYS_stime SYS_symlink
    SYS_sync_file_range SYS_sysfs SYS_time SYS_truncate64 SYS_ugetrlimit SYS_umount SYS_unlink
    SYS_ustat SYS_utime SYS_utimes SYS_vfork SYS_vm86 SYS_vm86old SYS_waitpid
];

/// Those that this architecture has besides: not listed.
#[cfg(not(any(
    target_arch = "x86_64",
    target_arch = "aarch64",
    target_arch = "arm",
    target_arch = "x86"
)))]
const OWN: &[(libc::c_long, &str)] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_name_that_the_kernel_gives_it() {
        for known in ["write", "futex", "clock_nanosleep"] {
            assert_eq!(number(known).and_then(name), Some(known));
        }
        #[cfg(target_arch = "x86_64")]
        assert_eq!((name(0), name(9)), (Some("read"), Some("mmap")));
        assert_eq!(name(100_000), None);
    }
}
