//! What a library says of itself: a text inside it, which `cg_describe` returns and which can be read out of the file
//! without loading it.
//!
//! ```text
//! cuda-gates native library 1
//! sources <sha256 of all sources>
//! compiler nvcc 13.0.88
//! architectures 75,90
//! <the table of functions>
//! ```

/// Opens the text; the number is the protocol's.
const OPENING: &str = "cuda-gates native library 1\n";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    pub sources_sha256: String,
    /// `nvcc 13.0.88`
    pub compiler: String,
    /// Major and minor, ascending.
    pub architectures: Vec<(u32, u32)>,
}

impl About {
    /// The text, with `table` behind it.
    pub fn text(&self, table: &str) -> String {
        format!(
            "{OPENING}sources {}\ncompiler {}\narchitectures {}\n{table}",
            self.sources_sha256,
            self.compiler,
            self.numbers().join(",")
        )
    }

    /// `75`, `90`
    pub fn numbers(&self) -> Vec<String> {
        let number = |(major, minor): &(u32, u32)| format!("{major}{minor}");
        self.architectures.iter().map(number).collect()
    }

    /// Reads the text that `cg_describe` returns.
    ///
    /// # Errors
    /// Words that follow the library's name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rest = text
            .strip_prefix(OPENING)
            .ok_or("does not describe itself as a native library of this version")?;
        let mut lines = rest.lines();
        let mut field = |name: &str| {
            let value = lines.next().and_then(|line| line.strip_prefix(name));
            let value = value.map(|value| value.trim().to_owned());
            value.ok_or_else(|| format!("does not tell its {}", name.trim()))
        };
        let (sources_sha256, compiler) = (field("sources ")?, field("compiler ")?);
        let numbers = field("architectures ")?;
        let architectures = numbers.split(',').map(|number| {
            let number: u32 = number.parse().ok().filter(|&number| number >= 10)?;
            Some((number / 10, number % 10))
        });
        let architectures = architectures.collect::<Option<_>>();
        Ok(Self {
            sources_sha256,
            compiler,
            architectures: architectures
                .ok_or_else(|| format!("names architectures `{numbers}`"))?,
        })
    }

    /// Finds the text in a library's file.
    ///
    /// # Errors
    /// Words that follow the library's name.
    pub fn find(file: &[u8]) -> Result<Self, String> {
        let opening = OPENING.as_bytes();
        let mut starts = file.windows(opening.len());
        let start = starts.position(|window| window == opening);
        let text = start.and_then(|start| file[start..].split(|byte| *byte == 0).next());
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        Self::parse(text.unwrap_or_default())
    }
}
