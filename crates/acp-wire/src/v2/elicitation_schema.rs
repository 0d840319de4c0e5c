//! Forms: the small part of JSON Schema they are made of.

use std::collections::BTreeMap;

use crate::macros::{from_variants, object, strings, tagged};

strings! {
    /// What a text must look like. Protocol: Elicitation.
    pub enum StringFormat {
        /// An e-mail address.
        Email = "email",
        /// An address.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date with a time.
        DateTime = "date-time",
        ; else Other
    }
}

strings! {
    /// The type of a form, always an object.
    pub enum ElicitationSchemaType: Default {
        /// An object.
        #[default]
        Object = "object",
    }
}

object! {
    /// One choice of a form field, with its label.
    pub struct EnumOption {
        /// The value.
        req value = "const": String,
        /// A name for people.
        req title: String,
        /// More words on it.
        soft description: String,
        meta
    }
}

object! {
    /// A form field for text or a single choice. Protocol: Elicitation.
    pub struct StringPropertySchema: Default {
        /// A name for people.
        soft title: String,
        /// More words on it.
        soft description: String,
        /// The least number of characters.
        opt min_length: u32,
        /// The greatest number of characters.
        opt max_length: u32,
        /// What the text must look like.
        opt format: StringFormat,
        /// What the field holds at first.
        soft default: String,
        /// The choices, without labels.
        opt enum_values = "enum": Vec<String>,
        /// The choices, with labels.
        opt one_of: Vec<EnumOption>,
        meta
    }
}

object! {
    /// A form field for a number. Protocol: Elicitation.
    pub struct NumberPropertySchema: Default {
        /// A name for people.
        soft title: String,
        /// More words on it.
        soft description: String,
        /// The least value.
        opt minimum: f64,
        /// The greatest value.
        opt maximum: f64,
        /// What the field holds at first.
        soft default: f64,
        meta
    }
}

object! {
    /// A form field for a whole number. Protocol: Elicitation.
    pub struct IntegerPropertySchema: Default {
        /// A name for people.
        soft title: String,
        /// More words on it.
        soft description: String,
        /// The least value.
        opt minimum: i64,
        /// The greatest value.
        opt maximum: i64,
        /// What the field holds at first.
        soft default: i64,
        meta
    }
}

object! {
    /// A form field for yes or no. Protocol: Elicitation.
    pub struct BooleanPropertySchema: Default {
        /// A name for people.
        soft title: String,
        /// More words on it.
        soft description: String,
        /// What the field holds at first.
        soft default: bool,
        meta
    }
}

object! {
    /// Choices without labels. Protocol: Elicitation.
    pub struct StringMultiSelectItems {
        /// The choices.
        req values = "enum": Vec<String>,
        meta
    }
}

object! {
    /// Choices with labels. Protocol: Elicitation.
    pub struct TitledMultiSelectItems {
        /// The choices.
        req options = "anyOf": Vec<EnumOption>,
        meta
    }
}

tagged! {
    /// The choices of a multiple choice. Protocol: Elicitation.
    pub enum MultiSelectItems: "type" {
        /// Choices without labels.
        String(StringMultiSelectItems) = "string",
        ; else Other
        ; none
        /// Choices with labels.
        Titled(TitledMultiSelectItems)
    }
}

from_variants! {
    MultiSelectItems:
    String(StringMultiSelectItems), Titled(TitledMultiSelectItems),
}

object! {
    /// A form field for a multiple choice. Protocol: Elicitation.
    pub struct MultiSelectPropertySchema {
        /// A name for people.
        soft title: String,
        /// More words on it.
        soft description: String,
        /// The least number of choices made.
        opt min_items: u64,
        /// The greatest number of choices made.
        opt max_items: u64,
        /// The choices.
        req items: MultiSelectItems,
        /// What the field holds at first.
        soft_list default: String,
        meta
    }
}

tagged! {
    /// One field of a form. Protocol: Elicitation.
    pub enum ElicitationPropertySchema: "type" {
        /// Text or a single choice.
        String(StringPropertySchema) = "string",
        /// A number.
        Number(NumberPropertySchema) = "number",
        /// A whole number.
        Integer(IntegerPropertySchema) = "integer",
        /// Yes or no.
        Boolean(BooleanPropertySchema) = "boolean",
        /// A multiple choice.
        Array(MultiSelectPropertySchema) = "array",
        ; else Other
    }
}

from_variants! {
    ElicitationPropertySchema:
    String(StringPropertySchema), Number(NumberPropertySchema), Integer(IntegerPropertySchema),
    Boolean(BooleanPropertySchema), Array(MultiSelectPropertySchema),
}

object! {
    /// A form: a flat object in a small part of JSON Schema. Protocol: Elicitation.
    pub struct ElicitationSchema {
        /// The type.
        req type_: ElicitationSchemaType,
        /// A name for people.
        soft title: String,
        /// The fields by name, in order.
        req properties: BTreeMap<String, ElicitationPropertySchema>,
        /// The names of the fields that must be filled in.
        opt required: Vec<String>,
        /// More words on it.
        soft description: String,
        meta
    }
}
