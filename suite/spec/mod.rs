//! YAML → validated suite. The only place that names `serde_yaml`, `saphyr-parser` and `miette`'s source spans.
pub mod model;
