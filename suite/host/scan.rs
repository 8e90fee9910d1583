//! Prefix sum.

/// Each element becomes the sum of those before it; sums wrap, as on the device.
pub(super) fn exclusive(input: &[i32], output: &mut [i32]) {
    let mut sum = 0_i32;
    for (to, &value) in output.iter_mut().zip(input) {
        *to = sum;
        sum = sum.wrapping_add(value);
    }
}
