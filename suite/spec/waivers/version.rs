//! Driver versions and ranges of them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A driver's version: numbers between points, as `580.159.04`.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    parts: Vec<u64>,
}

impl Version {
    /// No version is below it.
    pub(super) fn lowest() -> Self {
        Self {
            text: "0".to_owned(),
            parts: vec![0],
        }
    }
}

impl FromStr for Version {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let number = |part: &str| digits(part).then(|| part.parse().ok()).flatten();
        let parts: Option<Vec<u64>> = text.split('.').map(number).collect();
        let parts = parts.ok_or(())?;
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Number by number; what is not written is 0.
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let parts = self.parts.len().max(other.parts.len());
        let part = |version: &Self, at: usize| version.parts.get(at).copied().unwrap_or(0);
        (0..parts)
            .map(|at| part(self, at).cmp(&part(other, at)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Version {}

/// Which drivers a waiver is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drivers {
    /// Any, and none at all.
    Any,
    Exactly(Version),
    /// From the first on, and before the second; at least one of them is there.
    Range {
        from: Option<Version>,
        below: Option<Version>,
    },
}

impl Drivers {
    /// Whether a driver of this version is among them. One whose version is not known is in no range.
    pub fn contain(&self, driver: Option<&str>) -> bool {
        if *self == Drivers::Any {
            return true;
        }
        let Some(version) = driver.and_then(|text| Version::from_str(text).ok()) else {
            return false;
        };
        match self {
            Drivers::Any => true,
            Drivers::Exactly(wanted) => version == *wanted,
            Drivers::Range { from, below } => {
                from.as_ref().is_none_or(|from| version >= *from)
                    && below.as_ref().is_none_or(|below| version < *below)
            }
        }
    }
}

impl fmt::Display for Drivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drivers::Any => f.write_str("any"),
            Drivers::Exactly(version) => write!(f, "{version}"),
            Drivers::Range { from, below } => {
                let from = from.as_ref().map(|version| format!("from {version}"));
                let below = below.as_ref().map(|version| format!("below {version}"));
                let both: Vec<String> = from.into_iter().chain(below).collect();
                f.write_str(&both.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Option<Version> {
        text.parse().ok()
    }

    #[test]
    fn versions_order_by_number() {
        let ordered = ["535", "570.26", "570.124.06", "580.65.06", "580.159.04"];
        let versions: Vec<Version> = ordered.iter().filter_map(|text| version(text)).collect();
        assert_eq!(versions.len(), ordered.len());
        assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
        assert_eq!(version("580"), version("580.0.00"));
        for wrong in [
            "",
            "580.",
            ".580",
            "580-1",
            "r580",
            "+5",
            "580.99999999999999999999",
        ] {
            assert_eq!(version(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_range_takes_its_first_and_not_its_last() {
        let range = Drivers::Range {
            from: version("570.26"),
            below: version("580.65.06"),
        };
        let table = [
            ("570.25.99", false),
            ("570.26", true),
            ("580.65.05", true),
            ("580.65.06", false),
            ("unknown", false),
        ];
        for (driver, want) in table {
            assert_eq!(range.contain(Some(driver)), want, "{driver}");
        }
        assert!(!range.contain(None));
        assert!(Drivers::Any.contain(None));
        assert_eq!(range.to_string(), "from 570.26, below 580.65.06");
        let exactly = Drivers::Exactly(version("580.159.04").unwrap());
        assert!(exactly.contain(Some("580.159.04")));
        assert!(!exactly.contain(Some("580.159.03")));
    }
}
