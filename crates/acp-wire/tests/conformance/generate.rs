//! Instances of a JSON Schema, made up deterministically: every union branch, absent and null members, unknown
//! discriminators, unknown members, shuffled members.

use serde_json::{Map, Value, json};

use crate::schema::Schema;

/// A small deterministic random number generator (xorshift64*).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).expect("a small number");
        usize::try_from((self.next() >> 16) % bound).expect("a small number")
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// Deeper than this, optional members are left out.
const MAX_DEPTH: usize = 7;

const TEXTS: &[&str] = &[
    "a",
    "sess_1",
    "/home/me/project",
    "zwei Wörter",
    "line\nline",
    "\u{1F95B} \"quoted\" \\ back",
    "{\"json\": true}",
    "\u{0}\u{7f}",
    "ends with space ",
];

pub(crate) struct Generator<'a> {
    pub(crate) schema: &'a Schema,
    pub(crate) rng: Rng,
}

impl Generator<'_> {
    /// An instance of the definition `name`.
    pub(crate) fn instance(&mut self, name: &str) -> Value {
        let definition = self.schema.definition(name).clone();
        self.value(&definition, 0)
    }

    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(schema) = schema.as_object() else { return self.any(depth) };
        let mut value = Value::Null;
        let mut found = false;
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().expect("a reference");
            let definition = self.schema.definition(name).clone();
            value = self.value(&definition, depth + 1);
            found = true;
        }
        for union in ["allOf", "anyOf", "oneOf"] {
            if let Some(branches) = schema.get(union).and_then(Value::as_array) {
                let chosen = self.rng.pick(branches).clone();
                let part = self.value(&chosen, depth);
                value = merge(value, part);
                found = true;
            }
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
            return self.rng.pick(choices).clone();
        }
        match schema.get("type") {
            None if found => value,
            None => self.any(depth),
            Some(kind) => {
                let part = self.typed(kind, schema, depth);
                merge(value, part)
            }
        }
    }

    fn typed(&mut self, kind: &Value, schema: &Map<String, Value>, depth: usize) -> Value {
        let kind = if let Some(kinds) = kind.as_array() {
            let kind = kinds[0].as_str().expect("a type");
            if self.rng.one_in(4) { "null" } else { kind }
        } else {
            kind.as_str().expect("a type")
        };
        match kind {
            "null" => Value::Null,
            "boolean" => json!(self.rng.one_in(2)),
            "string" => self.string(schema),
            "integer" => self.integer(schema),
            "number" => self.number(schema),
            "array" => {
                let least = usize::from(schema.get("minItems").is_some());
                let most = if depth > MAX_DEPTH { 0 } else { 2 };
                let count = least + self.rng.below(most + 1);
                let items = schema.get("items").cloned().unwrap_or(json!(true));
                Value::Array((0..count).map(|_| self.value(&items, depth + 1)).collect())
            }
            "object" => self.object(schema, depth),
            other => panic!("unknown type {other}"),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut members = Vec::new();
        let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            for (name, property) in properties {
                let needed = required.iter().any(|r| r == name);
                if needed || (depth <= MAX_DEPTH && self.rng.one_in(2)) {
                    members.push((name.clone(), self.property(name, property, schema, depth)));
                }
            }
            if self.rng.one_in(8) {
                members.push(("xUnknownMember".to_owned(), self.any(depth)));
            }
        } else if let Some(values) = schema.get("additionalProperties").cloned() {
            for _ in 0..self.rng.below(3) {
                let name = (*self.rng.pick(&["one", "milk/route", "zwei", "traceparent"])).to_owned();
                members.push((name, self.value(&values, depth + 1)));
            }
        }
        if self.rng.one_in(2) {
            for i in (1..members.len()).rev() {
                let j = self.rng.below(i + 1);
                members.swap(i, j);
            }
        }
        Value::Object(members.into_iter().collect())
    }

    /// A member; the discriminator of an open union's last branch must not be a known one.
    fn property(&mut self, name: &str, property: &Value, owner: &Map<String, Value>, depth: usize) -> Value {
        let open = owner.contains_key("not") && property.get("type") == Some(&json!("string"));
        if open && owner["not"].to_string().contains(&format!("\"{name}\"")) {
            return json!(*self.rng.pick(&["_milk/custom", "_x", "someday"]));
        }
        self.value(property, depth + 1)
    }

    fn string(&mut self, schema: &Map<String, Value>) -> Value {
        match schema.get("format").and_then(Value::as_str) {
            Some("uri") => json!(*self.rng.pick(&["https://example.org/x?y=1", "file:///home/me/a.txt"])),
            Some("date-time") => json!("2026-11-30T12:00:00Z"),
            _ if schema.get("contentEncoding").is_some() => json!("bWlsaw=="),
            _ => json!(*self.rng.pick(TEXTS)),
        }
    }

    fn integer(&mut self, schema: &Map<String, Value>) -> Value {
        let format = schema.get("format").and_then(Value::as_str);
        let least = schema.get("minimum").and_then(Value::as_u64);
        match format {
            Some("uint64") => json!(*self.rng.pick(&[0, 1, 200_000, u64::MAX])),
            Some("uint32") => json!(*self.rng.pick(&[1, 80, u32::MAX])),
            Some("uint16") => json!(*self.rng.pick(&[1, 2, u16::MAX])),
            Some("int32") => json!(*self.rng.pick(&[-32_700, 7, i32::MIN])),
            _ if least.is_some() => json!(*self.rng.pick(&[1, 42])),
            _ => json!(*self.rng.pick(&[i64::MIN, -1, 0, 9_007_199_254_740_993])),
        }
    }

    fn number(&mut self, schema: &Map<String, Value>) -> Value {
        if schema.get("maximum").is_some() {
            return json!(*self.rng.pick(&[0.0, 0.25, 1.0]));
        }
        match self.rng.below(3) {
            0 => json!(self.rng.below(9)),
            1 => json!(-1.5),
            _ => json!(0.0125),
        }
    }

    /// Any JSON at all.
    pub(crate) fn any(&mut self, depth: usize) -> Value {
        match self.rng.below(if depth > MAX_DEPTH { 5 } else { 7 }) {
            0 => Value::Null,
            1 => json!(true),
            2 => json!(self.rng.below(1000)),
            3 => json!(-2.5),
            4 => json!(*self.rng.pick(TEXTS)),
            5 => json!([self.any(depth + 1), self.any(depth + 1)]),
            _ => json!({ "deep": self.any(depth + 1), "null": null }),
        }
    }
}

/// Adds the members of `part`, which win, to those of `value`.
fn merge(value: Value, part: Value) -> Value {
    match (value, part) {
        (Value::Object(mut members), Value::Object(more)) => {
            members.extend(more);
            Value::Object(members)
        }
        (value @ Value::Object(_), Value::Null) => value,
        (_, part) => part,
    }
}
