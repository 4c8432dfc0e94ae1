//! Costs worked out by hand.

use super::*;

/// A core with small caches: 4 lines of code in one set, 4 of data in two, 8, 16.
const SMALL: Parameters = Parameters {
    extra: [0, 3, 20, 15, 18, 33],
    wait: [10, 100, 1_000],
    line_near: 8,
    line_memory: 60,
    caches: [
        Size { lines: 4, ways: 4 },
        Size { lines: 4, ways: 2 },
        Size { lines: 8, ways: 4 },
        Size { lines: 16, ways: 4 },
    ],
};

/// Cost of some work on a core with these parameters.
fn spent(parameters: Parameters, done: impl FnOnce(&mut Model<'_>)) -> Spent {
    let mut lines = parameters
        .caches
        .map(|size| vec![0; usize::try_from(size.lines).unwrap()]);
    let mut sizes = parameters.caches.iter();
    let caches = lines.each_mut().map(|lines| {
        let size = sizes.next().unwrap();
        Cache::empty(lines, usize::try_from(size.ways).unwrap())
    });
    let mut model = Model::new(parameters, caches);
    done(&mut model);
    model.spent
}

#[test]
fn an_access_waits_for_the_first_level_that_has_its_line() {
    let of = |done: &dyn Fn(&mut Model<'_>)| spent(SMALL, |model| done(model)).data;
    let read = |model: &mut Model<'_>, line: u64| model.accesses(line * 64, 8, false, false);
    // Memory first, then nothing.
    assert_eq!(of(&|m| read(m, 5)), 1_000);
    assert_eq!(of(&|m| (0..9).for_each(|_| read(m, 5))), 1_000);
    // Three lines of one set of two: the first has gone to the second level.
    assert_eq!(
        of(&|m| [0, 2, 4, 0].into_iter().for_each(|line| read(m, line))),
        3_010
    );
    // The latest two are there.
    assert_eq!(
        of(&|m| [0, 2, 4, 2, 4].into_iter().for_each(|line| read(m, line))),
        3_000
    );
    // Five lines of one set of four in the second level: the third has the first.
    assert_eq!(
        of(&|m| [0, 2, 4, 6, 8, 0]
            .into_iter()
            .for_each(|line| read(m, line))),
        5_100
    );
    // Five of one set of the third too: memory again.
    let far = [0, 4, 8, 12, 16, 0];
    assert_eq!(
        of(&|m| far.into_iter().for_each(|line| read(m, line))),
        6_000
    );
    // Eight bytes over the end of a line are two.
    assert_eq!(of(&|m| m.accesses(60, 8, false, false)), 2_000);
}

#[test]
fn code_has_a_cache_of_its_own_and_what_is_written_waits_for_nobody() {
    let found = spent(SMALL, |model| {
        model.executes(0, 128, 30, true);
        model.executes(0, 128, 30, true);
        // The fetch of the code has loaded it into the second level.
        model.accesses(64, 8, false, false);
        model.accesses(640, 8, true, false);
        model.accesses(640, 8, true, false);
        model.takes_back(10);
    });
    let expected = Spent {
        instructions: 50,
        code: 2_000,
        data: 10,
        lines: 60,
    };
    assert_eq!(found, expected);
    assert_eq!(found.total(), 2_120);
}

#[test]
fn a_string_instruction_costs_its_lines_however_small_its_steps() {
    let clears = |model: &mut Model<'_>, step: u64| {
        for at in (0..4096).step_by(usize::try_from(step).unwrap()) {
            model.executes(0x100, 0x102, 0, at == 0);
            model.accesses(0x10_0000 + at, step, true, true);
        }
    };
    for model in MODELS {
        let parameters = model.parameters;
        for step in [1, 8] {
            // A page is 64 lines: from memory, then in the first level.
            let once = spent(parameters, |core| clears(core, step));
            assert_eq!(once.lines, 64 * parameters.line_memory, "{}", model.name);
            assert_eq!(once.instructions + once.data, 0);
            let twice = spent(parameters, |core| (0..2).for_each(|_| clears(core, step)));
            let near = 64 * parameters.line_near;
            assert_eq!(twice.lines - once.lines, near, "{}", model.name);
        }
    }
    // 64 lines of 15 cycles at 2.4 GHz, as 4096 bytes at 10 GB/s.
    let pi = CostModel::new("cortex-a76").unwrap();
    assert_eq!(pi.ns(64 * pi.parameters.line_memory), 400);
    // Four instructions a cycle.
    assert_eq!(pi.ns(9_600), 1_000);
}

#[test]
fn what_is_told_to_the_plugin_is_what_it_takes() {
    for model in MODELS {
        let words = model.parameters.words();
        assert_eq!(Parameters::of_words(&words), model.parameters);
        for size in model.parameters.caches {
            assert!((size.lines / size.ways).is_power_of_two(), "{}", model.name);
        }
    }
}

#[test]
fn classes_are_those_of_the_manual() {
    // mov %rsp,%rbp; div %rcx; idivl (%rdi); imul %rcx,%rax; mul %rdx; neg %rcx
    assert_eq!(class_of_x86(&[0x48, 0x89, 0xe5]), Class::Plain);
    assert_eq!(class_of_x86(&[0x48, 0xf7, 0xf1]), Class::Divide);
    assert_eq!(class_of_x86(&[0xf7, 0x3f]), Class::Divide);
    assert_eq!(class_of_x86(&[0x48, 0x0f, 0xaf, 0xc1]), Class::Multiply);
    assert_eq!(class_of_x86(&[0x48, 0xf7, 0xe2]), Class::Multiply);
    assert_eq!(class_of_x86(&[0x48, 0xf7, 0xd9]), Class::Plain);
    // lock incl (%rdi); xchg %eax,(%rdi); xchg %eax,%ecx; mfence; divsd %xmm1,%xmm0; nothing
    assert_eq!(class_of_x86(&[0xf0, 0xff, 0x07]), Class::Locked);
    assert_eq!(class_of_x86(&[0x87, 0x07]), Class::Locked);
    assert_eq!(class_of_x86(&[0x87, 0xc1]), Class::Plain);
    assert_eq!(class_of_x86(&[0x0f, 0xae, 0xf0]), Class::Fence);
    assert_eq!(class_of_x86(&[0xf2, 0x0f, 0x5e, 0xc1]), Class::Fraction);
    assert_eq!(class_of_x86(&[]), Class::Plain);
    assert_eq!(SMALL.of_class(Class::Divide), 21);
}
