//! The work of the measured loop: position to force, attitude to torque, and the control allocator.
//!
//! Lee, Leok and McClamroch's geometric controller as in RotorPy 3.0.0. It allocates nothing, never
//! panics, reads no clock and keeps no memory between calls.

use crate::GRAVITY;
use crate::reference::Reference;
use crate::state::State;
use crate::vector::{Rotation, add, all_finite, cross, dot, norm, scale, subtract};
use crate::vehicle::Vehicle;

/// Below this share of the weight the demanded force has no usable direction; below this length
/// the heading has none.
const NEGLIGIBLE: f64 = 1e-9;

/// Reason why the controller could not apply its law unchanged. The command is still finite and
/// within the rotors' range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The state contains a number that isn't finite, or a quaternion of length zero. All rotors
    /// are set to hover speed: the weight is carried without torque.
    BadState,
    /// The reference holds a number that isn't finite. Hover speed, as above.
    BadReference,
    /// Finite numbers so large that the law overflows. Hover speed, as above.
    Overflow,
    /// The demanded force is zero, so it has no direction: the attitude is held, the rates damped.
    NoForce,
    /// The demanded force is parallel to the heading, which leaves the roll angle undefined: the
    /// wings are kept level, which continues the law.
    NoHeading,
}

/// The controller's command to the rotors after one call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Command {
    /// Rotor speeds, rad/s, each within 0 to ω_max.
    pub rotor_speeds: [f64; 4],
    /// Whether a speed had to be clipped to that range.
    pub saturated: bool,
    /// The fault, if any.
    pub fault: Option<Fault>,
}

/// Position and velocity errors to a force in the world, N:
/// F = m[−Kp(r − r_d) − Kd(v − v_d) + a_d + g e₃].
#[inline]
pub fn position(vehicle: &Vehicle, state: &State, reference: &Reference) -> [f64; 3] {
    let gains = &vehicle.gains;
    let position_error = subtract(state.position, reference.position);
    let velocity_error = subtract(state.velocity, reference.velocity);
    let acceleration: [f64; 3] = std::array::from_fn(|n| {
        -gains.position[n] * position_error[n] - gains.velocity[n] * velocity_error[n]
            + reference.acceleration[n]
    });
    scale(vehicle.mass, add(acceleration, [0.0, 0.0, GRAVITY]))
}

/// Force to a torque in the body, N m. With b₃ = F/‖F‖, b₂ = norm(b₃ × [cos ψ, sin ψ, 0]), b₁ = b₂
/// × b₃ and R_d = [b₁ b₂ b₃]: e_R = ½ vee(R_dᵀR − RᵀR_d), e_ω = ω − (0, 0, ψ̇_d), τ = J(−k_R e_R −
/// k_ω e_ω) + ω × Jω.
///
/// The fault shows whether F left R_d undefined; the torque is defined in any case.
#[inline]
pub fn attitude(
    vehicle: &Vehicle,
    rotation: &Rotation,
    rate: [f64; 3],
    force: [f64; 3],
    reference: &Reference,
) -> ([f64; 3], Option<Fault>) {
    let (error, fault) = attitude_error(vehicle, rotation, force, reference.yaw);
    let rate_error = subtract(rate, [0.0, 0.0, reference.yaw_rate]);
    let [jx, jy, jz] = vehicle.inertia;
    let gains = &vehicle.gains;
    let wanted: [f64; 3] =
        std::array::from_fn(|n| -gains.attitude * error[n] - gains.rate * rate_error[n]);
    let gyroscopic = cross(rate, [jx * rate[0], jy * rate[1], jz * rate[2]]);
    (
        add([jx * wanted[0], jy * wanted[1], jz * wanted[2]], gyroscopic),
        fault,
    )
}

/// e_R, or 0 if the force has no direction.
#[inline]
fn attitude_error(
    vehicle: &Vehicle,
    rotation: &Rotation,
    force: [f64; 3],
    yaw: f64,
) -> ([f64; 3], Option<Fault>) {
    let size = norm(force);
    if size < NEGLIGIBLE * vehicle.mass * GRAVITY {
        return ([0.0; 3], Some(Fault::NoForce));
    }
    let b3 = scale(1.0 / size, force);
    let (sin, cos) = yaw.sin_cos();
    let side = cross(b3, [cos, sin, 0.0]);
    let length = norm(side);
    let (b2, fault) = if length < NEGLIGIBLE {
        ([-sin, cos, 0.0], Some(Fault::NoHeading))
    } else {
        (scale(1.0 / length, side), None)
    };
    let b1 = cross(b2, b3);
    // vee(R_dᵀR − RᵀR_d) written out: its entries are dot products of wanted and actual axes.
    let [c1, c2, c3] = rotation.columns;
    let error = [
        0.5 * (dot(b3, c2) - dot(c3, b2)),
        0.5 * (dot(b1, c3) - dot(c1, b3)),
        0.5 * (dot(b2, c1) - dot(c2, b1)),
    ];
    (error, fault)
}

/// Thrust (N) and torque (N m) to the four rotors' forces, N, with c = d/√2 and κ = k_m/k_f:
/// f_i = ¼[T + τx·sgn(y_i)/c − τy·sgn(x_i)/c + τz·s_i/κ].
#[inline]
pub fn allocate(vehicle: &Vehicle, thrust: f64, torque: [f64; 3]) -> [f64; 4] {
    let per_lever = std::f64::consts::SQRT_2 / vehicle.arm;
    let roll = torque[0] * per_lever;
    let pitch = torque[1] * per_lever;
    let yaw = torque[2] * (vehicle.rotor.thrust / vehicle.rotor.yaw_torque);
    [
        0.25 * (thrust + roll - pitch + yaw),
        0.25 * (thrust - roll - pitch - yaw),
        0.25 * (thrust - roll + pitch + yaw),
        0.25 * (thrust + roll + pitch - yaw),
    ]
}

/// All three in sequence, as the loop calls them.
#[derive(Debug, Clone, PartialEq)]
pub struct Controller {
    vehicle: Vehicle,
    hover_speed: f64,
    speed_squared_per_force: f64,
}

impl Controller {
    /// A controller for `vehicle`. This is the only call that allocates (it keeps a copy).
    pub fn new(vehicle: &Vehicle) -> Self {
        Self {
            vehicle: vehicle.clone(),
            hover_speed: vehicle.hover_speed().min(vehicle.rotor.max_speed),
            speed_squared_per_force: 1.0 / vehicle.rotor.thrust,
        }
    }

    /// Its vehicle.
    pub fn vehicle(&self) -> &Vehicle {
        &self.vehicle
    }

    /// One call: state and reference to rotor speeds ω_i = sign(f_i)√(|f_i|/k_f), clipped to 0 to
    /// ω_max. Defined for every input, faults flagged.
    #[inline]
    pub fn step(&self, state: &State, reference: &Reference) -> Command {
        let length_squared: f64 = state.attitude.iter().map(|q| q * q).sum();
        if !state.is_finite() || !length_squared.is_normal() {
            return self.hover(Fault::BadState);
        }
        if !reference.is_finite() {
            return self.hover(Fault::BadReference);
        }
        let rotation = Rotation::of_quaternion(state.attitude);
        let force = position(&self.vehicle, state, reference);
        if !dot(force, force).is_finite() {
            return self.hover(Fault::Overflow);
        }
        let thrust = dot(force, rotation.columns[2]);
        let (torque, fault) = attitude(&self.vehicle, &rotation, state.rate, force, reference);
        let forces = allocate(&self.vehicle, thrust, torque);
        if !all_finite(&forces) {
            return self.hover(Fault::Overflow);
        }
        let max = self.vehicle.rotor.max_speed;
        let wanted = forces.map(|f| (f.max(0.0) * self.speed_squared_per_force).sqrt());
        let saturated = forces.iter().any(|f| *f < 0.0) || wanted.iter().any(|w| *w > max);
        Command {
            rotor_speeds: wanted.map(|w| w.min(max)),
            saturated,
            fault,
        }
    }

    #[cold]
    fn hover(&self, fault: Fault) -> Command {
        Command {
            rotor_speeds: [self.hover_speed; 4],
            saturated: false,
            fault: Some(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit_state() -> (State, Reference) {
        // Roll 0.05, pitch −0.03, yaw 0.02: the attitude of the reference's quaternion, whose nine
        // printed digits alone would leave the ninth digit of the torque undecided.
        let [(sr, cr), (sp, cp), (sy, cy)] = [0.05, -0.03, 0.02].map(|a: f64| (a / 2.0).sin_cos());
        let attitude = [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ];
        let state = State {
            position: [0.02, -0.01, 0.03],
            velocity: [0.05, -0.04, 0.02],
            attitude,
            rate: [0.1, -0.2, 0.05],
        };
        let reference = Reference {
            acceleration: [0.1, -0.2, 0.3],
            ..Reference::default()
        };
        (state, reference)
    }

    #[test]
    fn the_unit_vector_is_reproduced_to_every_printed_digit() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let (state, reference) = unit_state();
        let rotation = Rotation::of_quaternion(state.attitude);
        let force = position(&vehicle, &state, &reference);
        let thrust = dot(force, rotation.columns[2]);
        let (torque, fault) = attitude(&vehicle, &rotation, state.rate, force, &reference);
        let forces = allocate(&vehicle, thrust, torque);
        let printed = |values: &[f64]| -> Vec<String> {
            values.iter().map(|value| format!("{value:.9}")).collect()
        };
        assert_eq!(
            printed(&state.attitude),
            ["0.025143279", "-0.014744059", "0.010370512", "0.999521326"]
        );
        assert_eq!(fault, None);
        assert_eq!(format!("{thrust:.8}"), "4.73464349");
        assert_eq!(
            printed(&torque),
            ["-0.122587588", "0.044855042", "-0.093074418"]
        );
        assert_eq!(
            printed(&forces),
            ["-0.117560117", "2.298309485", "0.578909407", "1.974984719"]
        );
        let command = Controller::new(&vehicle).step(&state, &reference);
        assert!(command.saturated);
        assert_eq!(command.rotor_speeds[0], 0.0);
        let speed = (forces[1] / vehicle.rotor.thrust).sqrt();
        assert!((command.rotor_speeds[1] - speed).abs() < 1e-9);
    }

    #[test]
    fn allocation_inverts_the_plants_thrust_and_torques() {
        let vehicle = Vehicle::built_in("crazyflie").unwrap();
        let torque = [1e-5, -2e-5, 3e-6];
        let f = allocate(&vehicle, 0.3, torque);
        let lever = vehicle.arm / 2f64.sqrt();
        let kappa = vehicle.rotor.yaw_torque / vehicle.rotor.thrust;
        assert!((f.iter().sum::<f64>() - 0.3).abs() < 1e-15);
        assert!((lever * (f[0] - f[1] - f[2] + f[3]) - torque[0]).abs() < 1e-18);
        assert!((lever * (-f[0] - f[1] + f[2] + f[3]) - torque[1]).abs() < 1e-18);
        assert!((kappa * (f[0] - f[1] + f[2] - f[3]) - torque[2]).abs() < 1e-18);
    }

    #[test]
    fn zero_force_holds_the_attitude_and_damps_the_rates() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let controller = Controller::new(&vehicle);
        let fall = Reference {
            acceleration: [0.0, 0.0, -GRAVITY],
            ..Reference::default()
        };
        let mut state = State::at_rest([0.0; 3]);
        let still = controller.step(&state, &fall);
        assert_eq!(
            (still.rotor_speeds, still.fault),
            ([0.0; 4], Some(Fault::NoForce))
        );
        state.rate = [1.0, 0.0, 0.0];
        let turning = controller.step(&state, &fall).rotor_speeds;
        assert!(
            turning[1] > 0.0 && turning[2] > 0.0 && turning[0] == 0.0,
            "{turning:?}"
        );
    }

    #[test]
    fn a_force_along_the_heading_continues_the_law_with_level_wings() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let controller = Controller::new(&vehicle);
        let state = State::at_rest([0.0; 3]);
        let pull = |up: f64| Reference {
            acceleration: [5.0, 0.0, up - GRAVITY],
            ..Reference::default()
        };
        let at = controller.step(&state, &pull(0.0));
        let near = controller.step(&state, &pull(1e-6));
        assert_eq!((at.fault, near.fault), (Some(Fault::NoHeading), None));
        for (a, b) in at.rotor_speeds.iter().zip(near.rotor_speeds) {
            assert!((a - b).abs() < 1e-2, "{at:?} {near:?}");
        }
    }

    #[test]
    fn each_bad_input_has_its_own_fault_and_carries_the_weight() {
        let vehicle = Vehicle::built_in("crazyflie").unwrap();
        let controller = Controller::new(&vehicle);
        let (good, told) = unit_state();
        let hover = [vehicle.hover_speed(); 4];
        let mut cases = vec![];
        let state = State {
            rate: [0.0, f64::NAN, 0.0],
            ..good
        };
        cases.push((state, told, Fault::BadState));
        let state = State {
            attitude: [0.0; 4],
            ..good
        };
        cases.push((state, told, Fault::BadState));
        let reference = Reference {
            yaw: f64::INFINITY,
            ..told
        };
        cases.push((good, reference, Fault::BadReference));
        let state = State {
            position: [1e300, 0.0, 0.0],
            ..good
        };
        cases.push((state, told, Fault::Overflow));
        let state = State {
            rate: [1e200, 1e200, 0.0],
            ..good
        };
        cases.push((state, told, Fault::Overflow));
        for (state, reference, fault) in cases {
            let command = controller.step(&state, &reference);
            assert_eq!((command.fault, command.rotor_speeds), (Some(fault), hover));
        }
    }

    fn any_bits() -> impl Strategy<Value = f64> {
        prop_oneof![any::<u64>().prop_map(f64::from_bits), -10.0..10.0]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn every_bit_pattern_gives_a_command_in_range_and_bad_input_a_fault(
            bits in proptest::collection::vec(any_bits(), 24), name in 0..2_usize,
        ) {
            let vehicle = Vehicle::built_in(["hummingbird", "crazyflie"][name]).unwrap();
            let three = |n: usize| [bits[n], bits[n + 1], bits[n + 2]];
            let state = State {
                position: three(0),
                velocity: three(3),
                attitude: [bits[6], bits[7], bits[8], bits[9]],
                rate: three(10),
            };
            let reference = Reference {
                position: three(13),
                velocity: three(16),
                acceleration: three(19),
                yaw: bits[22],
                yaw_rate: bits[23],
            };
            let command = Controller::new(&vehicle).step(&state, &reference);
            for speed in command.rotor_speeds {
                prop_assert!((0.0..=vehicle.rotor.max_speed).contains(&speed), "{command:?}");
            }
            if bits.iter().any(|number| !number.is_finite()) {
                prop_assert!(command.fault.is_some());
            }
        }
    }
}
