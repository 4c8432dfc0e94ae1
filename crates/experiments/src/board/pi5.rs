//! arXiv 2604.19275 on a board: eight policies on a standard and a real-time kernel.

use super::{REAL_TIME, STANDARD, booted};
use crate::{Drawing, Experiment, Setting, published};

const ORDINARY: &str = "standard";
const RT: &str = "PREEMPT_RT";

pub const EXPERIMENT: Experiment = Experiment {
    setting: Setting::Board,
    name: "pi5-250hz",
    title: "Eight policies at 250 Hz (arXiv 2604.19275)",
    source: "A Raspberry Pi 5 with a standard and a PREEMPT_RT kernel: a quadrotor's control loop at \
             250 Hz under eight policies, 10 000 iterations of each, idle and under heavy stress.",
    scenario: "pi5-250hz",
    cpus: 0,
    disk: None,
    guests: &[
        booted(ORDINARY, "a kernel without PREEMPT_RT", STANDARD, None),
        booted(RT, "a kernel with PREEMPT_RT", REAL_TIME, None),
    ],
    given: &[],
    drawing: Drawing::Boxes,
    table: published::PI5,
    claims: include_str!("../../claims/board/pi5-250hz.toml"),
    host_seconds: 0.0,
    differs: &[
        "The paper reports one worst case for all policies; it is compared with ours over all policies.",
        "The stress's arguments, warm-up, control law and vehicle are ours: the paper does not state them.",
        "The execution time is that of the whole cycle, from reading the state to writing the command.",
        "How the loop is woken is known where `--trace` records the kernel's events, in passes of their own.",
    ],
};
