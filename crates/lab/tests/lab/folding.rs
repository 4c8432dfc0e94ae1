//! Streams of blocks written by hand, and the stacks and stretches that they must fold to.

use wakepath_lab::window::{Block, Counted, Flow, Folded, Symbols, fold};

wakepath_test_program::tests![
    calls_and_returns_make_stacks,
    who_had_called_before_is_learnt_when_it_is_returned_to,
    what_was_called_before_the_latency_tells_its_stacks_but_is_not_counted,
    an_interrupt_lies_on_what_it_interrupted_and_leaves_it_as_it_was,
    a_call_that_faulted_is_made_once_and_not_twice,
    a_jump_and_a_return_through_a_thunk_reach_another_function_in_the_same_place,
    a_wake_up_is_cut_into_its_stretches_and_the_woken_threads_stack_is_its_own,
    every_instruction_of_the_latency_is_in_one_stack_and_one_stretch,
    a_latency_that_begins_inside_a_block_counts_a_part_of_it,
];

const KERNEL: u64 = 0xffff_ffff_8100_0000;

/// A kernel of a few functions, 0x1000 bytes each.
const FUNCTIONS: [&str; 14] = [
    "outer",
    "middle",
    "inner",
    "asm_sysvec_apic_timer_interrupt",
    "hrtimer_wakeup",
    "try_to_wake_up",
    "__schedule",
    "__switch_to_asm",
    "__switch_to",
    "do_nanosleep",
    "entry_SYSCALL_64",
    "asm_exc_page_fault",
    "__x86_indirect_thunk_rax",
    "default_idle",
];

fn at(function: &str, offset: u64) -> u64 {
    let index = FUNCTIONS.iter().position(|name| *name == function);
    KERNEL
        + 0x1000 * index.unwrap_or_else(|| panic!("{function} is not a function")) as u64
        + offset
}

fn symbols() -> Symbols {
    let line = |name: &&str| format!("{:x} t {name}\n", at(name, 0));
    Symbols::parse(&FUNCTIONS.iter().map(line).collect::<String>()).unwrap()
}

/// A block of ten instructions, four bytes each.
fn block(start: u64, flow: Flow, target: u64) -> Block {
    Block {
        start,
        end: start + 40,
        target,
        executed: 10,
        flow,
    }
}

/// All of it is the latency.
fn folded(blocks: Vec<Block>) -> Folded {
    folded_from(blocks, 0)
}

/// Blocks before `first` don't belong to the latency.
fn folded_from(blocks: Vec<Block>, first: usize) -> Folded {
    let count = |blocks: &[Block]| blocks.iter().map(|b| u64::from(b.executed)).sum::<u64>();
    let latency = count(&blocks[first..]);
    let counted = Counted {
        before: 7_000,
        blocks,
    };
    let wake = 7_000 + count(&counted.blocks);
    let cut = counted.cut(wake, latency, 1).unwrap();
    fold(&counted, &cut, &symbols())
}

/// As flamegraph.pl reads them: callers, then the instructions.
fn stacks(folded: &Folded) -> Vec<String> {
    let stacks = folded.stacks.iter();
    stacks
        .map(|stack| format!("{} {}", stack.frames.join(";"), stack.instructions))
        .collect()
}

fn call(from: u64, function: &str) -> Block {
    block(from, Flow::Call, at(function, 0))
}

fn give_back(from: u64) -> Block {
    block(from, Flow::Return, 0)
}

fn calls_and_returns_make_stacks() {
    let found = folded(vec![
        call(at("outer", 0), "middle"),
        call(at("middle", 0), "inner"),
        give_back(at("inner", 0)),
        give_back(at("middle", 40)),
        block(at("outer", 40), Flow::On, 0),
    ]);
    assert_eq!(
        stacks(&found),
        ["outer 20", "outer;middle 20", "outer;middle;inner 10"]
    );
    assert_eq!(found.unmatched, 0);
    let own: Vec<(&str, u64, u64)> = found
        .symbols
        .iter()
        .map(|symbol| (symbol.symbol.as_str(), symbol.own, symbol.with_callees))
        .collect();
    assert_eq!(
        own,
        [("outer", 20, 50), ("middle", 20, 30), ("inner", 10, 10)]
    );
}

fn who_had_called_before_is_learnt_when_it_is_returned_to() {
    let found = folded(vec![
        give_back(at("inner", 80)),
        give_back(at("middle", 40)),
        block(at("outer", 40), Flow::On, 0),
    ]);
    assert_eq!(
        stacks(&found),
        ["outer;middle;inner 10", "outer;middle 10", "outer 10"]
    );
}

fn what_was_called_before_the_latency_tells_its_stacks_but_is_not_counted() {
    let blocks = vec![
        call(at("outer", 0), "middle"),
        block(at("middle", 0), Flow::On, 0),
        block(at("middle", 40), Flow::On, 0),
    ];
    assert_eq!(stacks(&folded_from(blocks, 2)), ["outer;middle 10"]);
}

fn an_interrupt_lies_on_what_it_interrupted_and_leaves_it_as_it_was() {
    let interrupt = "asm_sysvec_apic_timer_interrupt";
    let found = folded(vec![
        call(at("outer", 0), "middle"),
        // Neither the next instruction nor the branch's target: something came in between.
        block(at("middle", 0), Flow::On, at("middle", 200)),
        call(at(interrupt, 0), "inner"),
        give_back(at("inner", 0)),
        block(at(interrupt, 40), Flow::ExceptionReturn, 0),
        give_back(at("middle", 40)),
        block(at("outer", 40), Flow::On, 0),
    ]);
    assert_eq!(
        stacks(&found),
        [
            "outer 20",
            "outer;middle 20",
            "outer;middle;asm_sysvec_apic_timer_interrupt 20",
            "outer;middle;asm_sysvec_apic_timer_interrupt;inner 10"
        ]
    );
    assert_eq!((found.entered, found.unmatched), (1, 0));
}

fn a_call_that_faulted_is_made_once_and_not_twice() {
    let found = folded(vec![
        call(at("outer", 0), "middle"),
        block(at("asm_exc_page_fault", 0), Flow::ExceptionReturn, 0),
        // The faulting instruction again, in the middle of that block.
        call(at("outer", 8), "middle"),
        block(at("middle", 0), Flow::On, 0),
    ]);
    let all = stacks(&found);
    assert!(all.contains(&"outer;middle 10".to_owned()), "{all:?}");
    assert!(
        !all.iter().any(|stack| stack.contains("middle;middle")),
        "{all:?}"
    );
}

fn a_jump_and_a_return_through_a_thunk_reach_another_function_in_the_same_place() {
    let thunk = "__x86_indirect_thunk_rax";
    let found = folded(vec![
        block(at("outer", 0), Flow::Jump, at("middle", 0)),
        call(at("middle", 0), thunk),
        // The thunk calls its own inside, and returns to the address in a register.
        block(at(thunk, 0), Flow::Call, at(thunk, 80)),
        give_back(at(thunk, 80)),
        give_back(at("inner", 0)),
        block(at("middle", 40), Flow::On, 0),
    ]);
    let all = stacks(&found);
    assert!(all.contains(&"middle;inner 10".to_owned()), "{all:?}");
    assert!(all.last().unwrap().starts_with("middle;inner "), "{all:?}");
    assert_eq!(found.unmatched, 0);
}

/// From idle by the timer's interrupt, expiry, waking and switch to the loop's first instruction.
fn a_wake_up() -> Vec<Block> {
    let interrupt = "asm_sysvec_apic_timer_interrupt";
    vec![
        block(at("default_idle", 0), Flow::On, 0),
        block(at(interrupt, 0), Flow::Call, at("hrtimer_wakeup", 0)),
        call(at("hrtimer_wakeup", 0), "try_to_wake_up"),
        give_back(at("try_to_wake_up", 0)),
        give_back(at("hrtimer_wakeup", 40)),
        block(at(interrupt, 40), Flow::ExceptionReturn, 0),
        call(at("default_idle", 40), "__schedule"),
        call(at("__schedule", 0), "__switch_to_asm"),
        block(at("__switch_to_asm", 0), Flow::Jump, at("__switch_to", 0)),
        give_back(at("__switch_to", 0)),
        // The loop's stack from here on: its callers are discovered as they return.
        give_back(at("__schedule", 40)),
        give_back(at("do_nanosleep", 120)),
        block(at("entry_SYSCALL_64", 80), Flow::ExceptionReturn, 0),
        block(0x5555_0000, Flow::On, 0),
    ]
}

fn a_wake_up_is_cut_into_its_stretches_and_the_woken_threads_stack_is_its_own() {
    let found = folded(a_wake_up());
    let stretches: Vec<(&str, u64)> = found
        .stretches
        .iter()
        .map(|part| (part.stretch.as_str(), part.instructions))
        .collect();
    assert_eq!(
        stretches,
        [
            ("due → interrupt", 10),
            ("interrupt → expiry", 10),
            ("expiry → waking", 10),
            ("waking → switch-in", 50),
            ("switch-in → user", 60),
        ]
    );
    assert_eq!(found.wakings_by_timers, 1);
    let all = stacks(&found);
    let woken = "[user code];entry_SYSCALL_64;do_nanosleep;__schedule 10";
    assert!(all.iter().any(|stack| stack == woken), "{all:?}");
    let idle = "default_idle;__schedule;__switch_to 10";
    assert!(all.iter().any(|stack| stack == idle), "{all:?}");
    assert_eq!(found.user, 10);
    assert_eq!(found.unmatched, 0);
}

fn every_instruction_of_the_latency_is_in_one_stack_and_one_stretch() {
    let blocks = a_wake_up();
    for first in 0..blocks.len() {
        let found = folded_from(blocks.clone(), first);
        let expected = 10 * (blocks.len() - first) as u64;
        let in_stacks: u64 = found.stacks.iter().map(|stack| stack.instructions).sum();
        let in_stretches: u64 = found.stretches.iter().map(|part| part.instructions).sum();
        let own: u64 = found.symbols.iter().map(|symbol| symbol.own).sum();
        assert_eq!(
            (in_stacks, in_stretches, own),
            (expected, expected, expected)
        );
    }
}

fn a_latency_that_begins_inside_a_block_counts_a_part_of_it() {
    let blocks = vec![
        block(at("outer", 0), Flow::On, 0),
        block(at("outer", 40), Flow::On, 0),
    ];
    let counted = Counted { before: 0, blocks };
    let cut = counted.cut(20, 13, 1).unwrap();
    let found = fold(&counted, &cut, &symbols());
    assert_eq!(stacks(&found), ["outer 13"]);
    // Without a timer that woke anybody the loop was not asleep.
    assert_eq!(found.stretches[0].stretch, "not asleep when due");
}
