use super::*;
use proptest::prelude::*;

const VALUES: [i32; 7] = [3, 0, -2, 7, 0, 8, -5];

fn array(name: &str, operand: &str, input: ArrayRef<'_>) -> Array {
    of_request(&Request::new(name, operand), input)
}

fn of_request(request: &Request, input: ArrayRef<'_>) -> Array {
    match evaluate(request, input).unwrap() {
        Wanted::Array(array) => {
            assert_eq!(
                result_type(request, input.element_type()),
                Some(array.element_type())
            );
            array
        }
        other => panic!("an array is wanted, got {other:?}"),
    }
}

fn number(request: &Request, input: ArrayRef<'_>) -> Scalar {
    assert_eq!(result_type(request, input.element_type()), None);
    match evaluate(request, input).unwrap() {
        Wanted::Number(number) => number,
        other => panic!("a number is wanted, got {other:?}"),
    }
}

#[test]
fn predicates_against_a_hand_table() {
    let table: [(&str, &[i32]); 6] = [
        ("nonzero", &[1, 0, 1, 1, 0, 1, 1]),
        ("zero", &[0, 1, 0, 0, 1, 0, 0]),
        ("odd", &[1, 0, 0, 1, 0, 0, 1]),
        ("even", &[0, 1, 1, 0, 1, 1, 0]),
        ("positive", &[1, 0, 0, 1, 0, 1, 0]),
        ("negative", &[0, 0, 1, 0, 0, 0, 1]),
    ];
    for (predicate, flags) in table {
        let input = ArrayRef::I32(&VALUES);
        assert_eq!(
            array("map", predicate, input),
            Array::I32(flags.to_vec()),
            "{predicate}"
        );
        let holds = flags.iter().sum::<i32>();
        assert_eq!(
            number(&Request::new("count", predicate), input),
            Scalar::Int(holds.into()),
            "{predicate}"
        );
    }
}

#[test]
fn compact_and_partition_against_hand_tables() {
    let input = ArrayRef::I32(&VALUES);
    assert_eq!(
        array("compact", "nonzero", input),
        Array::I32(vec![3, -2, 7, 8, -5])
    );
    assert_eq!(array("compact", "odd", input), Array::I32(vec![3, 7, -5]));
    assert_eq!(
        evaluate(&Request::new("partition", "even"), input).unwrap(),
        Wanted::Partition {
            array: Array::I32(vec![0, -2, 0, 8, 3, 7, -5]),
            split: 4
        }
    );
    assert_eq!(
        evaluate(&Request::new("partition_reversed", "even"), input).unwrap(),
        Wanted::Partition {
            array: Array::I32(vec![0, -2, 0, 8, -5, 7, 3]),
            split: 4
        }
    );
}

#[test]
fn scans_against_hand_tables() {
    let input = ArrayRef::I32(&VALUES);
    let table: [(&str, &str, &[i32]); 6] = [
        ("exclusive_scan", "sum", &[0, 3, 3, 1, 8, 8, 16]),
        ("inclusive_scan", "sum", &[3, 3, 1, 8, 8, 16, 11]),
        ("exclusive_scan", "max", &[i32::MIN, 3, 3, 3, 7, 7, 8]),
        ("inclusive_scan", "max", &[3, 3, 3, 7, 7, 8, 8]),
        ("exclusive_scan", "min", &[i32::MAX, 3, 0, -2, -2, -2, -2]),
        ("inclusive_scan", "min", &[3, 0, -2, -2, -2, -2, -5]),
    ];
    for (name, operator, known) in table {
        assert_eq!(
            array(name, operator, input),
            Array::I32(known.to_vec()),
            "{name} {operator}"
        );
    }
    let ranks = Request::new("exclusive_scan", "sum").mapped("nonzero");
    assert_eq!(
        of_request(&ranks, input),
        Array::I32(vec![0, 1, 1, 2, 3, 3, 4])
    );
    let squares = Request::new("inclusive_scan", "sum").mapped("square");
    assert_eq!(
        of_request(&squares, input),
        Array::I32(vec![9, 9, 13, 62, 62, 126, 151])
    );
}

#[test]
fn a_mapped_scan_of_any_type_is_of_i32() {
    let ranks = Request::new("exclusive_scan", "sum").mapped("positive");
    let input = ArrayRef::F64(&[0.5, -1.0, 2.0]);
    assert_eq!(of_request(&ranks, input), Array::I32(vec![0, 1, 1]));
}

#[test]
fn sums_wrap_as_the_device_does() {
    let input = ArrayRef::U8(&[200, 100, 1]);
    assert_eq!(
        array("inclusive_scan", "sum", input),
        Array::U8(vec![200, 44, 45])
    );
    let input = ArrayRef::I32(&[i32::MAX, 1]);
    assert_eq!(
        array("inclusive_scan", "sum", input),
        Array::I32(vec![i32::MAX, i32::MIN])
    );
    assert_eq!(
        number(&Request::new("reduce", "sum"), input),
        Scalar::Int(i32::MIN.into())
    );
}

#[test]
fn float_sums_round_at_every_step() {
    let input = ArrayRef::F32(&[16_777_216.0, 1.0, 1.0]);
    let known = Array::F32(vec![16_777_216.0; 3]);
    assert_eq!(array("inclusive_scan", "sum", input), known);
}

#[test]
fn transforms_against_hand_tables() {
    let table: [(&str, &[i8]); 4] = [
        ("identity", &[3, -4, -128]),
        ("negate", &[-3, 4, -128]),
        ("abs", &[3, 4, -128]),
        ("square", &[9, 16, 0]),
    ];
    for (transform, known) in table {
        let input = ArrayRef::I8(&[3, -4, -128]);
        assert_eq!(
            array("map", transform, input),
            Array::I8(known.to_vec()),
            "{transform}"
        );
    }
    let unsigned = ArrayRef::U16(&[1, 0]);
    assert_eq!(
        array("map", "negate", unsigned),
        Array::U16(vec![u16::MAX, 0])
    );
    assert_eq!(array("map", "abs", unsigned), Array::U16(vec![1, 0]));
}

#[test]
fn floats_zero_and_nan() {
    let input = ArrayRef::F32(&[-0.0, f32::NAN, -1.5]);
    assert_eq!(array("map", "nonzero", input), Array::I32(vec![0, 1, 1]));
    assert_eq!(array("map", "positive", input), Array::I32(vec![0, 0, 0]));
    assert_eq!(array("map", "negative", input), Array::I32(vec![0, 0, 1]));
    let zeros = ArrayRef::F64(&[f64::NAN, 0.0, -0.0, 0.0]);
    let Scalar::Float(min) = number(&Request::new("reduce", "min"), zeros) else {
        panic!()
    };
    assert_eq!(min.to_bits(), (-0.0f64).to_bits());
    let Scalar::Float(max) = number(&Request::new("reduce", "max"), zeros) else {
        panic!()
    };
    assert_eq!(max.to_bits(), 0.0f64.to_bits());
    let Array::F64(sorted) = array("sort", "ascending", zeros) else {
        panic!()
    };
    let bits = [-0.0, 0.0, 0.0, f64::NAN].map(f64::to_bits);
    assert_eq!(sorted.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), bits);
    for name in ["odd", "even"] {
        let fault = evaluate(&Request::new("compact", name), input).unwrap_err();
        assert!(fault.reason.message.contains("no meaning for floats"));
    }
}

#[test]
fn sort_copy_reverse_histogram_reduce_against_hand_tables() {
    let input = ArrayRef::I32(&VALUES);
    assert_eq!(
        array("sort", "ascending", input),
        Array::I32(vec![-5, -2, 0, 0, 3, 7, 8])
    );
    assert_eq!(
        array("sort", "descending", input),
        Array::I32(vec![8, 7, 3, 0, 0, -2, -5])
    );
    assert_eq!(array("copy", "input", input), Array::I32(VALUES.to_vec()));
    assert_eq!(
        array("reverse", "input", input),
        Array::I32(vec![-5, 8, 0, 7, -2, 0, 3])
    );
    assert_eq!(array("histogram", "4", input), Array::I32(vec![2, 0, 0, 1]));
    assert_eq!(
        number(&Request::new("reduce", "sum"), input),
        Scalar::Int(11)
    );
    assert_eq!(
        number(&Request::new("reduce", "min"), input),
        Scalar::Int(-5)
    );
    assert_eq!(
        number(&Request::new("reduce", "sum").mapped("zero"), input),
        Scalar::Int(2)
    );
}

#[test]
fn nothing_in_gives_nothing_out() {
    let nothing = ArrayRef::I32(&[]);
    for (name, operand) in [
        ("compact", "odd"),
        ("map", "zero"),
        ("exclusive_scan", "sum"),
        ("inclusive_scan", "max"),
        ("sort", "ascending"),
        ("copy", "input"),
        ("reverse", "input"),
    ] {
        assert_eq!(array(name, operand, nothing), Array::I32(vec![]), "{name}");
    }
    assert_eq!(
        number(&Request::new("count", "odd"), nothing),
        Scalar::Int(0)
    );
    assert_eq!(
        number(&Request::new("reduce", "sum"), nothing),
        Scalar::Int(0)
    );
    assert_eq!(
        number(&Request::new("reduce", "min"), nothing),
        Scalar::Int(i32::MAX.into())
    );
}

#[test]
fn bad_requests_say_what_is_known() {
    let table = [
        (
            Request::new("compress", "odd"),
            "unknown reference `compress`; known: compact,",
        ),
        (
            Request::new("compact", "prime"),
            "unknown predicate `prime`; known: nonzero, zero,",
        ),
        (
            Request::new("map", "cube"),
            "known: nonzero, zero, odd, even, positive, negative, identity",
        ),
        (
            Request::new("reduce", "product"),
            "unknown operator `product`; known: sum, min, max",
        ),
        (
            Request::new("reduce", "sum").mapped("cube"),
            "unknown map `cube`",
        ),
        (
            Request::new("sort", "up"),
            "unknown order `up`; known: ascending, descending",
        ),
        (
            Request::new("count", "odd").mapped("abs"),
            "`count` takes no `map`",
        ),
        (
            Request::new("histogram", "0"),
            "a number of bins, 1 to 16777216, not `0`",
        ),
    ];
    for (request, words) in table {
        let message = validate(&request).unwrap_err();
        assert!(message.contains(words), "{message}");
        let fault = evaluate(&request, ArrayRef::I32(&[1])).unwrap_err();
        assert_eq!(fault, Fault::setup(message));
    }
    let floats = evaluate(&Request::new("histogram", "4"), ArrayRef::F32(&[1.0]));
    assert!(floats.is_err());
}

#[test]
fn counts_are_right_beyond_a_bytes_sum() {
    let ones = vec![1u8; 255 * 3 + 7];
    let counted = number(&Request::new("count", "nonzero"), ArrayRef::U8(&ones));
    assert_eq!(counted, Scalar::Int(772));
}

#[test]
fn numbers_become_arrays_of_the_type_or_are_refused() {
    let numbers = [Scalar::Int(-1), Scalar::Float(2.0)];
    assert_eq!(
        array_of(ElementType::I8, &numbers).unwrap(),
        Array::I8(vec![-1, 2])
    );
    assert_eq!(
        array_of(ElementType::F32, &numbers).unwrap(),
        Array::F32(vec![-1.0, 2.0])
    );
    for (element, number) in [
        (ElementType::U32, Scalar::Int(-1)),
        (ElementType::I8, Scalar::Int(128)),
        (ElementType::I32, Scalar::Float(0.5)),
        (ElementType::I64, Scalar::Float(f64::INFINITY)),
        (
            ElementType::U64,
            Scalar::Float(18_446_744_073_709_551_616.0),
        ),
    ] {
        let fault = array_of(element, &[Scalar::Int(0), number]).unwrap_err();
        assert!(fault.reason.message.contains("wanted element 1"), "{fault}");
    }
}

proptest! {
    #[test]
    fn partition_is_compact_of_both_kinds(values: Vec<i16>) {
        let input = ArrayRef::I16(&values);
        let even: Vec<i16> = values.iter().copied().filter(|v| v % 2 == 0).collect();
        let odd: Vec<i16> = values.iter().copied().filter(|v| v % 2 != 0).collect();
        prop_assert_eq!(array("compact", "odd", input), Array::I16(odd.clone()));
        let wanted = evaluate(&Request::new("partition", "even"), input).unwrap();
        let split = even.len() as u64;
        prop_assert_eq!(wanted, Wanted::Partition { array: Array::I16([even, odd].concat()), split });
    }

    #[test]
    fn inclusive_is_exclusive_one_place_on(values: Vec<i32>) {
        let input = ArrayRef::I32(&values);
        let (Array::I32(inclusive), Array::I32(exclusive)) = (
            array("inclusive_scan", "sum", input),
            array("exclusive_scan", "sum", input),
        ) else { panic!() };
        for i in 0..values.len() {
            let sum = values[..i].iter().fold(0i32, |sum, v| sum.wrapping_add(*v));
            prop_assert_eq!(exclusive[i], sum);
            prop_assert_eq!(inclusive[i], sum.wrapping_add(values[i]));
        }
    }
}
