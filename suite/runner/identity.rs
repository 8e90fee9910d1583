use crate::report::record::Field;
use std::collections::BTreeMap;
#[derive(Default)]
pub struct Identity {
    pub driver_version: Option<String>,
    pub fields: BTreeMap<String, Field>,
    pub live: BTreeMap<String, Field>,
}
pub fn read(_uuid: Option<&str>) -> Identity {
    Identity::default()
}
