//! Calls only the holder of a lease may make: every one carries the fence, flat beside its own fields.

/// One type of call per row. The fence's fields may each be absent on the wire, so that a call without one and a call with
/// a part of one are told apart.
macro_rules! holder_calls {
    ($($(#[$doc:meta])* $name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            #[serde(default)]
            pub lease_id: Option<LeaseId>,
            #[serde(default)]
            pub lease_epoch: Option<LeaseEpoch>,
            #[serde(default)]
            pub attempt_id: Option<AttemptId>,
            $($(#[$attribute])* pub $field: $type,)*
        }

        impl $name {
            fn fence(&self) -> Result<Fence, Refusal> {
                Fence::from_parts(self.lease_id, self.lease_epoch, self.attempt_id)
            }
        }
    )*};
}
pub(crate) use holder_calls;

/// A call of the holder of `fence`: the three fields of it, and the call's own.
macro_rules! held {
    ($name:ident, $fence:expr, $($field:ident: $value:expr),*) => {{
        let Fence { lease_id, lease_epoch, attempt_id } = $fence;
        $name {
            lease_id: Some(lease_id),
            lease_epoch: Some(lease_epoch),
            attempt_id: Some(attempt_id),
            $($field: $value),*
        }
    }};
}
pub(crate) use held;
