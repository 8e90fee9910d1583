//! Typed host data: the element types of kernels' arrays, and arrays of them.
//!
//! Owns: the mapping between a YAML type name, its size, its Rust type and its bytes (little endian, as on the
//! device). Imports nothing of this crate.
//!
//! ```
//! use cuda_gates::value::{Array, ArrayRef, ElementType};
//! let a = Array::I32(vec![1, -1]);
//! assert_eq!(a.as_bytes().len(), 2 * ElementType::I32.size());
//! assert_eq!(ArrayRef::from_bytes(ElementType::I32, a.as_bytes()).unwrap().get(1).to_string(), "-1");
//! ```

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Calls `$action!(Variant, rust type, "name")` once per element type.
macro_rules! element_types {
    ($action:ident) => {
        $action! {
            (I8, i8, "i8"), (U8, u8, "u8"), (I16, i16, "i16"), (U16, u16, "u16"), (I32, i32, "i32"),
            (U32, u32, "u32"), (I64, i64, "i64"), (U64, u64, "u64"), (F32, f32, "f32"), (F64, f64, "f64")
        }
    };
}

macro_rules! define {
    ($(($variant:ident, $rust:ty, $name:literal)),*) => {
        /// The type of an array's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "lowercase")]
        pub enum ElementType { $($variant),* }

        impl ElementType {
            pub const ALL: [ElementType; 10] = [$(ElementType::$variant),*];

            /// Bytes of one element.
            pub const fn size(self) -> usize {
                match self { $(ElementType::$variant => size_of::<$rust>()),* }
            }

            /// The name used in YAML and reports.
            pub const fn name(self) -> &'static str {
                match self { $(ElementType::$variant => $name),* }
            }

            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(ElementType::$variant),)* _ => None }
            }
        }

        /// An owned array of one element type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Array { $($variant(Vec<$rust>)),* }

        impl Array {
            /// `len` zeros.
            pub fn zeros(element: ElementType, len: usize) -> Self {
                match element { $(ElementType::$variant => Array::$variant(vec![Default::default(); len])),* }
            }

            pub fn element_type(&self) -> ElementType {
                match self { $(Array::$variant(_) => ElementType::$variant),* }
            }

            /// Elements, not bytes.
            pub fn len(&self) -> usize {
                match self { $(Array::$variant(v) => v.len()),* }
            }

            pub fn as_bytes(&self) -> &[u8] {
                match self { $(Array::$variant(v) => bytemuck::cast_slice(v)),* }
            }

            pub fn view(&self) -> ArrayRef<'_> {
                match self { $(Array::$variant(v) => ArrayRef::$variant(v)),* }
            }

            /// Copies `bytes`, whose length must be a multiple of the element size (the rest is dropped).
            pub fn from_bytes(element: ElementType, bytes: &[u8]) -> Self {
                match element {
                    $(ElementType::$variant => Array::$variant(
                        bytes.chunks_exact(size_of::<$rust>()).map(bytemuck::pod_read_unaligned).collect(),
                    )),*
                }
            }
        }

        /// A borrowed array of one element type: what a check sees.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum ArrayRef<'a> { $($variant(&'a [$rust])),* }

        impl<'a> ArrayRef<'a> {
            /// Views `bytes` without copying.
            ///
            /// # Errors
            /// When the bytes are not aligned for the element, or not a whole number of elements.
            pub fn from_bytes(element: ElementType, bytes: &'a [u8]) -> Result<Self, bytemuck::PodCastError> {
                Ok(match element {
                    $(ElementType::$variant => ArrayRef::$variant(bytemuck::try_cast_slice(bytes)?)),*
                })
            }

            pub fn element_type(self) -> ElementType {
                match self { $(ArrayRef::$variant(_) => ElementType::$variant),* }
            }

            pub fn len(self) -> usize {
                match self { $(ArrayRef::$variant(v) => v.len()),* }
            }

            pub fn as_bytes(self) -> &'a [u8] {
                match self { $(ArrayRef::$variant(v) => bytemuck::cast_slice(v)),* }
            }

            /// Element `index`; panics past the end, as a slice does.
            pub fn get(self, index: usize) -> Scalar {
                match self { $(ArrayRef::$variant(v) => v[index].into()),* }
            }

            /// Elements `from..to`; panics out of range, as a slice does.
            pub fn slice(self, from: usize, to: usize) -> Self {
                match self { $(ArrayRef::$variant(v) => ArrayRef::$variant(&v[from..to])),* }
            }
        }
    };
}

element_types!(define);

impl ElementType {
    pub const fn is_float(self) -> bool {
        matches!(self, ElementType::F32 | ElementType::F64)
    }
}

impl Array {
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl ArrayRef<'_> {
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

/// One number, wide enough for every element type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Int(i128),
    Float(f64),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Int(v) => write!(f, "{v}"),
            Scalar::Float(v) => write!(f, "{v:?}"),
        }
    }
}

macro_rules! scalar_from {
    ($variant:ident($wide:ty): $($rust:ty),*) => {
        $(impl From<$rust> for Scalar {
            fn from(value: $rust) -> Self {
                Scalar::$variant(<$wide>::from(value))
            }
        })*
    };
}
scalar_from!(Int(i128): i8, u8, i16, u16, i32, u32, i64, u64);
scalar_from!(Float(f64): f32, f64);

/// Every byte of every buffer before a checked run. An element that still holds it was not written.
pub const POISON_BYTE: u8 = 0xDB;

/// The same before a run that gives another gate's wanted value: two runs that write nothing must not agree.
pub const WANTED_POISON_BYTE: u8 = 0xA4;
