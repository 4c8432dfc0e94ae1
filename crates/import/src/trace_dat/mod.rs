//! trace-cmd's `trace.dat`, versions 6 and 7: the kernel's own pages with the formats of its events.
//! Where the parts lie is the work of `version_6` and `version_7`.

mod contents;
mod version_6;
mod version_7;

use crate::bytes::Bytes;
use crate::clock::TimersClock;
use crate::form::{Fit, Reader};
use crate::kernel_events::{MOST_EVENTS, Recording, imported};
use crate::{Asked, Form, ImportError, Imported, Use};
use contents::Contents;
use wakepath_probe::Symbols;
use wakepath_probe::stream::{Decoder, Page, PageFormat, Wanted};
use wakepath_timeline::{KernelEvent, What};

const MAGIC: &[u8] = b"\x17\x08\x44tracing";
const NEEDED: &str = "`trace-cmd record -C mono -e sched:sched_waking -e sched:sched_switch -e \
                      timer:hrtimer_start -e timer:hrtimer_expire_entry`";
/// Pages of the kernel, at least and at most.
const PAGE_BYTES: std::ops::RangeInclusive<u32> = 1024..=1 << 20;

pub(crate) const FORM: Form = Form {
    word: "trace-cmd",
    written_by: "trace-cmd record -C mono -e sched -e timer",
    uses: &[Use::Threads],
    reader: Reader::Bytes(fits, read),
};

fn fits(bytes: &[u8]) -> Fit {
    Fit::certain_if(bytes.starts_with(MAGIC))
}

pub(crate) fn read(file: &[u8], asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let contents = contents(file)?;
    let mut clock = match contents.clock.as_deref() {
        Some("mono") => TimersClock::monotonic(),
        _ => TimersClock::default(),
    };
    let events = events(&contents, &mut clock)?;
    imported(
        Recording {
            tool: "trace-cmd",
            tool_version: contents.version,
            kernel: contents.kernel,
            command: Vec::new(),
            events,
            needed: NEEDED,
            clock,
            lacks: Vec::new(),
        },
        asked,
    )
}

fn contents(file: &[u8]) -> Result<Contents<'_>, ImportError> {
    let cut = || ImportError::whole("truncated: its sections extend past its end");
    let mut head = Bytes(file);
    if head.take(MAGIC.len() as u64) != Some(MAGIC) {
        let why = "does not begin as `trace-cmd record -o FILE` writes";
        return Err(ImportError::whole(why));
    }
    let version = head.text().ok_or_else(cut)?;
    if !["6", "7"].contains(&version) {
        let why = format!("version {version:?}; 6 and 7 are known");
        return Err(ImportError::whole(why));
    }
    if head.u8().ok_or_else(cut)? != 0 {
        let why = "written on a machine of the other byte order, which is not supported";
        return Err(ImportError::whole(why));
    }
    let _long_bytes = head.u8().ok_or_else(cut)?;
    let page_bytes = head.u32().ok_or_else(cut)?;
    if !PAGE_BYTES.contains(&page_bytes) {
        let why = format!("pages of {page_bytes} bytes: not as trace-cmd writes it");
        return Err(ImportError::whole(why));
    }
    match version {
        "6" => version_6::contents(file, head, page_bytes),
        _ => version_7::contents(file, head, page_bytes),
    }
}

/// The events of all CPUs, missing ones among them.
fn events(
    contents: &Contents<'_>,
    clock: &mut TimersClock,
) -> Result<Vec<KernelEvent>, ImportError> {
    let broken = |error| ImportError::whole(format!("header_page: {error}"));
    let page_format = PageFormat::parse(contents.page_format()?).map_err(broken)?;
    let kernel = contents.kernel.as_deref().unwrap_or("");
    let is_real_time = kernel.contains("PREEMPT_RT") || kernel.contains("PREEMPT RT");
    let mut decoder = Decoder::new(Symbols::parse(contents.symbols()), is_real_time);
    let mut learnt = 0;
    for (system, format) in contents.formats()? {
        let name = format.lines().find_map(|line| line.strip_prefix("name: "));
        let Some(name) = name else {
            continue;
        };
        let wanted = match system {
            "irq_vectors" => Wanted::vector(name),
            _ => Wanted::all()
                .into_iter()
                .find(|w| w.tracepoint.system == system && w.tracepoint.name == name),
        };
        if let Some(wanted) = wanted {
            // An event of another shape is of no use, and its records are passed over.
            learnt += usize::from(decoder.learn(&wanted.tracepoint, format).is_ok());
            if name == "hrtimer_expire_entry" {
                clock.learn(format);
            }
        }
    }
    if learnt == 0 {
        let why = format!("contains no format of a known event: record with {NEEDED}");
        return Err(ImportError::whole(why));
    }
    let mut events = Vec::new();
    for (cpu, pages) in &contents.cpus {
        for page in pages.chunks(contents.page_bytes as usize) {
            // A page without an instant was never filled.
            let Some(page) = Page::parse(page, &page_format) else {
                let why = format!("a page of CPU {cpu} is truncated or not in the kernel's form");
                return Err(ImportError::whole(why));
            };
            let mut missed = page.missed;
            let mut records = page.records();
            for record in &mut records {
                if let Some(missed) = missed.take() {
                    events.push(KernelEvent {
                        at_ns: record.at_ns,
                        cpu: *cpu,
                        current: 0,
                        what: What::Lost {
                            count: missed.count,
                        },
                    });
                }
                clock.record(&record);
                decoder.decode(&record, *cpu, |event| events.push(event));
            }
            if records.is_torn() {
                let why = format!("a page of CPU {cpu} ends within an event");
                return Err(ImportError::whole(why));
            }
            if events.len() > MOST_EVENTS {
                let why = format!("more than {MOST_EVENTS} events: cut it with `trace-cmd split`");
                return Err(ImportError::whole(why));
            }
        }
    }
    Ok(events)
}
