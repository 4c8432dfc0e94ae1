//! The loads as they are written.

use super::ethercat::{DEVICES, INTERFACE, JITTER, LOSS, STOPS_AFTER};
use super::{Form, Key, Variant, Variants, optional, required};

/// From one exchange of process data to the next.
pub(crate) const EXCHANGE_PERIOD_NS: (u64, u64) = (100_000, 1_000_000_000);
const WORKERS: Key = optional(
    "workers",
    Form::Either(&[Form::Choice(&["per-cpu"]), Form::Integer(1, 1024)]),
    "\"per-cpu\"",
    "How many workers; \"per-cpu\" is one for each CPU that the load may use.",
);
const CPU: Key = optional(
    "cpu",
    Form::Integer(0, 8191),
    "all CPUs",
    "The one CPU to run on.",
);
const CPUS: Key = optional(
    "cpus",
    Form::CpuSet,
    "all CPUs, the loop's included",
    "CPUs to run on. Not with `cpu`.",
);
const ARGUMENTS: Key = optional(
    "arguments",
    Form::Texts(0),
    "none beyond what wakepath needs itself",
    "Arguments as on its command line, one text for each; no shell reads them.",
);
const PLAIN: [Key; 3] = [WORKERS, CPU, CPUS];
const PROGRAM: [Key; 4] = [ARGUMENTS, WORKERS, CPU, CPUS];

const fn plain(name: &'static str, about: &'static str) -> Variant {
    Variant {
        name,
        about,
        keys: &PLAIN,
    }
}

const fn program(name: &'static str, about: &'static str) -> Variant {
    Variant {
        name,
        about,
        keys: &PROGRAM,
    }
}

pub(crate) static LOAD: Variants = Variants {
    title: "load",
    about: "One disturbance. A load that needs no more can be written as its kind alone: \
            `\"cpu\"`, `\"files\"`; a memory load also as `\"memory l2\"`, `\"memory 4 MiB\"` or `\"memory dram chase\"`, one of a GPU as \
            `\"gpu transfer\"`, one of storage as `\"fio direct\"`.",
    tag: "kind",
    short: (
        "^(cpu|memory( (l1|l2|l3|dram|[0-9].*)( chase)?)?|messages|processes|files|network|timers|\
         timer-storm|rcu-storm|address-spaces|ethercat|stress-ng|fio( (direct|buffered))?|hackbench|bonnie|iperf3|wget|gpu( (compute|transfer))?|glmark2)$",
        "the kind alone, such as `\"cpu\"`",
    ),
    variants: &[
        plain("cpu", "Arithmetic without memory traffic."),
        Variant {
            name: "memory",
            about: "Goes through a working set in each worker.",
            keys: &[
                optional(
                    "working-set",
                    Form::Either(&[Form::Choice(&["l1", "l2", "l3", "dram"]), Form::Size]),
                    "\"dram\"",
                    "Half of the cache of that level, four times the last-level cache (\"dram\"), \
                     or a size, for each worker.",
                ),
                optional(
                    "access",
                    Form::Choice(&["stream", "chase"]),
                    "\"stream\"",
                    "`stream`: reads, changes and writes back from end to end, as many bytes as the memory takes. \
                     `chase`: reads one cache line after another in an unforeseeable order, each address from the \
                     line before; its accesses per second show how long one takes.",
                ),
                WORKERS,
                CPU,
                CPUS,
            ],
        },
        plain(
            "messages",
            "Groups of processes that pass messages through sockets.",
        ),
        plain("processes", "fork, exec, mmap and exit, over and over."),
        plain("files", "Writes files and calls fsync."),
        plain("network", "UDP and TCP over loopback."),
        plain("timers", "Short timers and signals."),
        plain(
            "timer-storm",
            "Thousands of timers that expire at one instant, ten times a second.",
        ),
        plain(
            "rcu-storm",
            "Sockets with full queues closed at once, which the kernel frees later (RCU).",
        ),
        plain(
            "address-spaces",
            "Forks of a large process: its page tables are copied, written through and taken down.",
        ),
        Variant {
            name: "ethercat",
            about: "Process data exchanged with an EtherCAT bus at a rate of its own. Only frames that all \
                    devices took part in count.",
            keys: &[
                optional(
                    "rate",
                    Form::Rate(EXCHANGE_PERIOD_NS.0, EXCHANGE_PERIOD_NS.1),
                    "\"1 kHz\"",
                    "Exchanges in a second, up to 10 kHz.",
                ),
                optional(
                    "period",
                    Form::Time(EXCHANGE_PERIOD_NS.0, EXCHANGE_PERIOD_NS.1),
                    "that of `rate`",
                    "From one exchange to the next. Not with `rate`.",
                ),
                INTERFACE,
                DEVICES,
                JITTER,
                LOSS,
                STOPS_AFTER,
                CPU,
                CPUS,
            ],
        },
        program("stress-ng", "stress-ng from its package."),
        Variant {
            name: "fio",
            about: "fio from its package, with a job of a profile or of your own. Without either it has no job.",
            keys: &[
                optional(
                    "profile",
                    Form::Choice(&["direct", "buffered"]),
                    "none: the arguments say all",
                    "`direct`: four processes read and write 4 KiB anywhere in 256 MiB each, past the page cache. \
                     `buffered`: two write 256 MiB each in a row into the page cache, and have it written to the disk \
                     at the end. The run records the arguments that this means; `arguments` come after them.",
                ),
                ARGUMENTS,
                WORKERS,
                CPU,
                CPUS,
            ],
        },
        program("hackbench", "hackbench from rt-tests."),
        program("bonnie", "bonnie++ from its package."),
        program(
            "iperf3",
            "iperf3 against a server that wakepath starts on loopback.",
        ),
        plain(
            "wget",
            "wget against a local HTTP server that wakepath starts.",
        ),
        Variant {
            name: "gpu",
            about: "A GPU kept at work by the program wakepath-gpu, through CUDA, Vulkan or OpenCL. \
                    If none of them has a device: glmark2 off screen.",
            keys: &[
                optional(
                    "work",
                    Form::Choice(&["compute", "transfer"]),
                    "\"compute\"",
                    "Multiply matrices in the device's memory, or copy between the host's memory and the device's.",
                ),
                optional(
                    "interface",
                    Form::Choice(&["cuda", "vulkan", "opencl"]),
                    "the first of them that has a device, one of silicon before a program on the CPU",
                    "By what the device is driven; then nothing else will do.",
                ),
                optional(
                    "device",
                    Form::Integer(0, 255),
                    "0",
                    "Its number, as `wakepath-gpu list` has it.",
                ),
                CPU,
                CPUS,
            ],
        },
        program("glmark2", "glmark2, started again when it ends."),
        Variant {
            name: "command",
            about: "Any command, started again when it ends.",
            keys: &[
                required(
                    "command",
                    Form::Texts(1),
                    "Program and arguments, one text for each; no shell reads them.",
                ),
                WORKERS,
                CPU,
                CPUS,
            ],
        },
    ],
};
