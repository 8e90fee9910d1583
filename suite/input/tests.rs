use super::*;
use proptest::prelude::*;

fn i32s(request: &Request) -> Vec<i32> {
    match generate(request).unwrap() {
        Array::I32(values) => values,
        other => panic!("i32 wanted, got {}", other.element_type().name()),
    }
}

fn survivors(keep: i64, len: u64) -> Request {
    Request::new(ElementType::I32, "survivors", len)
        .with("keep", keep)
        .seeded(12345)
}

fn message(request: &Request) -> String {
    generate(request).unwrap_err().reason.message
}

#[test]
fn survivors_as_known_at_full_size() {
    const LEN: u64 = 8_387_997;
    for (keep, known) in [(26, 852_058), (128, 4_194_345), (230, 7_537_218)] {
        let values = i32s(&survivors(keep, LEN));
        assert_eq!(values.len() as u64, LEN);
        assert_eq!(values.iter().filter(|v| **v != 0).count(), known, "{keep}");
        if keep == 128 {
            assert_eq!(values.iter().filter(|v| **v % 2 == 0).count(), 6_275_981);
        }
    }
}

/// The definition itself, one draw at a time, at lengths around the number of lanes, and at full size, where pieces
/// are made side by side.
#[test]
fn survivors_are_the_serial_lcg() {
    for len in (0..40).chain([255, 256, 257, 8_387_997]) {
        let mut state = 12345u32;
        let mut draw = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            state >> 24
        };
        let serial: Vec<i32> = (0..len)
            .map(|_| {
                let (first, second) = (draw(), draw());
                if first < 128 {
                    1 + (second % 255) as i32
                } else {
                    0
                }
            })
            .collect();
        assert!(i32s(&survivors(128, len)) == serial, "{len}");
    }
}

#[test]
fn survivors_keep_none_and_all_at_the_ends_of_keep() {
    assert!(i32s(&survivors(0, 1000)).iter().all(|v| *v == 0));
    assert!(
        i32s(&survivors(256, 1000))
            .iter()
            .all(|v| (1..=255).contains(v))
    );
}

#[test]
fn patterns_against_literal_values() {
    let cases: [(&str, &[i32]); 7] = [
        ("none", &[0, 0, 0, 0, 0]),
        ("all", &[1, 2, 3, 4, 5]),
        ("first", &[1, 0, 0, 0, 0]),
        ("last", &[0, 0, 0, 0, 5]),
        ("alternating", &[1, 0, 3, 0, 5]),
        ("iota", &[0, 1, 2, 3, 4]),
        ("reverse", &[4, 3, 2, 1, 0]),
    ];
    for (name, known) in cases {
        assert_eq!(
            i32s(&Request::new(ElementType::I32, name, 5)),
            known,
            "{name}"
        );
        assert!(
            i32s(&Request::new(ElementType::I32, name, 0)).is_empty(),
            "{name}"
        );
    }
    let constant = Request::new(ElementType::I32, "constant", 3).with("value", -7);
    assert_eq!(i32s(&constant), [-7, -7, -7]);
    let iota = Request::new(ElementType::I32, "iota", 3).with("start", -1);
    assert_eq!(i32s(&iota), [-1, 0, 1]);
    let stripes = Request::new(ElementType::I32, "stripes", 7).with("width", 2);
    assert_eq!(i32s(&stripes), [1, 2, 0, 0, 5, 6, 0]);
    for width in [0, -3] {
        let none = Request::new(ElementType::I32, "stripes", 7).with("width", width);
        assert!(message(&none).contains("is not at least 1"), "{width}");
    }
    let float = Request::new(ElementType::F64, "alternating", 3);
    assert_eq!(generate(&float).unwrap(), Array::F64(vec![1.0, 0.0, 3.0]));
}

#[test]
fn all_differs_from_itself_one_tile_later() {
    let values = i32s(&Request::new(ElementType::I32, "all", 1024));
    assert_eq!(values[254..256], [255, 1]);
    assert!(values.iter().zip(&values[256..]).all(|(a, b)| a != b));
    let narrow = generate(&Request::new(ElementType::I8, "all", 300)).unwrap();
    let Array::I8(narrow) = narrow else { panic!() };
    assert_eq!(narrow[126..128], [127, 1]);
    assert!(narrow.iter().all(|v| *v > 0));
}

#[test]
fn splitmix64_gives_its_published_sequence() {
    let mut random = random::SplitMix64::new(1234567);
    let known = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ];
    assert_eq!(known.map(|_| random.next()), known);
}

#[test]
fn uniform_reaches_both_ends_and_every_value_alike() {
    let request = Request::new(ElementType::I32, "uniform", 100_000)
        .with("min", -2)
        .with("max", 2);
    let values = i32s(&request);
    for value in -2..=2 {
        let times = values.iter().filter(|v| **v == value).count();
        assert!((19_400..20_600).contains(&times), "{value}: {times}");
    }
    assert_ne!(values, i32s(&request.clone().seeded(1)));
    assert_eq!(values, i32s(&request));
}

/// A range just above half of all words is where a biased draw shows at once: `word % bound` would give its lower
/// half twice as often.
#[test]
fn bounded_draws_are_unbiased_where_bias_is_largest() {
    let mut random = random::SplitMix64::new(9);
    let most = (1u64 << 63) + (1 << 62) - 1;
    let third = (most / 3) + 1;
    let mut thirds = [0; 3];
    for _ in 0..30_000 {
        thirds[(random.up_to(most) / third) as usize] += 1;
    }
    assert!(
        thirds.iter().all(|n| (9_700..10_300).contains(n)),
        "{thirds:?}"
    );
}

#[test]
fn uniform_spans_the_types_own_range_by_default() {
    for element in ElementType::ALL {
        let array = generate(&Request::new(element, "uniform", 4096).seeded(3)).unwrap();
        match array {
            Array::I8(v) => assert!(v.contains(&i8::MIN) && v.contains(&i8::MAX)),
            Array::U8(v) => assert!(v.contains(&0) && v.contains(&255)),
            Array::U64(v) => assert!(v.iter().any(|v| *v > i64::MAX as u64)),
            Array::I64(v) => assert!(v.iter().any(|v| *v < -(1 << 62))),
            Array::U32(v) => assert!(v.iter().any(|v| *v > i32::MAX as u32)),
            Array::F32(v) => assert!(v.iter().all(|v| (0.0..=1.0).contains(v) && *v != 1e9)),
            Array::F64(v) => assert!(v.iter().any(|v| v.fract() != 0.0)),
            other => assert_eq!(other.len(), 4096),
        }
    }
}

#[test]
fn whole_numbers_in_floats_and_sorted_in_order() {
    let whole = Request::new(ElementType::F32, "whole", 1000)
        .with("min", -49)
        .with("max", 49);
    let Array::F32(values) = generate(&whole).unwrap() else {
        panic!()
    };
    assert!(values.iter().all(|v| v.fract() == 0.0 && v.abs() <= 49.0));
    assert!(values.contains(&-49.0) && values.contains(&49.0));
    let sorted = Request::new(ElementType::I32, "sorted", 1000)
        .with("min", 0)
        .with("max", 9);
    let values = i32s(&sorted);
    assert!(values.is_sorted() && values[0] == 0 && values[999] == 9);
}

#[test]
fn bad_requests_are_setup_faults_that_say_why() {
    let i32 = |generator| Request::new(ElementType::I32, generator, 4);
    let u8 = |generator| Request::new(ElementType::U8, generator, 300);
    let cases = [
        (
            i32("nonsense"),
            "unknown generator `nonsense`; known: survivors, none",
        ),
        (
            i32("none").with("keep", 1),
            "no parameter `keep`; it takes none",
        ),
        (
            i32("uniform").with("mix", 1),
            "no parameter `mix`; known: min, max",
        ),
        (i32("survivors"), "needs the parameter `keep`"),
        (
            i32("survivors").with("keep", 257),
            "keep 257 lies outside 0 to 256",
        ),
        (
            i32("survivors").with("keep", -1),
            "keep -1 lies outside 0 to 256",
        ),
        (
            i32("uniform").with("min", 2).with("max", 1),
            "min 2 is above max 1",
        ),
        (
            i32("uniform").with("max", 1 << 31),
            "max 2147483648 lies outside i32",
        ),
        (
            u8("uniform").with("min", -1),
            "min -1 lies outside u8: 0 to 255",
        ),
        (u8("iota"), "the last element, 299 lies outside u8"),
        (u8("reverse"), "the first element, 299 lies outside u8"),
        (i32("constant").with("value", i64::MIN), "lies outside i32"),
        (
            Request::new(ElementType::I8, "survivors", 1).with("keep", 1),
            "255 lies outside i8",
        ),
        (
            Request::new(ElementType::F32, "constant", 1).with("value", (1 << 24) + 1),
            "value 16777217 lies outside f32",
        ),
        (
            Request::new(ElementType::I32, "none", u64::MAX),
            "do not fit in this machine's memory",
        ),
        (
            Request::new(ElementType::I64, "none", 1 << 60),
            "do not fit in this machine's memory",
        ),
    ];
    for (request, words) in cases {
        let message = message(&request);
        assert!(message.contains(words), "{message}");
        assert_eq!(
            check(&request),
            generate(&request).map(drop),
            "without making it"
        );
    }
}

#[test]
fn every_generator_serves_every_type_it_can() {
    for element in ElementType::ALL {
        for name in generators() {
            let mut request = Request::new(element, name, 100);
            request = match name {
                "survivors" => request.with("keep", 128),
                "constant" => request.with("value", 1),
                "stripes" => request.with("width", 7),
                _ => request,
            };
            let made = generate(&request);
            assert_eq!(check(&request).is_ok(), made.is_ok());
            if (element, name) == (ElementType::I8, "survivors") {
                assert!(made.is_err());
            } else {
                assert_eq!(made.unwrap().len(), 100, "{name} {}", element.name());
            }
        }
    }
}

proptest! {
    #[test]
    fn uniform_stays_in_its_bounds(a: i32, b: i32, seed: u64) {
        let (min, max) = (a.min(b), a.max(b));
        let request = Request::new(ElementType::I32, "uniform", 50)
            .with("min", min.into())
            .with("max", max.into())
            .seeded(seed);
        prop_assert!(i32s(&request).iter().all(|v| (min..=max).contains(v)));
    }
}
