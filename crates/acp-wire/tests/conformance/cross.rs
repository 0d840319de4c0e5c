//! Round trips across the two implementations, of valid and of damaged instances.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::generate::{Generator, Rng};
use crate::schema::Schema;
use crate::subjects::{self, Subject};

/// Valid instances made for each type.
const INSTANCES: u64 = 8;
/// Damaged copies made of each instance.
const DAMAGED: usize = 4;

/// How one implementation's reading is told from the other's.
struct Report {
    findings: String,
    count: usize,
    valid: usize,
    damaged: usize,
}

impl Report {
    fn find(&mut self, subject: &Subject, what: &str, text: &str, sides: [&dyn std::fmt::Debug; 2]) {
        let [ours, theirs] = sides;
        self.count += 1;
        if self.count <= 20 {
            writeln!(
                self.findings,
                "{} {what}\n  in     {text}\n  ours   {ours:?}\n  theirs {theirs:?}",
                subject.name
            )
            .expect("a string grows");
        }
    }
}

fn run(subjects: &[Subject], schema: &Schema, unstable: &Schema) {
    let mut report = Report { findings: String::new(), count: 0, valid: 0, damaged: 0 };
    for (number, subject) in subjects.iter().enumerate() {
        let schema = if schema.definition(subject.name).is_null() { unstable } else { schema };
        let validator = schema.validator(subject.name);
        for instance in 0..INSTANCES {
            let seed = u64::try_from(number).expect("few types") * 1_000 + instance;
            let mut generator = Generator { schema, rng: Rng::new(seed + 1) };
            let value = generator.instance(subject.name);
            let text = value.to_string();
            if validator.is_valid(&value) {
                report.valid += 1;
                valid(subject, &validator, &text, &value, &mut report);
            }
            for _ in 0..DAMAGED {
                let mut broken = value.clone();
                if damage(&mut broken, &mut generator) {
                    report.damaged += 1;
                    damaged(subject, &broken.to_string(), broken, &mut report);
                }
            }
        }
    }
    println!("{} valid instances, {} damaged", report.valid, report.damaged);
    assert!(report.count == 0, "{} findings, the first:\n{}", report.count, report.findings);
    assert!(report.valid >= 1_000, "only {} valid instances", report.valid);
}

/// A valid instance: both read it, what we write is valid, and nothing gets lost on the way through the other.
fn valid(
    subject: &Subject,
    validator: &jsonschema::Validator,
    text: &str,
    value: &Value,
    report: &mut Report,
) {
    let (ours, theirs) = ((subject.ours)(text), (subject.theirs)(text));
    let (Ok(ours), Ok(theirs)) = (&ours, &theirs) else {
        report.find(subject, "is not read", text, [&ours, &theirs]);
        return;
    };
    if let Err(error) = validator.validate(ours) {
        report.find(subject, "is written invalid", text, [ours, &error.to_string()]);
    }
    let from_value = (subject.ours_from_value)(value.clone());
    if from_value.as_ref() != Ok(ours) {
        report.find(subject, "is read differently from a value", text, [ours, &from_value]);
    }
    // Of an elicitation's unknown mode they rewrite the scope, whereas we keep every member.
    let rewritten = subject.name == "CreateElicitationRequest" && text.contains(r#""toolCallId":null"#);
    let ours_again = if rewritten { Ok(ours.clone()) } else { (subject.ours)(&theirs.to_string()) };
    if ours_again.as_ref() != Ok(ours) {
        report.find(subject, "reads differently when they wrote it", text, [ours, &ours_again]);
    }
    let theirs_again = (subject.theirs)(&ours.to_string());
    if theirs_again.as_ref() != Ok(theirs) {
        report.find(subject, "reads differently when we wrote it", text, [&theirs_again, theirs]);
    }
}

/// A damaged instance: both reject it or both read the same from it.
fn damaged(subject: &Subject, text: &str, value: Value, report: &mut Report) {
    let (ours, theirs) = ((subject.ours)(text), (subject.theirs)(text));
    match (&ours, &theirs) {
        (Err(_), Err(_)) => {}
        (Ok(ours), Ok(theirs)) => {
            let theirs_again = (subject.theirs)(&ours.to_string());
            if theirs_again.as_ref() != Ok(theirs) {
                report.find(subject, "is read differently when damaged", text, [&theirs_again, theirs]);
            }
        }
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => {
            report.find(subject, "is forgiven by one only", text, [&ours, &theirs]);
        }
    }
    let from_value = (subject.ours_from_value)(value);
    if from_value.is_ok() != ours.is_ok() {
        report.find(subject, "is forgiven from text or value only", text, [&ours, &from_value]);
    }
}

/// Members whose damage we read otherwise than the official crate, on purpose.
const DEVIATIONS: &[&str] = &["version", "mcpServers", "info"];
/// Discriminators: the official crate takes a number for the place of the variant in its source, we don't.
const TAGS: &[&str] =
    &["type", "state", "sessionUpdate", "stopReason", "outcome", "action", "mode", "operation"];

/// Replaces or removes something somewhere; false if nothing was done.
fn damage(value: &mut Value, generator: &mut Generator<'_>) -> bool {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = generator.rng.pick(&names).clone();
            if DEVIATIONS.contains(&name.as_str()) {
                return false;
            }
            let member = members.get_mut(&name).expect("a member");
            let nested = matches!(member, Value::Object(_) | Value::Array(_));
            if nested && !generator.rng.one_in(3) {
                return damage(member, generator);
            }
            if generator.rng.one_in(4) {
                members.shift_remove(&name);
                return true;
            }
            // The official crate takes arrays for objects.
            let garbage = generator.any(0);
            let foreign = garbage.is_array() || garbage.is_number() && TAGS.contains(&name.as_str());
            if !foreign {
                *member = garbage;
            }
            !foreign
        }
        Value::Array(items) if !items.is_empty() => {
            let index = generator.rng.below(items.len());
            if generator.rng.one_in(2) {
                return damage(&mut items[index], generator);
            }
            let garbage =
                generator.rng.pick(&[json!(null), json!(17), json!("?"), json!({ "type": "_odd" })]).clone();
            items[index] = garbage;
            true
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => {
            let garbage = generator.any(0);
            let foreign = garbage.is_array();
            if !foreign {
                *value = garbage;
            }
            !foreign
        }
    }
}

#[test]
fn v1_instances_read_and_write_the_same_as_the_official_types() {
    run(&subjects::v1(), &Schema::read("schema-v1.json"), &Schema::read("schema-v1-unstable.json"));
}

#[test]
fn v2_instances_read_and_write_the_same_as_the_official_types() {
    run(&subjects::v2(), &Schema::read("schema-v2.json"), &Schema::read("schema-v2-unstable.json"));
}
