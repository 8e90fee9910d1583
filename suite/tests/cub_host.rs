//! What the kernels of `data/cub` give, from one block's elements.

/// What `out` holds before: nobody may leave it where it should write.
pub const UNTOUCHED: i32 = -555;

pub fn exclusive_sum(tile: &[i32]) -> Vec<i32> {
    let sums = tile.iter().scan(0_i32, |sum, v| {
        let before = *sum;
        *sum += v;
        Some(before)
    });
    sums.collect()
}

pub fn inclusive_max(tile: &[i32]) -> Vec<i32> {
    let mut most = i32::MIN;
    tile.iter()
        .map(|&v| {
            most = most.max(v);
            most
        })
        .collect()
}

pub fn sum_and_largest(tile: &[i32]) -> Vec<i32> {
    let (sum, largest) = (tile.iter().sum(), tile.iter().copied().max());
    let pair = [sum, largest.unwrap_or(0)];
    (0..tile.len()).map(|k| pair[k % 4 % 2]).collect()
}

pub fn sorted(tile: &[i32]) -> Vec<i32> {
    let mut all = tile.to_vec();
    all.sort_unstable();
    all
}

/// Positions in stable order of a key.
pub fn order(tile: &[i32], key: fn(i32) -> i32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tile.len()).collect();
    order.sort_by_key(|&i| key(tile[i]));
    order
}

pub fn by_five_bits_descending(tile: &[i32]) -> Vec<i32> {
    let order = order(tile, |v| -(v >> 2 & 31));
    order.into_iter().map(|i| i as i32).collect()
}

pub fn ranks(tile: &[i32]) -> Vec<i32> {
    let mut ranks = vec![0; tile.len()];
    for (rank, at) in order(tile, |v| v & 15).into_iter().enumerate() {
        ranks[at] = rank as i32;
    }
    ranks
}

pub fn guarded(tile: &[i32]) -> Vec<i32> {
    let stored = tile.len() - 12;
    let one = |(i, v): (usize, &i32)| {
        if i < stored {
            2 * v + i as i32 % 4
        } else {
            UNTOUCHED
        }
    };
    tile.iter().enumerate().map(one).collect()
}

/// Thread t's element k of so many threads: from blocked to striped.
pub fn striped(tile: &[i32], threads: usize) -> Vec<i32> {
    let groups = tile.chunks(4 * threads);
    let one = |group: &[i32]| -> Vec<i32> {
        let at = |i: usize| i % 4 * threads + i / 4;
        (0..group.len()).map(|i| group[at(i)]).collect()
    };
    groups.flat_map(one).collect()
}

pub fn histogram(tile: &[i32]) -> Vec<i32> {
    let count = |v: &i32| tile.iter().filter(|&w| w & 63 == v & 63).count() as i32;
    tile.iter().map(count).collect()
}

pub fn by_low_byte(tile: &[i32]) -> Vec<i32> {
    let order = order(tile, |v| v & 255);
    order.into_iter().map(|i| tile[i]).collect()
}

pub fn heads_and_tails(tile: &[i32]) -> Vec<i32> {
    let differs = |a: usize, b: usize| match (tile.get(a), tile.get(b)) {
        (Some(a), Some(b)) => i32::from(a & 3 != b & 3),
        _ => 1,
    };
    (0..tile.len())
        .map(|i| differs(i.wrapping_sub(1), i) + 2 * differs(i, i + 1))
        .collect()
}

pub fn differences(tile: &[i32]) -> Vec<i32> {
    let first = tile.iter().take(1).copied();
    first.chain(tile.windows(2).map(|w| w[1] - w[0])).collect()
}

pub fn decoded_runs(tile: &[i32]) -> Vec<i32> {
    let runs = tile.iter().flat_map(|&v| vec![v; (v & 7) as usize + 1]);
    runs.take(tile.len()).collect()
}

/// An exclusive sum with an inclusive maximum, over so many lanes.
pub fn scanned(tile: &[i32], lanes: usize) -> Vec<i32> {
    let both = |group: &[i32]| -> Vec<i32> {
        let pairs = exclusive_sum(group).into_iter().zip(inclusive_max(group));
        pairs.map(|(sum, most)| sum ^ most).collect()
    };
    tile.chunks(lanes).flat_map(both).collect()
}

/// What the first of so many lanes stores; the others store 0.
pub fn at_first(tile: &[i32], lanes: usize, value: fn(&[i32]) -> i32) -> Vec<i32> {
    let one = |group: &[i32]| {
        let mut out = vec![0; group.len()];
        out[0] = value(group);
        out
    };
    tile.chunks(lanes).flat_map(one).collect()
}

pub fn sum_with_largest(group: &[i32]) -> i32 {
    group.iter().sum::<i32>() ^ group.iter().copied().max().unwrap_or(0)
}

/// The sum of each run of odd or of even elements at its head.
pub fn sums_of_runs(tile: &[i32]) -> Vec<i32> {
    let one = |group: &[i32]| -> Vec<i32> {
        let runs = group.chunk_by(|a, b| a & 1 == b & 1);
        runs.flat_map(|run| {
            let mut out = vec![0; run.len()];
            out[0] = run.iter().sum();
            out
        })
        .collect()
    };
    tile.chunks(32).flat_map(one).collect()
}
