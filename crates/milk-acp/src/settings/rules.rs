//! The rules about calls, from their texts under `permissions`.

use std::path::Path;

use agent_runtime::rules::{BadRule, Rule, Rules};

use super::view::PermissionSettings;
use super::warning::Warning;

/// Reads the rules; `home` is what `~` stands for. What cannot be read is remarked on. One that restricts then holds
/// for all calls of its tool, so that a slip of the pen opens nothing.
pub(super) fn rules(settings: &PermissionSettings, home: Option<&Path>) -> (Rules, Vec<Warning>) {
    let mut warnings = Vec::new();
    let mut read = |list: &str, texts: &[String], restricts: bool| {
        let mut rules = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            match Rule::parse(text, home) {
                Ok(rule) => rules.push(rule),
                Err(error) => {
                    let instead = Rule::whole_tool(text).filter(|_| restricts);
                    warnings.push(remark(list, index, &error, instead.as_ref()));
                    rules.extend(instead);
                }
            }
        }
        rules
    };
    let deny = read("deny", &settings.deny, true);
    let ask = read("ask", &settings.ask, true);
    let allow = read("allow", &settings.allow, false);
    (Rules::new(deny, ask, allow, home.map(Path::to_owned)), warnings)
}

fn remark(list: &str, index: usize, error: &BadRule, instead: Option<&Rule>) -> Warning {
    let consequence = match instead {
        Some(rule) => format!("it holds for every call of `{rule}` until it is corrected"),
        None => "it is ignored".to_owned(),
    };
    let message = format!("is no rule: {}; {consequence}", error.reason);
    Warning { file: None, key: format!("permissions.{list}[{index}]"), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_cannot_be_read_restricts_more_and_allows_nothing() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let settings = PermissionSettings {
            deny: texts(&["read([)", "(?"]),
            ask: texts(&["bash(git push *)"]),
            allow: texts(&["edit([)", "bash(ls"]),
        };
        let (found, warnings) = rules(&settings, None);
        let rule = |text: &str| vec![Rule::parse(text, None).unwrap()];
        assert_eq!(found, Rules::new(rule("read"), rule("bash(git push *)"), Vec::new(), None));
        let warnings: Vec<_> =
            warnings.iter().map(|warning| (warning.key.as_str(), warning.message.as_str())).collect();
        assert_eq!(
            warnings.iter().map(|(key, _)| *key).collect::<Vec<_>>(),
            ["permissions.deny[0]", "permissions.deny[1]", "permissions.allow[0]", "permissions.allow[1]"]
        );
        assert!(
            warnings[0].1.ends_with("it holds for every call of `read` until it is corrected"),
            "{warnings:?}"
        );
        assert_eq!(warnings[3].1, "is no rule: its `(` is not closed; it is ignored");
    }
}
