//! What the doctor found, as text and as JSON.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::output::{Style, harmless};

/// How a finding is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// It works.
    Good,
    /// Good to know.
    Note,
    /// Works, but not as it might.
    Warn,
    /// Does not work.
    Bad,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Note => "note",
            Self::Warn => "warning",
            Self::Bad => "problem",
        }
    }
}

/// One thing found.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    level: Level,
    subject: String,
    detail: String,
}

/// Everything found, by section.
#[derive(Debug, Default)]
pub(super) struct Report {
    sections: Vec<(String, Vec<Finding>)>,
}

impl Report {
    /// Begins a section; what is found from now on belongs to it.
    pub(super) fn section(&mut self, name: &str) {
        self.sections.push((name.to_owned(), Vec::new()));
    }

    /// Adds a finding to the section begun last.
    pub(super) fn find(&mut self, level: Level, subject: &str, detail: &str) {
        let finding = Finding { level, subject: subject.to_owned(), detail: detail.to_owned() };
        if let Some((_, findings)) = self.sections.last_mut() {
            findings.push(finding);
        }
    }

    /// How many findings of a level there are.
    pub(super) fn count(&self, level: Level) -> usize {
        self.sections.iter().flat_map(|(_, findings)| findings).filter(|f| f.level == level).count()
    }

    /// For people: a mark, what it is about, what was found.
    pub(super) fn text(&self, style: Style) -> String {
        let mut out = format!("milk {}\n", env!("CARGO_PKG_VERSION"));
        for (name, findings) in &self.sections {
            let _ = writeln!(out, "\n{}", style.bold(name));
            for finding in findings {
                let mark = match finding.level {
                    Level::Good => style.green("✓"),
                    Level::Note => style.dim("·"),
                    Level::Warn => style.yellow("!"),
                    Level::Bad => style.red("✗"),
                };
                let detail = harmless(&finding.detail).lines().collect::<Vec<_>>().join("\n      ");
                let _ = writeln!(out, "  {mark} {}: {detail}", harmless(&finding.subject));
            }
        }
        out
    }

    /// For programs.
    pub(super) fn json(&self) -> Value {
        let mut sections = Map::new();
        for (name, findings) in &self.sections {
            let rows = findings.iter().map(|finding| {
                json!({"level": finding.level.name(), "subject": finding.subject, "detail": finding.detail})
            });
            sections.insert(name.clone(), rows.collect());
        }
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "ok": self.count(Level::Bad) == 0,
            "problems": self.count(Level::Bad),
            "warnings": self.count(Level::Warn),
            "sections": sections,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_says_the_same_to_people_and_programs() {
        let mut report = Report::default();
        report.section("data");
        report.find(Level::Good, "folder", "/m can be written");
        report.find(Level::Bad, "sessions", "broken\nmove it away");
        report.section("agents");
        report.find(Level::Warn, "a", "no tools");
        assert_eq!(
            report.text(Style::PLAIN),
            format!(
                "milk {}\n\ndata\n  ✓ folder: /m can be written\n  ✗ sessions: broken\n      move it away\n\n\
                 agents\n  ! a: no tools\n",
                env!("CARGO_PKG_VERSION")
            )
        );
        assert_eq!(
            report.json(),
            json!({
                "version": env!("CARGO_PKG_VERSION"), "ok": false, "problems": 1, "warnings": 1,
                "sections": {
                    "data": [
                        {"level": "ok", "subject": "folder", "detail": "/m can be written"},
                        {"level": "problem", "subject": "sessions", "detail": "broken\nmove it away"},
                    ],
                    "agents": [{"level": "warning", "subject": "a", "detail": "no tools"}],
                },
            })
        );
    }
}
