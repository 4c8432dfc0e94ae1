//! The two matrices to multiply, and their product.
//!
//! It knows no device.

/// Rows and columns of each. The kernels have the same number.
pub const SIZE: usize = 512;
/// Elements of each.
pub const ELEMENTS: usize = SIZE * SIZE;
/// Additions and multiplications of one product: 2 · SIZE³.
pub const OPERATIONS: u64 = 2 * (SIZE as u64).pow(3);

/// The left factor, row after row. Small whole numbers: each sum of the product is exact in 32
/// bits, in any order of addition.
pub fn left() -> Vec<f32> {
    elements(|row, column| (row * 7 + column * 3) % 11)
}

/// The right factor.
pub fn right() -> Vec<f32> {
    elements(|row, column| (row * 5 + column * 13) % 9)
}

fn elements(of: impl Fn(usize, usize) -> usize) -> Vec<f32> {
    let at = |index| of(index / SIZE, index % SIZE) as f32 - 4.0;
    (0..ELEMENTS).map(at).collect()
}

/// First difference of `product` from the correct one: row, column, actual and correct value.
pub fn first_fault(product: &[f32]) -> Option<(usize, usize, f32, f32)> {
    let (left, right) = (left(), right());
    // A tenth of the rows, from both ends: a device that computes some rows wrongly computes most so.
    let rows = (0..SIZE).step_by(10).chain([SIZE - 1]);
    rows.flat_map(|row| (0..SIZE).map(move |column| (row, column)))
        .find_map(|(row, column)| {
            let term = |k: usize| left[row * SIZE + k] * right[k * SIZE + column];
            let right: f32 = (0..SIZE).map(term).sum();
            let found = product.get(row * SIZE + column).copied();
            let found = found.unwrap_or(f32::NAN);
            (found != right).then_some((row, column, found, right))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_by_64_bit_whole_numbers_is_right_and_one_wrong_element_is_found() {
        let (left, right) = (left(), right());
        let mut product = vec![0.0; ELEMENTS];
        for row in 0..SIZE {
            for column in 0..SIZE {
                let term =
                    |k: usize| (left[row * SIZE + k] as i64) * (right[k * SIZE + column] as i64);
                product[row * SIZE + column] = (0..SIZE).map(term).sum::<i64>() as f32;
            }
        }
        assert_eq!(first_fault(&product), None);
        product[510 * SIZE + 3] += 1.0;
        assert_eq!(
            first_fault(&product).map(|fault| (fault.0, fault.1)),
            Some((510, 3))
        );
        assert!(first_fault(&[]).is_some());
    }
}
