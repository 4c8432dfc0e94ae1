//! Fixes of memory.

use super::Proof::{NotHere, Tests};
use super::Who::{Programmer, Root, User};
use super::{Fix, rows};

/// Keeps malloc and free from asking the kernel for memory once the loop runs.
macro_rules! keep_memory {
    () => {
        "no allocation in the loop; or, before it starts, mlockall, mallopt(M_MMAP_MAX, 0) and \
         mallopt(M_TRIM_THRESHOLD, -1), and allocate and free once as much as it will need; for blocks of 32 MiB or more \
         in a thread other than main also mallopt(M_ARENA_MAX, 1). mlockall alone moves the work from page faults into \
         these calls"
    };
}

rows! {
    LOCK_MEMORY: Fix {
        name: "mlockall, before the loop touches its memory",
        words: concat!(
            "lock and touch the loop's memory before it starts (mlockall), and keep malloc from giving it back: ",
            keep_memory!()
        ),
        changes: "locked memory of the process",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["touched_and_kept_memory_cures_page_faults"]),
    };
    READ_PAGES_BEFORE: Fix {
        name: "pages of mapped files, before the loop starts",
        words: "have the pages in memory before the loop starts: mlockall, or MAP_POPULATE or madvise(MADV_POPULATE_READ) for \
                mapped files; and load libraries (dlopen) before it",
        changes: "when the program's pages are read, and whether they stay in memory",
        who: &[Programmer],
        trial: None,
        proof: NotHere("needs a slow disk; mlockall is tested with page faults"),
    };
    PAGES_BEFORE: Fix {
        name: "pages of a userfaultfd, before the loop starts",
        words: "{} provides pages that the loop touches (userfaultfd): touch them before the loop starts, and let nobody take \
                them away (mlockall)",
        changes: "when the program's pages are provided",
        who: &[Programmer],
        trial: None,
        proof: NotHere("mlockall, which touches all pages, is tested with page faults"),
    };
    NO_FORK: Fix {
        name: "no fork() while the loop runs",
        words: "{} calls fork(), after which the kernel copies each page that the loop writes to, locked or not: start programs \
                with posix_spawn() or vfork(), or keep the loop's memory out of the copy with madvise(MADV_DONTFORK)",
        changes: "whether new processes share the loop's memory",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["memory_that_is_not_forked_cures_copied_pages"]),
    };
    KEEP_MEMORY: Fix {
        name: "mallopt(M_MMAP_MAX) and mallopt(M_TRIM_THRESHOLD)",
        words: concat!(
            "memory that the program maps itself: map and unmap it before the loop starts. If malloc or free makes the \
             call: ",
            keep_memory!()
        ),
        changes: "when malloc returns memory",
        who: &[Programmer, User],
        trial: Some("malloc"),
        proof: Tests(&[
            "mallopt_cures_allocation_in_locked_memory",
            "tunables_of_malloc_help_a_loop_that_allocates",
        ]),
    };
    NO_MAPPING: Fix {
        name: "no change of the memory map",
        words: "the kernel changes a process' memory map for one thread at a time: no allocation, mmap, munmap or page fault \
                in the loop, or none of large memory in {} while the loop runs",
        changes: "who changes the memory map, and when",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["an_unchanged_memory_map_cures_waits_for_it"]),
    };
    MEMORY_LIMIT: Fix {
        name: "memory limit of the group",
        words: "lock the loop's memory (mlockall), allocate none and write to no mapped file while it runs. If memory.events \
                of its control group counts high in the meantime, raise memory.high, or put other programs into a group of their \
                own",
        changes: "`memory.high` of the control group, or the program's use of memory",
        who: &[Programmer, Root],
        trial: None,
        proof: NotHere("the test machine's memory controller is of version 1, which has no memory.high"),
    };
}
