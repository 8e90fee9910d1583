//! Which device a run uses, decided without CUDA.

use super::options::DeviceChoice;
use crate::device::Presence;
use crate::outcome::Reason;
use crate::terms::{DeviceKind, ImageKind, Profile, ReasonKind};
use crate::worker::Address;

/// The device of a run, and whether the machine chose it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    pub address: Address,
    /// `auto` found this: the machine shows it.
    pub found: Option<Presence>,
}

impl Chosen {
    /// `auto` takes the first CUDA device where the machine shows any NVIDIA device, working or not: a card with a
    /// broken driver must never be silently replaced by the simulated device.
    pub fn of(choice: &DeviceChoice, presence: impl FnOnce() -> Presence) -> Self {
        match choice {
            DeviceChoice::One(address) => Self {
                address: address.clone(),
                found: None,
            },
            // Cases are planned alike for every card; which there are is asked when the run starts.
            DeviceChoice::All => Self {
                address: Address::Ordinal(0),
                found: None,
            },
            DeviceChoice::Auto => {
                let presence = presence();
                let address = match presence.is_present() {
                    true => Address::Ordinal(0),
                    false => Address::Sim,
                };
                Self {
                    address,
                    found: Some(presence),
                }
            }
        }
    }

    pub fn kind(&self) -> DeviceKind {
        match self.address {
            Address::Sim => DeviceKind::Sim,
            Address::Ordinal(_) | Address::Uuid(_) => DeviceKind::Cuda,
        }
    }

    pub fn default_profile(&self) -> Profile {
        default_profile(self.kind())
    }

    pub fn default_images(&self) -> Vec<ImageKind> {
        default_images(self.kind())
    }

    /// Adds the way out to a reason why the device cannot be opened.
    pub fn explain(&self, mut reason: Reason) -> Reason {
        if reason.kind != ReasonKind::Environment {
            return reason;
        }
        if let Some(found) = self.found.as_ref().filter(|f| f.is_present()) {
            reason.message.push_str(&format!(
                " (this machine shows an NVIDIA device: {found}; CUDA_GATES_DEVICE=sim or --device sim runs on the \
                 simulated device instead)"
            ));
        }
        reason
    }
}

/// Of a run that names none.
pub(super) fn default_profile(kind: DeviceKind) -> Profile {
    match kind {
        DeviceKind::Cuda => Profile::Full,
        DeviceKind::Sim => Profile::Quick,
    }
}

/// Of a run that names none.
pub(super) fn default_images(kind: DeviceKind) -> Vec<ImageKind> {
    match kind {
        DeviceKind::Cuda => vec![ImageKind::Sass, ImageKind::Jit],
        DeviceKind::Sim => vec![ImageKind::Jit],
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::device::presence;

    #[test]
    fn auto_takes_the_simulated_device_only_where_there_is_no_card_at_all() {
        let none = Chosen::of(&DeviceChoice::Auto, Presence::default);
        assert_eq!(none.address, Address::Sim);
        assert_eq!(none.kind(), DeviceKind::Sim);
        assert_eq!(none.default_profile(), Profile::Quick);
        assert_eq!(none.default_images(), [ImageKind::Jit]);
    }

    #[test]
    fn a_card_without_a_driver_never_falls_back() {
        let sysfs = tempfile::tempdir().unwrap();
        let card = sysfs.path().join("bus/pci/devices/0000:01:00.0");
        fs::create_dir_all(&card).unwrap();
        fs::write(card.join("vendor"), "0x10de\n").unwrap();
        fs::write(card.join("class"), "0x030000\n").unwrap();
        let found = || presence(sysfs.path(), Path::new("/nowhere"));

        let chosen = Chosen::of(&DeviceChoice::Auto, found);
        assert_eq!(chosen.address, Address::Ordinal(0));
        assert_eq!(chosen.default_profile(), Profile::Full);
        assert_eq!(chosen.default_images(), [ImageKind::Sass, ImageKind::Jit]);
        let reason = Reason::new(ReasonKind::Environment, "libcuda.so.1 not found");
        let told = chosen.explain(reason).message;
        for word in [
            "libcuda.so.1 not found",
            "0000:01:00.0",
            "CUDA_GATES_DEVICE=sim",
        ] {
            assert!(told.contains(word), "{told}");
        }
    }

    #[test]
    fn a_named_device_is_taken_as_named_and_needs_no_way_out() {
        let ask = || panic!("presence is not asked for");
        let choice = DeviceChoice::One(Address::Ordinal(0));
        let chosen = Chosen::of(&choice, ask);
        assert_eq!(chosen.address, Address::Ordinal(0));
        let reason = Reason::new(ReasonKind::Environment, "no driver");
        assert_eq!(chosen.explain(reason.clone()), reason);
        let sim = Chosen::of(&DeviceChoice::One(Address::Sim), ask);
        assert_eq!(sim.kind(), DeviceKind::Sim);
    }

    #[test]
    fn other_reasons_stay_as_they_are() {
        let presence = || Presence {
            pci: vec!["0000:01:00.0".into()],
            dxg: false,
        };
        let chosen = Chosen::of(&DeviceChoice::Auto, presence);
        let reason = Reason::new(ReasonKind::Setup, "no PTX");
        assert_eq!(chosen.explain(reason.clone()), reason);
    }
}
