//! Logs for programs: one flat JSON object per line. A field of a span has the same name as a field of the event.

use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// A formatter that writes each event as one line.
pub(super) struct Lines;

impl<S: Subscriber + for<'a> LookupSpan<'a>> FormatEvent<S, JsonFields> for Lines {
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Map::new();
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            let extensions = span.extensions();
            let fields = extensions.get::<FormattedFields<JsonFields>>();
            // The fields of a span are a JSON object; a span without fields has none.
            if let Some(Ok(fields)) = fields.map(|fields| serde_json::from_str::<Map<String, Value>>(&fields.fields)) {
                line.extend(fields);
            }
        }
        event.record(&mut FieldRecorder(&mut line));
        let mut time = String::new();
        SystemTime.format_time(&mut Writer::new(&mut time))?;
        let metadata = event.metadata();
        line.insert("time".to_owned(), time.into());
        line.insert("level".to_owned(), metadata.level().as_str().into());
        line.insert("target".to_owned(), metadata.target().into());
        writeln!(writer, "{}", Value::Object(line))
    }
}

/// A visitor that adds the fields of an event to a line.
struct FieldRecorder<'l>(&'l mut Map<String, Value>);

impl Visit for FieldRecorder<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.enter(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.enter(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.enter(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.enter(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.enter(field, value.into());
    }
}

impl FieldRecorder<'_> {
    fn enter(&mut self, field: &Field, value: Value) {
        self.0.insert(field.name().to_owned(), value);
    }
}
