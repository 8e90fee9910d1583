//! Loads and stores.

use super::super::lanes::Class;
use super::super::program::{Access, Address, Kind, Scope, Semantics, Space};
use super::data::space_named;
use super::rows::generic;
use super::{Decoder, Wrong, exactly, unknown};
use crate::image::ptx::{AddressBase, Operand, Type, TypeClass};

/// What the modifiers of an access say. Cache operators are accepted: in one simulated order of all accesses each of
/// them holds.
pub(super) struct Modifiers<'a> {
    pub space: Space,
    pub vector: usize,
    pub ty: Type,
    /// Whether it asks for what others may have written meanwhile.
    pub strong: bool,
    pub semantics: Semantics,
    /// What is none of these: an atomic's operation.
    pub rest: Vec<&'a str>,
}

pub(super) fn modifiers<'a>(all: &[&'a str]) -> Result<Modifiers<'a>, Wrong> {
    let mut found = Modifiers {
        space: Space::Generic,
        vector: 1,
        ty: Type {
            class: TypeClass::Bits,
            bits: 0,
        },
        strong: false,
        semantics: semantics(all),
        rest: Vec::new(),
    };
    for &modifier in all {
        match modifier {
            "v2" => found.vector = 2,
            "v4" => found.vector = 4,
            "volatile" | "relaxed" | "acquire" | "cg" | "cv" => found.strong = true,
            "weak" | "release" | "acq_rel" | "cta" | "gpu" | "sys" | "cluster" | "ca" | "cs"
            | "lu" | "wb" | "wt" | "nc" => {}
            _ if modifier.starts_with("L1::") || modifier.starts_with("L2::") => {}
            _ => {
                if let Some(space) = space_named(modifier) {
                    found.space = space;
                } else if let Some(ty) =
                    Type::from_name(modifier).filter(|t| t.class != TypeClass::Predicate)
                {
                    found.ty = ty;
                } else {
                    found.rest.push(modifier);
                }
            }
        }
    }
    if matches!(found.ty.bits, 8 | 16 | 32 | 64) {
        Ok(found)
    } else {
        Err(unknown())
    }
}

/// Ordering and scope. `.volatile` is `.relaxed` with the scope of the system, as the PTX ISA says.
fn semantics(all: &[&str]) -> Semantics {
    let has = |name: &str| all.contains(&name);
    let acquire = has("acquire") || has("acq_rel");
    let release = has("release") || has("acq_rel");
    let scope = if has("volatile") {
        Scope::Device
    } else if acquire || release || has("relaxed") {
        named_scope(all)
    } else {
        Scope::Weak
    };
    Semantics {
        scope,
        acquire,
        release,
        nc: has("nc"),
    }
}

/// The scope that modifiers name, the device's if none. A cluster is one block on this device.
pub(super) fn named_scope(all: &[&str]) -> Scope {
    if all.iter().any(|&name| matches!(name, "cta" | "cluster")) {
        Scope::Block
    } else {
        Scope::Device
    }
}

impl Decoder<'_> {
    pub(super) fn load(&mut self, all: &[&str], operands: &[Operand]) -> Result<Kind, Wrong> {
        let found = modifiers(all)?;
        let [data, address] = exactly(operands)?;
        let address = self.address(address, found.space)?;
        let access = self.access(&found, data, address, false)?;
        if let (Space::Param, Some(offset)) = (found.space, self.fixed(operands)) {
            return Ok(Kind::Param { access, offset });
        }
        Ok(if found.strong {
            Kind::Poll(access)
        } else {
            Kind::Load(access)
        })
    }

    pub(super) fn store(&mut self, all: &[&str], operands: &[Operand]) -> Result<Kind, Wrong> {
        let found = modifiers(all)?;
        let [address, data] = exactly(operands)?;
        let address = self.address(address, found.space)?;
        Ok(Kind::Store(self.access(&found, data, address, true)?))
    }

    fn access(
        &mut self,
        found: &Modifiers<'_>,
        data: &Operand,
        address: Address,
        store: bool,
    ) -> Result<Access, Wrong> {
        if !found.rest.is_empty() {
            return Err(unknown());
        }
        let single;
        let elements = match data {
            Operand::Vector(elements) if elements.len() == found.vector => &elements[..],
            other if found.vector == 1 => {
                single = [other.clone()];
                &single[..]
            }
            _ => return Err(format!("wants a vector of {}", found.vector)),
        };
        let class = elements
            .iter()
            .find(|e| **e != Operand::Sink)
            .unwrap_or(&elements[0]);
        let class = self.rows.class_of_operand(class, found.ty)?;
        if class == Class::Predicate || (class == Class::Narrow && found.ty.bits == 64) {
            return Err("the data register is too small".to_owned());
        }
        let rows = self.each(elements, |this, element| {
            if store {
                this.rows.source(element, class)
            } else {
                this.rows.destination(element, class)
            }
        })?;
        Ok(Access {
            semantics: found.semantics,
            address,
            bytes: found.ty.bytes() as u8,
            count: found.vector as u8,
            signed: found.ty.class == TypeClass::Signed,
            wide: class == Class::Wide,
            rows,
        })
    }

    /// `[base+offset]`; a variable must lie in the instruction's space.
    pub(super) fn address(&mut self, operand: &Operand, space: Space) -> Result<Address, Wrong> {
        let Operand::Address { base, offset } = operand else {
            return Err("wants an address".to_owned());
        };
        let AddressBase::Name(name) = base else {
            let base = self.rows.wide(offset.cast_unsigned())?;
            return Ok(Address {
                space,
                base,
                wide: true,
                offset: 0,
            });
        };
        if let Some(ty) = self.rows.register_type(name) {
            let wide = ty.bits == 64;
            let class = if wide { Class::Wide } else { Class::Narrow };
            let base = self.rows.source(&Operand::Name(name.clone()), class)?;
            return Ok(Address {
                space,
                base,
                wide,
                offset: *offset,
            });
        }
        let (found, at) = self
            .rows
            .symbol(name)
            .ok_or_else(|| format!("{name} is not declared"))?;
        let at = match space {
            Space::Generic => generic(found, at),
            _ if space == found => at,
            // What a call passes.
            Space::Param if found == Space::Local => at,
            _ => return Err(format!("{name} lies in another state space")),
        };
        let space = if space == Space::Param { found } else { space };
        let base = self.rows.wide(at.wrapping_add_signed(*offset))?;
        Ok(Address {
            space,
            base,
            wide: true,
            offset: 0,
        })
    }

    /// The offset of a parameter named directly.
    fn fixed(&self, operands: &[Operand]) -> Option<u32> {
        let [
            _,
            Operand::Address {
                base: AddressBase::Name(name),
                offset,
            },
        ] = operands
        else {
            return None;
        };
        if self.rows.register_type(name).is_some() {
            return None;
        }
        let (_, at) = self
            .rows
            .symbol(name)
            .filter(|&(space, _)| space == Space::Param)?;
        u32::try_from(at.checked_add_signed(*offset)?).ok()
    }
}
