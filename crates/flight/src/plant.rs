//! The vehicle's motion in six degrees of freedom.
//!
//! With motor lag, rotor and body drag, inflow and translational lift, without wind and ground.
//! Integrated between any two times with the classical fourth-order Runge–Kutta method in equal
//! steps of at most [`MAX_STEP_NS`].

use crate::GRAVITY;
use crate::state::{PlantState, State};
use crate::vector::{Rotation, cross};
use crate::vehicle::Vehicle;

/// Longest integration step, ns. At this step the flights of the reference are met within 1e-6 m.
pub const MAX_STEP_NS: u64 = 500_000;

/// Position, velocity, attitude, rate, rotor speeds: 3 + 3 + 4 + 3 + 4 numbers.
type Numbers = [f64; 17];

/// A vehicle prepared for integration, with precomputed quotients.
#[derive(Debug, Clone, Copy)]
pub struct Plant {
    lever: f64,
    per_mass: f64,
    inertia: [f64; 3],
    per_inertia: [f64; 3],
    body_drag: [f64; 3],
    thrust: f64,
    yaw_torque: f64,
    drag: f64,
    inflow: f64,
    lift: f64,
    per_lag: f64,
    max_speed: f64,
}

impl Plant {
    /// The plant of `vehicle`.
    pub fn new(vehicle: &Vehicle) -> Self {
        let rotor = &vehicle.rotor;
        Self {
            lever: vehicle.arm * std::f64::consts::FRAC_1_SQRT_2,
            per_mass: 1.0 / vehicle.mass,
            inertia: vehicle.inertia,
            per_inertia: vehicle.inertia.map(f64::recip),
            body_drag: vehicle.body_drag,
            thrust: rotor.thrust,
            yaw_torque: rotor.yaw_torque,
            drag: rotor.drag,
            inflow: rotor.inflow,
            lift: rotor.lift,
            per_lag: 1.0 / rotor.lag,
            max_speed: rotor.max_speed,
        }
    }

    /// Moves `state` from `from_ns` to `to_ns` under constant commanded rotor `speeds` (rad/s,
    /// clipped to the rotors' range) and a constant `torque` from outside (N m, body axes).
    /// Nothing happens unless `to_ns` is later.
    pub fn advance(
        &self,
        state: &mut PlantState,
        speeds: [f64; 4],
        torque: [f64; 3],
        from_ns: u64,
        to_ns: u64,
    ) {
        let span = to_ns.saturating_sub(from_ns);
        if span == 0 {
            return;
        }
        let steps = span.div_ceil(MAX_STEP_NS);
        let h = span as f64 * 1e-9 / steps as f64;
        let speeds = speeds.map(|speed| speed.clamp(0.0, self.max_speed));
        let mut numbers = pack(state);
        for _ in 0..steps {
            numbers = self.step(&numbers, &speeds, &torque, h);
        }
        *state = unpack(&numbers);
    }

    /// One step of `h` seconds; the quaternion is normalised after it.
    #[inline]
    fn step(&self, now: &Numbers, speeds: &[f64; 4], torque: &[f64; 3], h: f64) -> Numbers {
        let at =
            |slope: &Numbers, h: f64| -> Numbers { std::array::from_fn(|n| now[n] + h * slope[n]) };
        let k1 = self.derivative(now, speeds, torque);
        let k2 = self.derivative(&at(&k1, 0.5 * h), speeds, torque);
        let k3 = self.derivative(&at(&k2, 0.5 * h), speeds, torque);
        let k4 = self.derivative(&at(&k3, h), speeds, torque);
        let sixth = h / 6.0;
        let mut next: Numbers =
            std::array::from_fn(|n| now[n] + sixth * (k1[n] + 2.0 * (k2[n] + k3[n]) + k4[n]));
        let length = next[6..10].iter().map(|q| q * q).sum::<f64>().sqrt();
        let per_length = 1.0 / length;
        next[6..10].iter_mut().for_each(|q| *q *= per_length);
        next
    }

    /// The right-hand side. Forces in the body: per rotor (k_f ω² + k_h(a_x² + a_y²)) e_z −
    /// ω diag(k_d, k_d, k_z) a with the hub's airspeed a = Rᵀv + ω_b × r; body drag
    /// −‖Rᵀv‖ diag(c) Rᵀv; yaw torque Σ s k_m ω².
    #[inline]
    fn derivative(&self, now: &Numbers, speeds: &[f64; 4], torque: &[f64; 3]) -> Numbers {
        let velocity = [now[3], now[4], now[5]];
        let rate = [now[10], now[11], now[12]];
        let [i, j, k, w] = [now[6], now[7], now[8], now[9]];
        let rotation = Rotation::of_quaternion([i, j, k, w]);
        let air = rotation.to_body(velocity);
        let airspeed = (air[0] * air[0] + air[1] * air[1] + air[2] * air[2]).sqrt();

        // Sums over the rotors instead of a loop: with hub signs x, y and the sense s = x·y, each
        // product reduces to signed sums of speeds and of squared speeds.
        let [a, b, c, d] = [now[13], now[14], now[15], now[16]];
        let (sum, sum_x, sum_y, sum_s) = signed_sums(a, b, c, d);
        let (squares, squares_x, squares_y, squares_s) = signed_sums(a * a, b * b, c * c, d * d);
        let lever = self.lever;
        // Airspeeds that the body rate adds at a hub.
        let (roll, pitch, yaw) = (lever * rate[0], lever * rate[1], lever * rate[2]);
        let flow = |air: f64| -airspeed * air;
        let force = [
            self.body_drag[0] * flow(air[0]) - self.drag * (air[0] * sum - yaw * sum_y),
            self.body_drag[1] * flow(air[1]) - self.drag * (air[1] * sum + yaw * sum_x),
            self.body_drag[2] * flow(air[2])
                + self.thrust * squares
                + self.lift * (4.0 * (air[0] * air[0] + air[1] * air[1]) + 8.0 * yaw * yaw)
                - self.inflow * (air[2] * sum + roll * sum_y - pitch * sum_x),
        ];
        let lift_yaw = 8.0 * self.lift * yaw;
        let moment = [
            torque[0]
                + lever
                    * (self.thrust * squares_y
                        - lift_yaw * air[0]
                        - self.inflow * (air[2] * sum_y + roll * sum - pitch * sum_s)),
            torque[1]
                - lever
                    * (self.thrust * squares_x + lift_yaw * air[1]
                        - self.inflow * (air[2] * sum_x + roll * sum_s - pitch * sum)),
            torque[2] + self.yaw_torque * squares_s
                - lever * self.drag * (air[1] * sum_x - air[0] * sum_y + 2.0 * yaw * sum),
        ];
        let acceleration = rotation.to_world(force);
        let [jx, jy, jz] = self.inertia;
        let gyroscopic = cross(rate, [jx * rate[0], jy * rate[1], jz * rate[2]]);
        let angular: [f64; 3] =
            std::array::from_fn(|n| self.per_inertia[n] * (moment[n] - gyroscopic[n]));
        let [p, q, r] = rate;
        let motor = |n: usize| self.per_lag * (speeds[n] - now[13 + n]);
        [
            velocity[0],
            velocity[1],
            velocity[2],
            self.per_mass * acceleration[0],
            self.per_mass * acceleration[1],
            self.per_mass * acceleration[2] - GRAVITY,
            0.5 * (w * p - k * q + j * r),
            0.5 * (k * p + w * q - i * r),
            0.5 * (-j * p + i * q + w * r),
            0.5 * (-i * p - j * q - k * r),
            angular[0],
            angular[1],
            angular[2],
            motor(0),
            motor(1),
            motor(2),
            motor(3),
        ]
    }
}

/// Σ v, Σ v·x, Σ v·y and Σ v·s over the rotors, with signs x, y of the hubs and sense s = x·y.
#[inline]
fn signed_sums(a: f64, b: f64, c: f64, d: f64) -> (f64, f64, f64, f64) {
    (a + b + c + d, a + b - c - d, a - b - c + d, a - b + c - d)
}

/// Moves `state` from `from_ns` to `to_ns` under constant commanded rotor speeds (rad/s), without
/// a disturbance: [`Plant::advance`] for a caller who moves a vehicle now and then.
pub fn advance(
    vehicle: &Vehicle,
    state: &mut PlantState,
    rotor_speeds: [f64; 4],
    from_ns: u64,
    to_ns: u64,
) {
    Plant::new(vehicle).advance(state, rotor_speeds, [0.0; 3], from_ns, to_ns);
}

fn pack(state: &PlantState) -> Numbers {
    let State {
        position: x,
        velocity: v,
        attitude: q,
        rate: w,
    } = state.body;
    let m = state.rotor_speeds;
    [
        x[0], x[1], x[2], v[0], v[1], v[2], q[0], q[1], q[2], q[3], w[0], w[1], w[2], m[0], m[1],
        m[2], m[3],
    ]
}

fn unpack(numbers: &Numbers) -> PlantState {
    let [
        x0,
        x1,
        x2,
        v0,
        v1,
        v2,
        q0,
        q1,
        q2,
        q3,
        w0,
        w1,
        w2,
        rotor_speeds @ ..,
    ] = *numbers;
    PlantState {
        body: State {
            position: [x0, x1, x2],
            velocity: [v0, v1, v2],
            attitude: [q0, q1, q2, q3],
            rate: [w0, w1, w2],
        },
        rotor_speeds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_hover_speed_nothing_moves() {
        let vehicle = Vehicle::built_in("hummingbird").unwrap();
        let mut state = PlantState::hover(&vehicle, [1.0, 2.0, 3.0]);
        let speeds = state.rotor_speeds;
        advance(&vehicle, &mut state, speeds, 0, 1_000_000_000);
        assert!((state.body.position[2] - 3.0).abs() < 1e-12);
        assert_eq!(state.body.rate, [0.0; 3]);
    }

    #[test]
    fn motors_off_it_falls_freely_at_first_and_its_rotors_run_down_with_their_lag() {
        let mut vehicle = Vehicle::built_in("crazyflie").unwrap();
        vehicle.rotor.thrust = 1e-30;
        vehicle.rotor.inflow = 0.0;
        let mut state = PlantState {
            rotor_speeds: [1000.0; 4],
            ..PlantState::hover(&vehicle, [0.0; 3])
        };
        advance(&vehicle, &mut state, [0.0; 4], 7, 72_000_007);
        assert!((state.body.position[2] + 0.5 * GRAVITY * 0.072 * 0.072).abs() < 1e-12);
        assert!((state.rotor_speeds[0] - 1000.0 / std::f64::consts::E).abs() < 1e-6);
    }

    #[test]
    fn a_body_free_of_torque_keeps_its_angular_momentum_and_energy() {
        let mut vehicle = Vehicle::built_in("hummingbird").unwrap();
        vehicle.inertia = [3e-3, 4e-3, 6e-3];
        let mut state = PlantState::hover(&vehicle, [0.0; 3]);
        state.rotor_speeds = [0.0; 4];
        vehicle.rotor.lift = 0.0;
        vehicle.body_drag = [0.0; 3];
        state.body.rate = [3.0, 0.1, -2.0];
        let momentum = |state: &PlantState| {
            let w = state.body.rate;
            let j = vehicle.inertia;
            Rotation::of_quaternion(state.body.attitude).to_world([
                j[0] * w[0],
                j[1] * w[1],
                j[2] * w[2],
            ])
        };
        let before = momentum(&state);
        advance(&vehicle, &mut state, [0.0; 4], 0, 5_000_000_000);
        for (a, b) in before.iter().zip(momentum(&state)) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }

    /// All terms, rotor by rotor, directly from the equations.
    #[test]
    fn the_sums_over_the_rotors_are_those_of_the_equations() {
        let mut vehicle = Vehicle::built_in("hummingbird").unwrap();
        vehicle.inertia = [1e-3, 2e-3, 2.5e-3];
        let plant = Plant::new(&vehicle);
        let mut now = [0.0; 17];
        let set = [
            0.3, -0.4, 0.5, 1.1, -2.3, 0.7, 0.1, -0.2, 0.3, 0.9, 4.0, -5.0, 6.0,
        ];
        now[..13].copy_from_slice(&set);
        now[13..].copy_from_slice(&[300.0, 420.0, 510.0, 650.0]);
        let slope = plant.derivative(&now, &[500.0; 4], &[1e-3, -2e-3, 3e-3]);

        let rotation = Rotation::of_quaternion([now[6], now[7], now[8], now[9]]);
        let (air, rate) = (rotation.to_body([1.1, -2.3, 0.7]), [4.0, -5.0, 6.0]);
        let rotor = vehicle.rotor;
        let mut force = air.map(|v| -crate::vector::norm(air) * v);
        (0..3).for_each(|n| force[n] *= vehicle.body_drag[n]);
        let mut moment = [1e-3, -2e-3, 3e-3];
        let hubs = [
            (1.0, 1.0, 1.0),
            (1.0, -1.0, -1.0),
            (-1.0, -1.0, 1.0),
            (-1.0, 1.0, -1.0),
        ];
        for (n, (x, y, sense)) in hubs.into_iter().enumerate() {
            let hub = crate::vector::scale(vehicle.arm / 2f64.sqrt(), [x, y, 0.0]);
            let (w, a) = (now[13 + n], crate::vector::add(air, cross(rate, hub)));
            let up = rotor.thrust * w * w + rotor.lift * (a[0] * a[0] + a[1] * a[1]);
            let here = [
                -w * rotor.drag * a[0],
                -w * rotor.drag * a[1],
                up - w * rotor.inflow * a[2],
            ];
            force = crate::vector::add(force, here);
            moment = crate::vector::add(moment, cross(hub, here));
            moment[2] += sense * rotor.yaw_torque * w * w;
        }
        let acceleration = rotation.to_world(force);
        let j = vehicle.inertia;
        let turning = cross(rate, [j[0] * rate[0], j[1] * rate[1], j[2] * rate[2]]);
        for n in 0..3 {
            let gravity = if n == 2 { GRAVITY } else { 0.0 };
            assert!((slope[3 + n] - (acceleration[n] / vehicle.mass - gravity)).abs() < 1e-12);
            let angular = (moment[n] - turning[n]) / j[n];
            assert!(
                (slope[10 + n] - angular).abs() < 1e-9 * angular.abs(),
                "{n}"
            );
        }
    }

    #[test]
    fn two_spans_end_where_one_span_over_both_ends() {
        let vehicle = Vehicle::built_in("crazyflie").unwrap();
        let start = PlantState::hover(&vehicle, [0.0; 3]);
        let speeds = [1800.0, 1700.0, 1810.0, 1790.0];
        let (mut once, mut twice) = (start, start);
        advance(&vehicle, &mut once, speeds, 1_000, 40_000_000);
        advance(&vehicle, &mut twice, speeds, 1_000, 17_123_457);
        advance(&vehicle, &mut twice, speeds, 17_123_457, 40_000_000);
        for n in 0..3 {
            assert!((once.body.position[n] - twice.body.position[n]).abs() < 1e-10);
        }
        let unmoved = twice;
        advance(&vehicle, &mut twice, speeds, 5, 5);
        advance(&vehicle, &mut twice, speeds, 5, 4);
        assert_eq!(twice, unmoved);
    }
}
