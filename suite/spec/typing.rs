//! The types of plain scalars, as `serde_yaml` reads them. The only place that names it.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};

use super::log::Log;
use super::model::Place;
use super::tree::{Content, Tree, Typed};

/// None where the reader refuses the text, which is then in the log.
pub(super) fn assign(tree: &mut Tree, text: &str, tabs: bool, log: &Log<'_>) -> Option<()> {
    match serde_yaml::from_str::<Typing>(text) {
        Ok(typing) => {
            set_types(tree, &typing, log);
            Some(())
        }
        Err(_) if tabs => None,
        Err(error) => {
            let place = error.location().map_or(tree.place, |at| Place {
                line: at.line(),
                column: at.column(),
            });
            log.add(place, format!("not YAML: {error}"));
            None
        }
    }
}

/// Gives each scalar the type that `serde_yaml` reads.
fn set_types(tree: &mut Tree, typing: &Typing, log: &Log<'_>) {
    match (&mut tree.content, typing) {
        (Content::Refused, _) => {}
        (Content::Scalar(scalar), Typing::Scalar(typed)) if scalar.plain => scalar.typed = *typed,
        (Content::Scalar(_), Typing::Scalar(_)) => {}
        (content, Typing::Tagged(inner)) => {
            let content = std::mem::replace(content, Content::Refused);
            let mut untagged = Tree {
                place: tree.place,
                content,
            };
            set_types(&mut untagged, inner, log);
            *tree = untagged;
        }
        (Content::Sequence(items), Typing::Sequence(types)) if items.len() == types.len() => {
            for (item, typing) in items.iter_mut().zip(types) {
                set_types(item, typing, log);
            }
        }
        (Content::Mapping(entries), Typing::Mapping(types)) if entries.len() == types.len() => {
            for (entry, typing) in entries.iter_mut().zip(types) {
                set_types(&mut entry.value, typing, log);
            }
        }
        _ => log.mend(
            tree.place,
            "YAML readers disagree about what this means",
            "put text in quotes and write the structure out",
        ),
    }
}

/// What `serde_yaml` reads: unlike its own value type, it keeps both of two equal keys.
enum Typing {
    Scalar(Typed),
    Sequence(Vec<Typing>),
    Mapping(Vec<Typing>),
    Tagged(Box<Typing>),
}

impl<'de> Deserialize<'de> for Typing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TypingVisitor)
    }
}

struct TypingVisitor;

macro_rules! visit_scalars {
    ($($name:ident($rust:ty) $bound:pat => $typed:expr;)*) => {
        $(fn $name<E>(self, $bound: $rust) -> Result<Typing, E> { Ok(Typing::Scalar($typed)) })*
    };
}

impl<'de> Visitor<'de> for TypingVisitor {
    type Value = Typing;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    visit_scalars! {
        visit_bool(bool) _ => Typed::Bool;
        visit_i64(i64) v => Typed::Int(v.into());
        visit_u64(u64) v => Typed::Int(v.into());
        visit_i128(i128) v => Typed::Int(v);
        visit_u128(u128) v => Typed::Int(i128::try_from(v).unwrap_or(i128::MAX));
        visit_f64(f64) v => Typed::Float(v);
        visit_str(&str) _ => Typed::Text;
    }

    fn visit_unit<E>(self) -> Result<Typing, E> {
        Ok(Typing::Scalar(Typed::Null))
    }

    fn visit_none<E>(self) -> Result<Typing, E> {
        Ok(Typing::Scalar(Typed::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Typing, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Typing::Sequence(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Typing, A::Error> {
        let mut values = Vec::new();
        while let Some((_, value)) = access.next_entry::<Typing, Typing>()? {
            values.push(value);
        }
        Ok(Typing::Mapping(values))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Typing, A::Error> {
        let (_, variant) = access.variant::<String>()?;
        Ok(Typing::Tagged(Box::new(variant.newtype_variant()?)))
    }
}
