//! A loaded module: its variables placed, its kernels decoded when they are first launched.

use std::collections::HashMap;
use std::rc::Rc;

use super::decode::{Symbols, decode};
use super::memory::{CONST_WINDOW, FUNCTION_WINDOW, GlobalMemory, Region};
use super::program::{Kernel, Space};
use crate::image::ptx::{self, Immediate, Initialiser, Variable};
use crate::outcome::Fault;

/// Constant memory a module may declare.
const MAX_CONST_BYTES: u64 = 64 << 10;

pub struct Module {
    ptx: ptx::Module,
    symbols: Symbols,
    pub constants: Region,
    kernels: HashMap<String, Rc<Kernel>>,
}

impl Module {
    /// Places the module's variables.
    ///
    /// # Errors
    /// `setup` when they do not fit or their initial values cannot be given.
    pub fn load(ptx: ptx::Module, global: &mut GlobalMemory, room: u64) -> Result<Self, Fault> {
        if ptx.address_size != 64 {
            return Err(Fault::setup(
                "the simulated device runs PTX with 64-bit addresses",
            ));
        }
        let sizes = ptx
            .variables
            .iter()
            .filter(|v| v.space == ptx::Space::Global)
            .map(|v| v.bytes);
        if sizes.fold(0, u64::saturating_add) > room {
            return Err(Fault::setup(
                "the module's variables do not fit into the device's memory",
            ));
        }
        let mut module = Self {
            symbols: Symbols::new(),
            constants: Region::default(),
            kernels: HashMap::new(),
            ptx,
        };
        module.place(global)?;
        Ok(module)
    }

    fn place(&mut self, global: &mut GlobalMemory) -> Result<(), Fault> {
        for (number, function) in self.ptx.functions.iter().enumerate() {
            // Declared and defined, a function is there twice.
            let at = FUNCTION_WINDOW + 16 * (number as u64 + 1);
            let name = function.name.clone();
            self.symbols.entry(name).or_insert((Space::Generic, at));
        }
        let mut const_bytes = 0_u64;
        let mut placed = Vec::new();
        for variable in &self.ptx.variables {
            match variable.space {
                ptx::Space::Global if !variable.is_extern => {
                    // A variable without an initial value is zero.
                    let region = Region::initialised(variable.bytes as usize)
                        .map_err(|fault| of_variable(variable, &fault))?;
                    let index = global.add_variable(region, &variable.name);
                    self.symbols.insert(
                        variable.name.clone(),
                        (Space::Global, GlobalMemory::base(index)),
                    );
                    placed.push((variable, Some(index), 0));
                }
                ptx::Space::Const if !variable.is_extern => {
                    let offset = const_bytes.next_multiple_of(u64::from(variable.align.max(1)));
                    const_bytes = offset.saturating_add(variable.bytes);
                    self.symbols
                        .insert(variable.name.clone(), (Space::Const, offset));
                    placed.push((variable, None, offset));
                }
                _ => {}
            }
        }
        if const_bytes > MAX_CONST_BYTES {
            return Err(Fault::setup(format!(
                "{const_bytes} bytes of constant memory; at most {MAX_CONST_BYTES}"
            )));
        }
        self.constants = Region::initialised(const_bytes as usize)?;
        for (variable, index, offset) in placed {
            let bytes = initial(variable, &self.symbols)?;
            let region = match index {
                Some(index) => &mut global.get_mut(index).region,
                None => &mut self.constants,
            };
            region.bytes_mut()[offset as usize..offset as usize + bytes.len()]
                .copy_from_slice(&bytes);
        }
        Ok(())
    }

    /// # Errors
    /// `setup` when there is no such kernel, or it has an instruction that is not known.
    pub fn kernel(&mut self, name: &str) -> Result<Rc<Kernel>, Fault> {
        if let Some(kernel) = self.kernels.get(name) {
            return Ok(Rc::clone(kernel));
        }
        let Some(function) = self.ptx.kernel(name) else {
            return Err(Fault::setup(format!("the module has no kernel {name}")));
        };
        let kernel = Rc::new(decode(&self.ptx, function, &self.symbols)?);
        self.kernels.insert(name.to_owned(), Rc::clone(&kernel));
        Ok(kernel)
    }
}

fn of_variable(variable: &Variable, fault: &Fault) -> Fault {
    let (name, line, why) = (&variable.name, variable.line, &fault.reason.message);
    Fault::setup(format!("PTX line {line}: {name}: {why}"))
}

/// The initial bytes a variable gives.
fn initial(variable: &Variable, symbols: &Symbols) -> Result<Vec<u8>, Fault> {
    let size = variable.ty.bytes() as usize;
    let mut bytes = Vec::new();
    for value in &variable.init {
        let bits = match value {
            Initialiser::Value(Immediate::Int(bits) | Immediate::F64(bits)) => *bits,
            Initialiser::Value(Immediate::F32(bits)) => u64::from(*bits),
            Initialiser::Address {
                symbol,
                offset,
                generic,
            } => {
                let Some(&(space, at)) = symbols.get(symbol) else {
                    let (name, line) = (&variable.name, variable.line);
                    let what = format!(
                        "PTX line {line}: {name} takes the address of {symbol}, which has none"
                    );
                    return Err(Fault::setup(what));
                };
                let window = if *generic && space == Space::Const {
                    CONST_WINDOW
                } else {
                    0
                };
                (window + at).wrapping_add_signed(*offset)
            }
        };
        bytes.extend_from_slice(
            bits.to_le_bytes()
                .get(..size)
                .unwrap_or(&bits.to_le_bytes()),
        );
    }
    bytes.truncate(variable.bytes as usize);
    Ok(bytes)
}
