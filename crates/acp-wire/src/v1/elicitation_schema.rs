//! elicitation_schema

use std::collections::BTreeMap;

use crate::macros::{object, strings, tagged};

strings! {
    /// String format.
    pub enum StringFormat {
        /// Email.
        Email = "email",
        /// Uri.
        Uri = "uri",
        /// Date.
        Date = "date",
        /// Date time.
        DateTime = "date-time",
    }
}

strings! {
    /// Elicitation schema type.
    pub enum ElicitationSchemaType {
        /// Object.
        Object = "object",
    }
}

impl Default for ElicitationSchemaType {
    fn default() -> Self {
        Self::Object
    }
}

object! {
    /// Enum option.
    pub struct EnumOption {
        /// Value.
        req value = "const": String,
        /// Title.
        req title: String,
        /// Description.
        soft description: String,
        meta
    }
}

object! {
    /// String property schema.
    pub struct StringPropertySchema: Default {
        /// Title.
        soft title: String,
        /// Description.
        soft description: String,
        /// Min length.
        opt min_length: u32,
        /// Max length.
        opt max_length: u32,
        /// Pattern.
        opt pattern: String,
        /// Format.
        opt format: StringFormat,
        /// Default.
        soft default: String,
        /// Enum values.
        opt enum_values = "enum": Vec<String>,
        /// One of.
        opt one_of: Vec<EnumOption>,
        meta
    }
}

object! {
    /// Number property schema.
    pub struct NumberPropertySchema: Default {
        /// Title.
        soft title: String,
        /// Description.
        soft description: String,
        /// Minimum.
        opt minimum: f64,
        /// Maximum.
        opt maximum: f64,
        /// Default.
        soft default: f64,
        meta
    }
}

object! {
    /// Integer property schema.
    pub struct IntegerPropertySchema: Default {
        /// Title.
        soft title: String,
        /// Description.
        soft description: String,
        /// Minimum.
        opt minimum: i64,
        /// Maximum.
        opt maximum: i64,
        /// Default.
        soft default: i64,
        meta
    }
}

object! {
    /// Boolean property schema.
    pub struct BooleanPropertySchema: Default {
        /// Title.
        soft title: String,
        /// Description.
        soft description: String,
        /// Default.
        soft default: bool,
        meta
    }
}

object! {
    /// String multi select items.
    pub struct StringMultiSelectItems {
        /// Values.
        req values = "enum": Vec<String>,
        meta
    }
}

object! {
    /// Titled multi select items.
    pub struct TitledMultiSelectItems {
        /// Options.
        req options = "anyOf": Vec<EnumOption>,
        meta
    }
}

tagged! {
    /// Multi select items.
    pub enum MultiSelectItems: "type" {
        /// String.
        String(StringMultiSelectItems) = "string",
        ; else Other
        ; none
        /// Titled.
        Titled(TitledMultiSelectItems)
    }
}

object! {
    /// Multi select property schema.
    pub struct MultiSelectPropertySchema {
        /// Title.
        soft title: String,
        /// Description.
        soft description: String,
        /// Min items.
        opt min_items: u64,
        /// Max items.
        opt max_items: u64,
        /// Items.
        req items: MultiSelectItems,
        /// Default.
        soft_list default: String,
        meta
    }
}

tagged! {
    /// Elicitation property schema.
    pub enum ElicitationPropertySchema: "type" {
        /// String.
        String(StringPropertySchema) = "string",
        /// Number.
        Number(NumberPropertySchema) = "number",
        /// Integer.
        Integer(IntegerPropertySchema) = "integer",
        /// Boolean.
        Boolean(BooleanPropertySchema) = "boolean",
        /// Array.
        Array(MultiSelectPropertySchema) = "array",
        ; else Other
    }
}

object! {
    /// Elicitation schema.
    pub struct ElicitationSchema: Default {
        /// Type .
        flag type_: ElicitationSchemaType,
        /// Title.
        soft title: String,
        /// Properties.
        map properties: BTreeMap<String, ElicitationPropertySchema>,
        /// Required.
        opt required: Vec<String>,
        /// Description.
        soft description: String,
        meta
    }
}
