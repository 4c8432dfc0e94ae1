//! Three-component vectors as plain arrays, and the rotation matrix of a quaternion.
//!
//! Only the operations of the controller and the plant.

/// a + b.
#[inline]
pub fn add(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a − b.
#[inline]
pub fn subtract(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// factor · a.
#[inline]
pub fn scale(factor: f64, a: [f64; 3]) -> [f64; 3] {
    [factor * a[0], factor * a[1], factor * a[2]]
}

/// a · b.
#[inline]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

/// ‖a‖.
#[inline]
pub fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// Whether every component is finite.
#[inline]
pub fn all_finite(values: &[f64]) -> bool {
    // x · 0 is 0 for a finite x and NaN otherwise: one sum instead of a branch per number.
    values.iter().fold(0.0, |sum, value| sum + value * 0.0) == 0.0
}

/// A rotation as its three columns: the body axes x, y, z written in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation {
    /// The columns b₁, b₂, b₃.
    pub columns: [[f64; 3]; 3],
}

impl Rotation {
    /// The rotation of a quaternion (i, j, k, w) of any length but 0, divided by its squared
    /// length so that no square root is taken. A quaternion of length 0 gives non-finite numbers.
    #[inline]
    pub fn of_quaternion([i, j, k, w]: [f64; 4]) -> Self {
        let s = 2.0 / (i * i + j * j + k * k + w * w);
        let (si, sj, sk) = (s * i, s * j, s * k);
        let (ii, jj, kk) = (si * i, sj * j, sk * k);
        let (ij, ik, jk) = (si * j, si * k, sj * k);
        let (wi, wj, wk) = (si * w, sj * w, sk * w);
        Self {
            columns: [
                [1.0 - (jj + kk), ij + wk, ik - wj],
                [ij - wk, 1.0 - (ii + kk), jk + wi],
                [ik + wj, jk - wi, 1.0 - (ii + jj)],
            ],
        }
    }

    /// R v: a body vector written in the world.
    #[inline]
    pub fn to_world(&self, v: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = &self.columns;
        [
            x[0] * v[0] + y[0] * v[1] + z[0] * v[2],
            x[1] * v[0] + y[1] * v[1] + z[1] * v[2],
            x[2] * v[0] + y[2] * v[1] + z[2] * v[2],
        ]
    }

    /// Rᵀ v: a world vector written in the body.
    #[inline]
    pub fn to_body(&self, v: [f64; 3]) -> [f64; 3] {
        [
            dot(self.columns[0], v),
            dot(self.columns[1], v),
            dot(self.columns[2], v),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_z_carries_x_to_y_whatever_the_quaternions_length() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        for length in [1.0, 3.0, 1e-3] {
            let turn = Rotation::of_quaternion([0.0, 0.0, half * length, half * length]);
            let turned = turn.to_world([1.0, 0.0, 0.0]);
            assert!(norm(subtract(turned, [0.0, 1.0, 0.0])) < 1e-15);
            assert!(norm(subtract(turn.to_body(turned), [1.0, 0.0, 0.0])) < 1e-15);
        }
    }

    #[test]
    fn one_number_that_is_not_finite_is_found() {
        assert!(all_finite(&[1.0, -f64::MAX, 0.0]));
        assert!(!all_finite(&[1.0, f64::NAN, 0.0]));
        assert!(!all_finite(&[f64::INFINITY, f64::NEG_INFINITY]));
    }
}
