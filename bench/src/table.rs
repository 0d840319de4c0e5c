//! Medians and ratios as a Markdown table.

use std::fmt::Write as _;

/// All runs of all agents.
pub struct Table {
    rows: &'static [&'static str],
    columns: Vec<(String, Vec<Vec<f64>>)>,
}

impl Table {
    pub fn new(rows: &'static [&'static str]) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// One run's values, in the order of the rows.
    pub fn add(&mut self, name: &str, values: Vec<f64>) {
        match self.columns.iter_mut().find(|(column, _)| column == name) {
            Some((_, runs)) => runs.push(values),
            None => self.columns.push((name.to_owned(), vec![values])),
        }
    }

    /// The table: each cell the median, and behind it how many times the floor's median it is.
    pub fn render(&self, floor: &str, sizes: &[(String, f64)]) -> String {
        let mut out = String::from("| what |");
        for (name, _) in &self.columns {
            let _ = write!(out, " {name} |");
        }
        out.push_str("\n|---|");
        out.push_str(&"--:|".repeat(self.columns.len()));
        let base = self.columns.iter().find(|(name, _)| name == floor);
        for (row, what) in self.rows.iter().enumerate() {
            let _ = write!(out, "\n| {what} |");
            let floor = base.map_or(f64::NAN, |(_, runs)| median(runs, row));
            for (_, runs) in &self.columns {
                let value = median(runs, row);
                if value.is_nan() {
                    out.push_str(" – |");
                } else {
                    let _ = write!(out, " {} ({:.1}x) |", shown(value), value / floor);
                }
            }
        }
        let _ = write!(out, "\n| program, MiB |");
        for (_, size) in sizes {
            let _ = write!(out, " {} |", shown(*size));
        }
        let runs = base.map_or(0, |(_, runs)| runs.len());
        let _ = write!(out, "\n\nMedians of {runs} fresh processes each; in brackets, times the floor.");
        out
    }
}

fn median(runs: &[Vec<f64>], row: usize) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(|run| run[row]).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn shown(value: f64) -> String {
    if value < 10.0 { format!("{value:.2}") } else { format!("{value:.0}") }
}
