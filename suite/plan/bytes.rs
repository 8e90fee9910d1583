//! Numbers as the bytes of an element or of a kernel argument.

use crate::value::{ElementType, Scalar};

/// One element's little-endian bytes.
///
/// # Errors
/// When the number is out of the element's range, is not whole for an integer element, or is finite but would become
/// infinite. A float element takes the nearest value otherwise.
pub fn element_bytes(element: ElementType, value: Scalar) -> Result<Vec<u8>, String> {
    let whole = |value: Scalar| match value {
        Scalar::Int(v) => Ok(v),
        Scalar::Float(v) => Err(format!(
            "{v:?} is not an integer, and the elements are {}",
            element.name()
        )),
    };
    macro_rules! integer {
        ($rust:ty) => {{
            let value = whole(value)?;
            let fits = <$rust>::try_from(value);
            let fits = fits.map_err(|_| format!("{value} does not fit {}", element.name()))?;
            fits.to_le_bytes().to_vec()
        }};
    }
    Ok(match element {
        ElementType::I8 => integer!(i8),
        ElementType::U8 => integer!(u8),
        ElementType::I16 => integer!(i16),
        ElementType::U16 => integer!(u16),
        ElementType::I32 => integer!(i32),
        ElementType::U32 => integer!(u32),
        ElementType::I64 => integer!(i64),
        ElementType::U64 => integer!(u64),
        ElementType::F32 => single(float(value))?.to_le_bytes().to_vec(),
        ElementType::F64 => float(value).to_le_bytes().to_vec(),
    })
}

fn float(value: Scalar) -> f64 {
    match value {
        Scalar::Int(v) => v as f64,
        Scalar::Float(v) => v,
    }
}

/// The nearest single-precision value; a finite number beyond its range is refused.
pub(super) fn single(value: f64) -> Result<f32, String> {
    let nearest = value as f32;
    if nearest.is_infinite() && value.is_finite() {
        return Err(format!("{value:?} does not fit f32"));
    }
    Ok(nearest)
}

/// `value` as `size` bytes (1, 2, 4 or 8), in the range that signed and unsigned integers of that size span together:
/// PTX does not say which of the two a parameter is.
pub(super) fn integer_argument(value: i64, size: u32) -> Result<[u8; 8], String> {
    let bits = 8 * size;
    if bits < 64 {
        let (min, max) = (-(1i64 << (bits - 1)), (1i64 << bits) - 1);
        if !(min..=max).contains(&value) {
            return Err(format!(
                "{value} does not fit {size} bytes ({min} to {max})"
            ));
        }
    }
    let mut bytes = value.to_le_bytes();
    bytes[size as usize..].fill(0);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_little_endian_and_in_range() {
        let int = |e, v| element_bytes(e, Scalar::Int(v));
        assert_eq!(int(ElementType::I32, -2).unwrap(), [0xFE, 0xFF, 0xFF, 0xFF]);
        assert_eq!(int(ElementType::U16, 65_535).unwrap(), [0xFF, 0xFF]);
        assert_eq!(int(ElementType::F32, 1).unwrap(), 1f32.to_le_bytes());
        assert_eq!(
            element_bytes(ElementType::F64, Scalar::Float(0.1)).unwrap(),
            0.1f64.to_le_bytes()
        );
        assert_eq!(
            int(ElementType::U16, 65_536).unwrap_err(),
            "65536 does not fit u16"
        );
        assert_eq!(
            int(ElementType::U64, -1).unwrap_err(),
            "-1 does not fit u64"
        );
        assert_eq!(
            int(ElementType::I8, 128).unwrap_err(),
            "128 does not fit i8"
        );
        let float = |e, v| element_bytes(e, Scalar::Float(v));
        assert!(float(ElementType::I32, 1.0).is_err());
        assert_eq!(
            float(ElementType::F32, 1e39).unwrap_err(),
            "1e39 does not fit f32"
        );
        assert_eq!(
            float(ElementType::F32, f64::INFINITY).unwrap(),
            f32::INFINITY.to_le_bytes()
        );
    }

    #[test]
    fn arguments_span_signed_and_unsigned() {
        assert_eq!(
            integer_argument(-1, 4).unwrap(),
            [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]
        );
        assert_eq!(integer_argument(4_294_967_295, 4).unwrap()[..4], [0xFF; 4]);
        assert!(integer_argument(4_294_967_296, 4).is_err());
        assert!(integer_argument(-2_147_483_649, 4).is_err());
        assert_eq!(
            integer_argument(256, 1).unwrap_err(),
            "256 does not fit 1 bytes (-128 to 255)"
        );
        assert_eq!(
            integer_argument(i64::MIN, 8).unwrap(),
            i64::MIN.to_le_bytes()
        );
    }
}
