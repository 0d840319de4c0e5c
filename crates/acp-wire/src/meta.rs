//! The `_meta` map.

/// The members of a `_meta` object, or of any other object kept as it came, in their order.
///
/// `traceparent`, `tracestate` and `baggage` are reserved for W3C trace context. Protocol: Extensibility.
pub type Meta = serde_json::Map<String, serde_json::Value>;
