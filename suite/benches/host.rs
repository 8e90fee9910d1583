//! What the host does for the compaction suite at full size: inputs, references and checks, each as milliseconds
//! and as a ratio to copying one such array into fresh memory. `cargo bench --bench host`.

use std::hint::black_box;
use std::time::Instant;

use cuda_gates::check;
use cuda_gates::input;
use cuda_gates::reference::{self, Wanted};
use cuda_gates::value::{Array, ArrayRef, ElementType, POISON_BYTE};

const LEN: u64 = 8_387_997;
const ROUNDS: usize = 7;

/// The median of a few rounds, in milliseconds; what a round made is dropped outside its time.
fn median_ms<R>(mut work: impl FnMut() -> R) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            let made = black_box(work());
            let ms = started.elapsed().as_secs_f64() * 1e3;
            drop(made);
            ms
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

struct Table {
    copy_ms: f64,
}

impl Table {
    fn row<R>(&self, step: &str, work: impl FnMut() -> R) {
        let ms = median_ms(work);
        println!("{step:<34} {ms:>8.2} ms {:>6.2} ×", ms / self.copy_ms);
    }
}

fn wanted(name: &str, operand: &str, map: Option<&str>, input: ArrayRef<'_>) -> Wanted {
    let mut request = reference::Request::new(name, operand);
    request.map = map.map(str::to_owned);
    reference::evaluate(&request, input).expect("a known reference")
}

/// `want` as a device hands it back: the rest of the buffer still poison. Shuffled, it is the same multiset.
fn output(want: &[i32], shuffled: bool) -> Vec<i32> {
    let mut out = vec![i32::from_ne_bytes([POISON_BYTE; 4]); LEN as usize];
    out[..want.len()].copy_from_slice(want);
    if shuffled {
        out[..want.len()].reverse();
    }
    out
}

fn main() {
    let request = |keep| {
        let request = input::Request::new(ElementType::I32, "survivors", LEN);
        request.with("keep", keep).seeded(12345)
    };
    let array = input::generate(&request(128)).expect("a known generator");
    let input = array.view();
    let table = Table {
        copy_ms: median_ms(|| input.as_bytes().to_vec()),
    };
    table.row("copy into fresh memory", || input.as_bytes().to_vec());
    table.row("generate survivors", || input::generate(&request(128)));
    table.row("count nonzero", || wanted("count", "nonzero", None, input));
    table.row("map nonzero", || wanted("map", "nonzero", None, input));
    table.row("exclusive_scan sum of nonzero", || {
        wanted("exclusive_scan", "sum", Some("nonzero"), input)
    });
    table.row("partition even", || {
        wanted("partition", "even", None, input)
    });
    for keep in [26, 128, 230] {
        let array = input::generate(&request(keep)).expect("a known generator");
        let compact = || wanted("compact", "nonzero", None, array.view());
        table.row(&format!("compact nonzero, keep {keep}"), compact);
        let Wanted::Array(Array::I32(want)) = compact() else {
            unreachable!("i32 gives i32");
        };
        let (got, mixed) = (output(&want, false), output(&want, true));
        let [want, got, mixed] = [&want, &got, &mixed].map(|values| ArrayRef::I32(values));
        table.row(&format!("exact, keep {keep}"), || check::exact(got, want));
        table.row(&format!("multiset, keep {keep}"), || {
            check::multiset(mixed, want)
        });
        table.row(&format!("out of order, keep {keep}"), || {
            check::order_differences(mixed, want)
        });
    }
}
