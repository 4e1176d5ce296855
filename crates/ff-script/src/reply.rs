//! The envelope of a reply: `{1, "OK", field…}`, `{1, "ALREADY_SATISFIED", …}`, `{1, "DUPLICATE", …}` or
//! `{0, code, detail…}`.

use std::vec;

use bytes::Bytes;
use ff_core::engine_error::{Code, Refusal};

use crate::signature::Signature;
use crate::{ScriptError, Value};

/// The answer of a function that did not refuse the call.
pub enum FcallResult {
    /// The call was performed.
    Ok(Fields),
    /// The function found the result in place already.
    AlreadySatisfied(Fields),
    /// The same call was performed before.
    Duplicate(Fields),
}

/// An outcome of the published wrappers, read from the answer of its function.
pub trait FromFcallResult: Sized {
    fn from_fcall_result(result: FcallResult) -> Result<Self, ScriptError>;
}

/// The fields of an answer, in their order.
pub struct Fields {
    signature: &'static Signature,
    values: vec::IntoIter<Value>,
}

impl FcallResult {
    /// Opens the envelope of one answer in a list. A text alone is an answer with that one field.
    pub(crate) fn parse_one(signature: &'static Signature, reply: Value) -> Result<Self, ScriptError> {
        match reply {
            text @ Value::Bytes(_) => Ok(Self::Ok(Fields { signature, values: vec![text].into_iter() })),
            reply => Self::parse(signature, reply),
        }
    }

    /// Opens the envelope.
    pub fn parse(signature: &'static Signature, reply: Value) -> Result<Self, ScriptError> {
        let Value::List(values) = reply else {
            return Err(ScriptError::parse(format!("{} answered {}", signature.name, reply.kind())));
        };
        let mut fields = Fields { signature, values: values.into_iter() };
        let done = fields.value()?;
        let word = fields.text()?;
        match (done, word.as_str()) {
            (Value::Int(1), "OK") => Ok(Self::Ok(fields)),
            (Value::Int(1), "ALREADY_SATISFIED") => Ok(Self::AlreadySatisfied(fields)),
            (Value::Int(1), "DUPLICATE") => Ok(Self::Duplicate(fields)),
            (Value::Int(0), code) => Err(fields.refusal(code)?.into()),
            _ => Err(ScriptError::parse(format!("{} answered {word}", signature.name))),
        }
    }

    /// Returns the fields, and whether the function found the call done before.
    pub fn into_fields(self) -> (Fields, bool) {
        match self {
            Self::Ok(fields) => (fields, false),
            Self::AlreadySatisfied(fields) | Self::Duplicate(fields) => (fields, true),
        }
    }
}

impl Fields {
    /// Returns the next field, of any type.
    pub fn value(&mut self) -> Result<Value, ScriptError> {
        let at = self.signature.answers.len().saturating_sub(self.values.len());
        self.values.next().ok_or_else(|| {
            let field = self.signature.answers.get(at).copied().unwrap_or("a field");
            ScriptError::parse(format!("{} left out {field}", self.signature.name))
        })
    }

    /// Returns the next field as text. A number is converted.
    pub fn text(&mut self) -> Result<String, ScriptError> {
        match self.value()? {
            Value::Bytes(bytes) => String::from_utf8(bytes.into()).map_err(|_| self.wrong("bytes that are not text")),
            Value::Int(number) => Ok(number.to_string()),
            other => Err(self.wrong(other.kind())),
        }
    }

    pub fn bytes(&mut self) -> Result<Bytes, ScriptError> {
        self.maybe_bytes()?.ok_or_else(|| self.wrong("nothing"))
    }

    /// Returns the next field as bytes; none when it is null.
    pub fn maybe_bytes(&mut self) -> Result<Option<Bytes>, ScriptError> {
        match self.value()? {
            Value::Bytes(bytes) => Ok(Some(bytes)),
            Value::Nil => Ok(None),
            other => Err(self.wrong(other.kind())),
        }
    }

    /// Returns the next field as text; none when it is null.
    pub fn maybe_free(&mut self) -> Result<Option<String>, ScriptError> {
        let Some(bytes) = self.maybe_bytes()? else { return Ok(None) };
        String::from_utf8(bytes.into()).map(Some).map_err(|_| self.wrong("bytes that are not text"))
    }

    /// Returns the next field as text; none when it is empty.
    pub fn maybe_text(&mut self) -> Result<Option<String>, ScriptError> {
        Ok(Some(self.text()?).filter(|text| !text.is_empty()))
    }

    /// Parses the next field.
    pub fn read<T: std::str::FromStr>(&mut self) -> Result<T, ScriptError> {
        let text = self.text()?;
        text.parse().map_err(|_| self.wrong("something unreadable"))
    }

    /// Parses the next field like [`Self::read`]; none when it is empty.
    pub fn maybe_read<T: std::str::FromStr>(&mut self) -> Result<Option<T>, ScriptError> {
        let Some(text) = self.maybe_text()? else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.wrong("something unreadable"))
    }

    pub fn list(&mut self) -> Result<Vec<Value>, ScriptError> {
        match self.value()? {
            Value::List(values) => Ok(values),
            other => Err(self.wrong(other.kind())),
        }
    }

    /// Returns the items of the next field, which is a list, as fields.
    pub fn nested(&mut self) -> Result<Self, ScriptError> {
        Ok(Self { signature: self.signature, values: self.list()?.into_iter() })
    }

    /// Reads the next field, which is a list, item after item.
    pub(crate) fn items<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<Vec<T>, ScriptError> {
        let (mut list, mut found) = (self.nested()?, Vec::new());
        while !list.is_empty() {
            found.push(read(&mut list)?);
        }
        Ok(found)
    }

    /// Reads the next field, which is a list of lists, list after list.
    pub(crate) fn rows<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<Vec<T>, ScriptError> {
        self.list()?.into_iter().map(|value| read(&mut self.part(value)?)).collect()
    }

    /// Returns the next items as fields. Their number is before them.
    pub fn counted(&mut self) -> Result<Self, ScriptError> {
        let count = self.read()?;
        let items: Vec<_> = self.values.by_ref().take(count).collect();
        if items.len() < count {
            return Err(self.wrong("too few items"));
        }
        Ok(Self { signature: self.signature, values: items.into_iter() })
    }

    /// Returns the items of a list in this answer as fields.
    pub fn part(&self, value: Value) -> Result<Self, ScriptError> {
        match value {
            Value::List(values) => Ok(Self { signature: self.signature, values: values.into_iter() }),
            other => Err(self.wrong(other.kind())),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.len() == 0
    }

    fn wrong(&self, what: &str) -> ScriptError {
        ScriptError::parse(format!("{} answered {what} where something else belongs", self.signature.name))
    }

    /// Returns a refusal, with its details, which follow as pairs of name and value.
    fn refusal(mut self, code: &str) -> Result<Refusal, ScriptError> {
        let known = Code::from_code(code).filter(|_| self.signature.refusals.contains(&code));
        let code = known.ok_or_else(|| {
            ScriptError::parse(format!("{} refused with {code}, which its header does not say", self.signature.name))
        })?;
        let mut refusal = code.refusal();
        let (mut limit, mut sent) = (None::<u64>, None::<u64>);
        while !self.is_empty() {
            match self.text()?.as_str() {
                "state" => refusal.state = Some(self.read()?),
                "field" => refusal.field = Some(self.text()?),
                "detail" => refusal.detail = Some(self.text()?),
                "limit" => limit = Some(self.read()?),
                "sent" => sent = Some(self.read()?),
                other => return Err(ScriptError::parse(format!("a refusal has no {other}"))),
            }
        }
        if let (Some(limit), Some(sent), Some(field)) = (limit, sent, &refusal.field) {
            refusal = Refusal::over_limit(code, field.clone(), limit, sent);
        } else if let (Some(state), None) = (refusal.state, &refusal.detail) {
            refusal = refusal.because(format!("the execution is {state}"));
        }
        Ok(refusal)
    }
}
