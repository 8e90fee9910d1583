//! `devices`: what a run could use.

use std::path::Path;

use serde_json::json;

use super::args::Format;
use super::output::{self, Answer, Outcome};
use super::table::columns;
use crate::device::{self, DeviceInfo, Presence};
use crate::outcome::Fault;
use crate::worker::enumerate_devices;

/// A process of its own asks the driver, which may end it or hold it up.
pub(super) fn devices(format: Format) -> Outcome {
    let presence = device::presence(Path::new("/sys"), Path::new("/dev"));
    Ok(show(enumerate_devices(), &presence, format))
}

fn show(cards: Result<Vec<DeviceInfo>, Fault>, presence: &Presence, format: Format) -> Answer {
    let (cards, unavailable) = match cards {
        Ok(cards) => (cards, None),
        Err(fault) => (Vec::new(), Some(fault.reason)),
    };
    match format {
        Format::Json => output::json(&json!({
            "schema": "cuda-gates.devices/1.0",
            "cuda": cards,
            "cuda_unavailable": unavailable,
            "presence": {"pci": presence.pci, "dxg": presence.dxg},
            "sim": true,
        })),
        Format::Text => {
            let rows = cards
                .iter()
                .enumerate()
                .map(|(index, card)| row(index, card));
            let sim = ["sim", "simulated device", "7.5"]
                .map(str::to_owned)
                .to_vec();
            let mut text = columns(
                &["device", "name", "cc", "memory", "uuid"],
                rows.chain(std::iter::once(sim)),
            );
            if let Some(reason) = unavailable {
                text.push_str(&format!("no CUDA device: {}\n", reason.message));
                if presence.is_present() {
                    text.push_str(&format!(
                        "yet this machine shows an NVIDIA device: {presence}\n"
                    ));
                }
            }
            Answer::from(text)
        }
    }
}

fn row(index: usize, card: &DeviceInfo) -> Vec<String> {
    let (major, minor) = card.compute_capability;
    vec![
        format!("cuda:{index}"),
        card.name.clone(),
        format!("{major}.{minor}"),
        format!("{} MiB", card.total_memory_bytes >> 20),
        card.uuid.clone().unwrap_or_default(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::DeviceKind;

    fn card() -> DeviceInfo {
        DeviceInfo {
            kind: DeviceKind::Cuda,
            name: "NVIDIA H200".to_owned(),
            uuid: Some("GPU-1".to_owned()),
            compute_capability: (9, 0),
            cuda_driver_version: Some(13000),
            total_memory_bytes: 1 << 30,
            l2_bytes: 1 << 20,
        }
    }

    #[test]
    fn cards_stand_in_cudas_order_and_the_simulator_after_them() {
        let text = show(Ok(vec![card(), card()]), &Presence::default(), Format::Text).text;
        let words: Vec<&str> = text
            .lines()
            .filter_map(|l| l.split_whitespace().next())
            .collect();
        assert_eq!(words, ["device", "cuda:0", "cuda:1", "sim"]);
        assert!(
            text.contains("NVIDIA H200       9.0  1024 MiB  GPU-1"),
            "{text}"
        );
    }

    #[test]
    fn a_card_without_a_driver_is_told_apart_from_no_card() {
        let fault = || Err(Fault::environment("libcuda.so.1 is not there"));
        let none = show(fault(), &Presence::default(), Format::Text).text;
        assert!(
            none.contains("libcuda.so.1") && !none.contains("yet"),
            "{none}"
        );
        let found = Presence {
            pci: vec!["0000:01:00.0".to_owned()],
            dxg: false,
        };
        let text = show(fault(), &found, Format::Text).text;
        assert!(text.contains("0000:01:00.0"), "{text}");
        let json = show(fault(), &found, Format::Json).text;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["cuda_unavailable"]["kind"], "environment");
        assert_eq!(json["presence"]["pci"][0], "0000:01:00.0");
    }
}
