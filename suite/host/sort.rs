//! Sorting of unsigned keys, ascending. Both copy the input first and leave it as it is.

const DIGIT_BITS: u32 = 8;
const BINS: usize = 1 << DIGIT_BITS;

/// Least significant digit first, 8 bits a pass: count, scan, scatter (Knuth, TAOCP 3, 5.2.5). Four passes, so that the
/// keys end where they began.
pub(super) fn radix(input: &[u32], output: &mut [u32], scratch: &mut Vec<u32>) {
    scratch.resize(input.len(), 0);
    output.copy_from_slice(input);
    for shift in (0..u32::BITS).step_by(2 * DIGIT_BITS as usize) {
        pass(output, scratch, shift);
        pass(scratch, output, shift + DIGIT_BITS);
    }
}

fn pass(from: &[u32], to: &mut [u32], shift: u32) {
    let digit = |key: u32| (key >> shift) as usize % BINS;
    let mut places = [0_usize; BINS];
    for &key in from {
        places[digit(key)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for &key in from {
        let place = &mut places[digit(key)];
        to[*place] = key;
        *place += 1;
    }
}

/// The standard library's sort.
pub(super) fn standard(input: &[u32], output: &mut [u32]) {
    output.copy_from_slice(input);
    output.sort_unstable();
}
