//! The lab: its links, and two sides played on one channel. Messages to the page are JSON.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use airtcp_lab::{Chosen, Files, LabError, Message, Play, Source};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{run_error, scenario_error};
use crate::scenario::Scenario;

/// A link to choose: a scenario as TOML text, with its name in errors and the folder of its files.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct LabSource(Source);

#[pymethods]
impl LabSource {
    #[new]
    #[pyo3(text_signature = "(text, name, folder)")]
    fn new(text: String, name: String, folder: PathBuf) -> Self {
        Self(Source {
            text,
            name,
            files: Files::In(folder),
        })
    }

    /// The link with settings and remedies, validated and bounded in size; a setting names no file.
    #[pyo3(
        signature = (settings, remedies = ""),
        text_signature = "($self, settings, remedies='')"
    )]
    fn chosen(
        &self,
        py: Python<'_>,
        settings: BTreeMap<String, String>,
        remedies: &str,
    ) -> PyResult<Scenario> {
        py.detach(|| Chosen::new(&self.0, &settings, remedies))
            .map(|chosen| Scenario(chosen.scenario))
            .map_err(|error| raised(py, &error))
    }

    /// Its sliders and the remedies that fit it, as JSON.
    fn describe(&self, py: Python<'_>, settings: BTreeMap<String, String>) -> PyResult<String> {
        py.detach(|| airtcp_lab::describe(&self.0, &settings))
            .map_err(|error| raised(py, &error))
            .and_then(|description| text_of(py, &description))
    }
}

/// Two sides in progress, or one: each a scenario with the text of its remedies.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct LabPlay(Mutex<Option<Play>>);

#[pymethods]
impl LabPlay {
    #[new]
    #[pyo3(text_signature = "(sides, seed, flow)")]
    fn new(
        py: Python<'_>,
        sides: Vec<(Py<Scenario>, String)>,
        seed: u64,
        flow: u32,
    ) -> PyResult<Self> {
        let chosen = sides.into_iter().map(|(scenario, remedies)| {
            let scenario = Arc::clone(&scenario.get().0);
            (Chosen { scenario }, remedies)
        });
        Play::new(chosen.collect(), seed, flow)
            .map(|play| Self(Mutex::new(Some(play))))
            .map_err(|error| raised(py, &error))
    }

    /// The first message.
    fn begin(&self, py: Python<'_>) -> PyResult<String> {
        let message = self.with(py, |play| Ok(play.begin()))?;
        text_of(py, &message)
    }

    /// Advances both sides by a stretch and returns its messages. Its length follows from the
    /// seconds that the previous one took.
    #[pyo3(signature = (took_s = None))]
    fn advance(&self, py: Python<'_>, took_s: Option<f64>) -> PyResult<Vec<String>> {
        let messages = self.with(py, |play| play.advance(took_s))?;
        texts_of(py, &messages)
    }

    /// The results of both sides, run to their ends.
    fn finish(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let play = taken.ok_or_else(|| run_error(py, FINISHED))?;
        let messages = py.detach(|| play.finish());
        texts_of(py, &messages.map_err(|error| raised(py, &error))?)
    }

    /// Virtual time that both sides have reached, and that of the whole run, in seconds.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<(f64, f64)> {
        self.with(py, |play| Ok(play.progress()))
    }

    /// Whether both sides have ended.
    #[getter]
    fn finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |play| Ok(play.is_finished()))
    }
}

impl LabPlay {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Play) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut play = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            play.as_mut().map(work)
        });
        done.ok_or_else(|| run_error(py, FINISHED))?
            .map_err(|error| raised(py, &error))
    }
}

const FINISHED: &str = "this play is finished: make a new LabPlay";

/// The remedies to choose, as JSON.
#[pyfunction]
pub(crate) fn lab_remedies(py: Python<'_>) -> PyResult<String> {
    text_of(py, &airtcp_lab::remedies().collect::<Vec<_>>())
}

/// The effect of side B on goodput by both sides' goodputs, seed by seed, as a sentence; None
/// unless both have as many seeds, at least one.
#[pyfunction]
pub(crate) fn lab_verdict(a_bps: Vec<f64>, b_bps: Vec<f64>) -> Option<String> {
    airtcp_lab::verdict(&a_bps, &b_bps)
}

fn raised(py: Python<'_>, error: &LabError) -> PyErr {
    match error {
        LabError::Scenario(text) => scenario_error(py, text),
        LabError::Run(text) => run_error(py, text),
    }
}

fn texts_of(py: Python<'_>, messages: &[Message]) -> PyResult<Vec<String>> {
    messages
        .iter()
        .map(|message| text_of(py, message))
        .collect()
}

fn text_of(py: Python<'_>, value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| run_error(py, error))
}
