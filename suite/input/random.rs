//! Uniform inputs by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014) and
//! Lemire's unbiased bounded draw ("Fast random integer generation in an interval", 2019).

use super::Request;
use super::number::Number;
use super::patterns::held;
use crate::outcome::Fault;

pub(super) struct SplitMix64(u64);

impl SplitMix64 {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Each of `0..=most` equally likely.
    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        let Some(bound) = most.checked_add(1) else {
            return self.next();
        };
        loop {
            let product = u128::from(self.next()) * u128::from(bound);
            // The low half below 2⁶⁴ mod bound belongs to the values that would come up once too often.
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// In [0, 1), a multiple of 2⁻⁵³.
    pub(super) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

/// Integers of `min..=max`; for floats, reals between the two (the nearest float may be `max` itself).
pub(super) fn uniform<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    if !T::IS_FLOAT {
        return whole(out, request);
    }
    let (min, max) = bounds::<T>(request)?;
    let (low, span) = (min as f64, (max - min) as f64);
    let mut random = SplitMix64::new(request.seed);
    out.fill_with(|| T::from_real(low + span * random.unit()));
    Ok(())
}

/// Whole numbers of `min..=max`, whatever the type.
pub(super) fn whole<T: Number>(out: &mut [T], request: &Request) -> Result<(), Fault> {
    let (min, max) = bounds::<T>(request)?;
    let most = (max - min) as u64; // the widest, u64's own range, just fits
    let mut random = SplitMix64::new(request.seed);
    out.fill_with(|| T::from_word((min as u64).wrapping_add(random.up_to(most))));
    Ok(())
}

pub(super) fn bounds<T: Number>(request: &Request) -> Result<(i128, i128), Fault> {
    let (low, high) = match T::IS_FLOAT {
        true => (0, 1),
        false => (T::LOW, T::HIGH),
    };
    let min = request.param("min").map_or(low, i128::from);
    let max = request.param("max").map_or(high, i128::from);
    held::<T>(request, "min", min)?;
    held::<T>(request, "max", max)?;
    if min > max {
        return Err(request.fault(format!("min {min} is above max {max}")));
    }
    Ok((min, max))
}
