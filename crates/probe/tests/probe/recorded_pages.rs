//! Pages of the ring buffer as a kernel wrote them, decoded without that kernel: 20 sleeps of one
//! millisecond, whose times the sleeping thread noted itself. `write_the_fixture` records again.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;
use wakepath_probe::stream::{Decoder, Page, PageFormat, Wanted};
use wakepath_probe::{EventSource, Instance, Symbols, Tracefs, complete_paths};
use wakepath_rt::{affinity, clock};
use wakepath_timeline::{KernelEvent, ThreadName};

wakepath_test_program::tests![
    recorded_pages_show_every_sleep_and_nothing_that_is_not_understood,
    altered_pages_are_decoded_without_a_panic,
    ;
    write_the_fixture,
];

const NAME: &str = "fixture-sleeps";

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/x86-64-linux-6.18")
}

fn decoder() -> (Decoder, PageFormat) {
    let text = |name: &str| fs::read_to_string(fixture().join(name)).unwrap();
    let mut decoder = Decoder::new(Symbols::parse(""), false);
    for format in text("formats.txt").split("\u{c}") {
        let Some((path, format)) = format.split_once('\n') else {
            continue;
        };
        let (system, name) = path.split_once(':').unwrap();
        let wanted = Wanted::all().into_iter().chain(Wanted::vector(name));
        let wanted = wanted.map(|wanted| wanted.tracepoint);
        let mut wanted = wanted.filter(|w| w.system == system && w.name == name);
        decoder.learn(&wanted.next().unwrap(), format).unwrap();
    }
    (
        decoder,
        PageFormat::parse(&text("header_page.txt")).unwrap(),
    )
}

fn decode(pages: &[u8], page_bytes: usize) -> (Vec<KernelEvent>, u64) {
    let (mut decoder, format) = decoder();
    let mut events = Vec::new();
    for page in pages.chunks(page_bytes) {
        let page = Page::parse(page, &format);
        for record in page.iter().flat_map(Page::records) {
            decoder.decode(&record, 1, |event| events.push(event));
        }
    }
    (events, decoder.not_understood())
}

fn recorded_pages_show_every_sleep_and_nothing_that_is_not_understood() {
    let pages = fs::read(fixture().join("pages.bin")).unwrap();
    let (events, not_understood) = decode(&pages, 4096);
    assert_eq!(not_understood, 0);
    let sleeps = fs::read_to_string(fixture().join("sleeps.txt")).unwrap();
    let sleeps: Vec<(u64, u64)> = sleeps
        .lines()
        .map(|line| {
            let (from, to) = line.split_once(' ').unwrap();
            (from.parse().unwrap(), to.parse().unwrap())
        })
        .collect();
    assert_eq!(sleeps.len(), 20);
    let found = complete_paths(&events, ThreadName::new(NAME.as_bytes()), &sleeps);
    assert!(found.passed(), "{found}");
    assert!(events.is_sorted_by_key(|event| event.at_ns));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    fn altered_pages_are_decoded_without_a_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let mut pages = fs::read(fixture().join("pages.bin")).unwrap();
        for (at, byte) in changes {
            let at = at.index(pages.len());
            pages[at] = byte;
        }
        let (events, _) = decode(&pages, 4096);
        prop_assert!(events.len() <= pages.len());
    }
}

// Ignored: writes the fixture from the kernel that runs it, as root.
fn write_the_fixture() {
    let tracefs = Tracefs::find_or_mount().unwrap();
    let cpu = *affinity::current().unwrap().last().unwrap();
    let (instance, _) = Instance::create(&tracefs, &[cpu], 1 << 20).unwrap();
    instance.start().unwrap();
    let sleeper = std::thread::Builder::new()
        .name(NAME.into())
        .spawn(move || {
            affinity::pin(&[cpu]).unwrap();
            let sleep = |_| {
                let before_ns = clock::monotonic_ns();
                std::thread::sleep(Duration::from_millis(1));
                (before_ns, clock::monotonic_ns())
            };
            (0..20).map(sleep).collect::<Vec<_>>()
        });
    let sleeps = sleeper.unwrap().join().unwrap();
    instance.stop().unwrap();

    fs::create_dir_all(fixture()).unwrap();
    let mut lines = String::new();
    for (from, to) in sleeps {
        writeln!(lines, "{from} {to}").unwrap();
    }
    fs::write(fixture().join("sleeps.txt"), lines).unwrap();
    let (mut pages, mut page) = (Vec::new(), vec![0; instance.page_bytes]);
    let mut buffer = instance.pages(cpu).unwrap();
    while let Ok(length @ 1..) = buffer.read(&mut page) {
        pages.extend_from_slice(&page[..length]);
        pages.resize(pages.len().next_multiple_of(4096), 0);
    }
    fs::write(fixture().join("pages.bin"), pages).unwrap();
    // `header_page` answers one read only.
    let mut header = vec![0; 4096];
    let path = tracefs.root().join("events/header_page");
    let length = fs::File::open(path).unwrap().read(&mut header).unwrap();
    fs::write(fixture().join("header_page.txt"), &header[..length]).unwrap();
    let vectors = fs::read_dir(tracefs.root().join("events/irq_vectors")).unwrap();
    let vectors = vectors
        .flatten()
        .filter_map(|e| Wanted::vector(e.file_name().to_str()?));
    let mut formats = String::new();
    for wanted in Wanted::all().into_iter().chain(vectors) {
        let point = wanted.tracepoint;
        let path = format!("events/{}/{}/format", point.system, point.name);
        let format = fs::read_to_string(tracefs.root().join(path)).unwrap();
        write!(formats, "{}\n{format}\u{c}", point.path()).unwrap();
    }
    fs::write(fixture().join("formats.txt"), formats).unwrap();
}
