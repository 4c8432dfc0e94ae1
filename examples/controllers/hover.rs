//! The least controller: rotors at hover speed, corrected for the height alone. In Rust, with
//! the C interface, without a crate. Build it with
//!   rustc --edition 2024 -O --crate-type cdylib -o libhover.so hover.rs

use std::ffi::{c_char, c_void};

/// `wakepath_controller_setup`, field by field.
#[repr(C)]
pub struct Setup {
    period_ns: u64,
    mass_kg: f64,
    inertia_kg_m2: [f64; 3],
    arm_m: f64,
    thrust: f64,
    yaw_torque: f64,
    max_speed_rad_s: f64,
    hover_speed_rad_s: f64,
    position_gain_per_s2: [f64; 3],
    velocity_gain_per_s: [f64; 3],
    attitude_gain_per_s2: f64,
    rate_gain_per_s: f64,
    settings: *const c_char,
}

/// `wakepath_controller_input`, field by field.
#[repr(C)]
pub struct Input {
    time_ns: u64,
    position_m: [f64; 3],
    velocity_m_s: [f64; 3],
    attitude: [f64; 4],
    rate_rad_s: [f64; 3],
    wanted_position_m: [f64; 3],
    wanted_velocity_m_s: [f64; 3],
    wanted_acceleration_m_s2: [f64; 3],
    wanted_yaw_rad: f64,
    wanted_yaw_rate_rad_s: f64,
}

/// `wakepath_controller_output`.
#[repr(C)]
pub struct Output {
    rotor_speed_rad_s: [f64; 4],
}

struct Hover {
    weight: f64,
    mass: f64,
    gains: (f64, f64),
    thrust: f64,
    max_speed: f64,
}

impl Hover {
    fn new(setup: &Setup) -> Self {
        Self {
            weight: 4.0 * setup.thrust * setup.hover_speed_rad_s.powi(2),
            mass: setup.mass_kg,
            gains: (setup.position_gain_per_s2[2], setup.velocity_gain_per_s[2]),
            thrust: setup.thrust,
            max_speed: setup.max_speed_rad_s,
        }
    }

    fn step(&self, input: &Input) -> Output {
        let error = input.wanted_position_m[2] - input.position_m[2];
        let (position, velocity) = self.gains;
        let up = position * error - velocity * input.velocity_m_s[2];
        let force = (self.weight + self.mass * up).max(0.0) / 4.0;
        let speed = (force / self.thrust).sqrt().min(self.max_speed);
        Output {
            rotor_speed_rad_s: [speed; 4],
        }
    }
}

#[unsafe(no_mangle)]
extern "C" fn wakepath_controller_version() -> u32 {
    1
}

/// # Safety
/// `setup` points at a setup, as the header says.
#[unsafe(no_mangle)]
unsafe extern "C" fn wakepath_controller_init(setup: *const Setup) -> *mut c_void {
    // SAFETY: the header's promise.
    let setup = unsafe { &*setup };
    Box::into_raw(Box::new(Hover::new(setup))).cast()
}

/// # Safety
/// The controller is the one that init gave; input and output point at theirs.
#[unsafe(no_mangle)]
unsafe extern "C" fn wakepath_controller_step(
    controller: *mut c_void,
    input: *const Input,
    output: *mut Output,
) -> i32 {
    // SAFETY: the header's promise.
    unsafe {
        let hover = &*controller.cast::<Hover>();
        *output = hover.step(&*input);
    }
    0
}

/// # Safety
/// The controller is the one that init gave, and is not used afterwards.
#[unsafe(no_mangle)]
unsafe extern "C" fn wakepath_controller_free(controller: *mut c_void) {
    // SAFETY: the header's promise.
    drop(unsafe { Box::from_raw(controller.cast::<Hover>()) });
}
