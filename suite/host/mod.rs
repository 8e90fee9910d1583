//! Host rungs: the ladder's first steps, on one thread of the host's processor. A pipeline calls them as
//! `{host: NAME, args: […]}`.
//!
//! Owns: the functions, their table and how they are called. May import `call` and `value` only. They are subjects, as
//! kernels are: references share nothing with them.
//!
//! ```
//! use cuda_gates::host::{self, Operand, Scratch};
//! let (input, mut output) = ([3, 1, 4], [0; 3]);
//! let operands = vec![Operand::I32(&input), Operand::I32Mut(&mut output), Operand::Number(3)];
//! host::call("scan_exclusive", operands, &mut Scratch::default()).unwrap();
//! assert_eq!(output, [0, 3, 4]);
//! ```

mod compact;
mod partition;
mod scan;
mod sort;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use crate::call::Function;

/// What each function takes, in the notation of [`Function::table`].
pub const TABLE: &str = "
scan_exclusive: const i32* input, i32* output, u64 n
compact_without_scan: const i32* input, i32* output, i32* count, u64 n
compact_with_scan: const i32* input, i32* output, i32* count, u64 n
partition_stable: const i32* input, i32* output, i32* count, u64 n
sort_radix: const u32* input, u32* output, u64 n
sort_std: const u32* input, u32* output, u64 n
";

/// The functions there are.
pub fn functions() -> &'static [Function] {
    static FUNCTIONS: OnceLock<Vec<Function>> = OnceLock::new();
    // A test reads the table, which is a constant.
    FUNCTIONS.get_or_init(|| Function::table(TABLE).unwrap_or_default())
}

/// The function of this name.
///
/// # Errors
/// Words that say which there are.
pub fn function(name: &str) -> Result<&'static Function, String> {
    Function::find(functions(), name, "host rung")
}

/// One argument.
#[derive(Debug, PartialEq)]
pub enum Operand<'a> {
    I32(&'a [i32]),
    I32Mut(&'a mut [i32]),
    U32(&'a [u32]),
    U32Mut(&'a mut [u32]),
    Number(u64),
}

/// Memory that a function keeps between calls, so that only its first call pays for it.
#[derive(Debug, Default)]
pub struct Scratch {
    words: Vec<u32>,
    ranks: Vec<i32>,
}

/// Calls a function.
///
/// # Errors
/// No such function, operands that are not what it takes, or an array of fewer elements than it is told.
pub fn call(name: &str, operands: Vec<Operand<'_>>, scratch: &mut Scratch) -> Result<(), String> {
    use Operand::{I32, I32Mut, Number, U32, U32Mut};
    let function = function(name)?;
    let mut arrays = operands;
    let wrong = || format!("`{name}` is called as {function}");
    let Some(Number(n)) = arrays.pop() else {
        return Err(wrong());
    };
    let n = usize::try_from(n).map_err(|_| format!("`{name}`: n is {n}"))?;
    match (name, arrays.as_mut_slice()) {
        ("scan_exclusive", [I32(input), I32Mut(output)]) => {
            scan::exclusive(part(input, n)?, part_mut(output, n)?);
        }
        ("compact_without_scan", [I32(input), I32Mut(output), I32Mut(count)]) => {
            let kept = compact::without_scan(part(input, n)?, output)?;
            part_mut(count, 1)?[0] = kept;
        }
        ("compact_with_scan", [I32(input), I32Mut(output), I32Mut(count)]) => {
            let kept = compact::with_scan(part(input, n)?, output, &mut scratch.ranks)?;
            part_mut(count, 1)?[0] = kept;
        }
        ("partition_stable", [I32(input), I32Mut(output), I32Mut(count)]) => {
            let evens = partition::stable(part(input, n)?, part_mut(output, n)?);
            part_mut(count, 1)?[0] = evens;
        }
        ("sort_radix", [U32(input), U32Mut(output)]) => {
            sort::radix(part(input, n)?, part_mut(output, n)?, &mut scratch.words);
        }
        ("sort_std", [U32(input), U32Mut(output)]) => {
            sort::standard(part(input, n)?, part_mut(output, n)?);
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

/// The first `n` elements.
fn part<T>(array: &[T], n: usize) -> Result<&[T], String> {
    let has = array.len();
    array.get(..n).ok_or_else(|| too_short(has, n))
}

fn part_mut<T>(array: &mut [T], n: usize) -> Result<&mut [T], String> {
    let has = array.len();
    array.get_mut(..n).ok_or_else(|| too_short(has, n))
}

fn too_short(has: usize, n: usize) -> String {
    format!("an array of {has} elements is given where {n} are needed")
}

/// A number of elements as the device's kernels count, which wraps beyond 32 bits.
fn count(elements: usize) -> i32 {
    elements as i32
}
