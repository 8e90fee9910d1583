//! Stream compaction of the elements that are not zero: in one loop, and as a device does it.

use super::{count, part_mut, scan};

/// One loop that appends.
pub(super) fn without_scan(input: &[i32], output: &mut [i32]) -> Result<i32, String> {
    let mut kept = 0;
    for &value in input {
        if value != 0 {
            *output
                .get_mut(kept)
                .ok_or_else(|| format!("the output has room for {kept} elements only"))? = value;
            kept += 1;
        }
    }
    Ok(count(kept))
}

/// Mark, scan, scatter: each a pass of its own, over marks and ranks in memory.
pub(super) fn with_scan(
    input: &[i32],
    output: &mut [i32],
    scratch: &mut Vec<i32>,
) -> Result<i32, String> {
    scratch.resize(2 * input.len(), 0);
    let (marks, ranks) = scratch.split_at_mut(input.len());
    for (mark, &value) in marks.iter_mut().zip(input) {
        *mark = i32::from(value != 0);
    }
    scan::exclusive(marks, ranks);
    let kept = match (marks.last(), ranks.last()) {
        (Some(mark), Some(rank)) => mark + rank,
        _ => 0,
    };
    let output = part_mut(output, kept.unsigned_abs() as usize)?;
    for ((&value, &mark), &rank) in input.iter().zip(&*marks).zip(&*ranks) {
        if mark == 1 {
            output[rank.unsigned_abs() as usize] = value;
        }
    }
    Ok(kept)
}
