//! What is wrong with a configuration without making it unusable.

use std::fmt;
use std::path::PathBuf;

/// One remark on the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The file it is about, where it is about one.
    pub file: Option<PathBuf>,
    /// The member, dotted (`agents[1].url`); empty when it is about the file.
    pub key: String,
    /// What is wrong, and what is done or to be done about it. Holds no value of the file.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}` ", self.key)?;
        }
        f.write_str(&self.message)
    }
}
