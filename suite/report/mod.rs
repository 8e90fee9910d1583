//! The record of a run and how it is shown. May import `outcome`, `device` (info), `image` (kinds) and `case` (ids).
pub mod record;
