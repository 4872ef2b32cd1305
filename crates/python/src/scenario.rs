//! Scenarios, the catalogue and the schema.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use airtcp_remedies::deployment::Way;
use airtcp_units::{Duration, Probability};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{run_error, scenario_error};

/// Parts for rebuilding a scenario: text, source, files.
type Parts<'py> = (String, String, Bound<'py, PyDict>);

/// A validated scenario: link, flows, TCP, duration.
#[pyclass(frozen, module = "airtcp._core")]
pub(crate) struct Scenario(pub(crate) Arc<airtcp_scenario::Scenario>);

#[pymethods]
impl Scenario {
    /// Reads a scenario from TOML text, after setting `settings` (dotted key, value). `source` is
    /// its name in errors; the files it names are relative to `base`.
    #[staticmethod]
    #[pyo3(signature = (text, source = "scenario", base = PathBuf::from("."), settings = Vec::new()),
           text_signature = "(text, source='scenario', base='.', settings=())")]
    fn parse(
        py: Python<'_>,
        text: &str,
        source: &str,
        base: PathBuf,
        settings: Vec<(String, String)>,
    ) -> PyResult<Self> {
        py.detach(|| airtcp_scenario::Scenario::with_settings(text, source, &base, &settings))
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// Reads the scenario file at `path`, after setting `settings` (dotted key, value).
    #[staticmethod]
    #[pyo3(signature = (path, settings = Vec::new()), text_signature = "(path, settings=())")]
    fn load(py: Python<'_>, path: PathBuf, settings: Vec<(String, String)>) -> PyResult<Self> {
        py.detach(|| airtcp_scenario::Scenario::load(&path, &settings))
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// The same scenario with further remedies, as in "rto-factor:factor=10+sack".
    fn with_remedies(&self, py: Python<'_>, remedies: &str) -> PyResult<Self> {
        self.0
            .with_remedies(remedies)
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// The same scenario with one flow, the last, unaffected by sender and receiver remedies.
    fn with_unchanged_flow(&self, py: Python<'_>) -> PyResult<Self> {
        self.0
            .with_unchanged_flow()
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// The same scenario, perturbed by each seed by up to `share`, from 0 to 0.1.
    fn perturbed(&self, py: Python<'_>, share: f64) -> PyResult<Self> {
        let share = Probability::new(share).map_err(|error| scenario_error(py, error))?;
        self.0
            .perturbed(share)
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// The same scenario for `seconds`.
    fn lasting(&self, py: Python<'_>, seconds: f64) -> PyResult<Self> {
        let duration = Duration::from_secs_f64(seconds).unwrap_or_default();
        self.0
            .lasting(duration)
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// Whether every seed gives the same run.
    #[getter]
    fn is_same_for_every_seed(&self) -> bool {
        self.0.is_same_for_every_seed()
    }

    /// The profiles of the senders, without duplicates: from `flows.tcp`, or else from `[tcp]`.
    #[getter]
    fn senders(&self) -> Vec<&'static str> {
        self.0.senders()
    }

    /// The scenario as TOML with every default filled in.
    fn to_toml(&self) -> String {
        self.0.to_toml()
    }

    /// A hash, in hexadecimal, of the scenario's content and of the files it names.
    fn hash(&self) -> String {
        self.0.hash()
    }

    /// The name of the scenario.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Warnings on probable mistakes in settings, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings()
    }

    /// Whether one of its remedies is a control in Python, which other processes do not have.
    #[getter]
    fn runs_in_python(&self) -> bool {
        crate::control::is_in_python(&self.0)
    }

    /// The names of its remedies without effect: the endpoints behave so without them.
    #[getter]
    fn already_so(&self) -> Vec<String> {
        self.0.already_so.clone()
    }

    /// A scenario from the parts of `__reduce__`: its TOML, its name in errors, and its files by
    /// key.
    #[staticmethod]
    #[pyo3(name = "_from_files")]
    fn from_files(
        py: Python<'_>,
        text: &str,
        source: &str,
        files: BTreeMap<String, Vec<u8>>,
    ) -> PyResult<Self> {
        let files = files
            .into_iter()
            .map(|(key, bytes)| (key, bytes.into()))
            .collect();
        py.detach(|| airtcp_scenario::Scenario::with_files(text, source, &files))
            .map(|checked| Self(Arc::new(checked)))
            .map_err(|error| scenario_error(py, error))
    }

    /// For `pickle` and `copy`: a scenario carries its recordings.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let files = PyDict::new(py);
        for (key, bytes) in self.0.files() {
            files.set_item(key, PyBytes::new(py, bytes))?;
        }
        let rebuild = py.get_type::<Self>().getattr("_from_files")?;
        Ok((
            rebuild,
            (self.0.to_toml(), self.0.source().to_owned(), files),
        ))
    }

    /// Scenarios are equal if their content and their files are equal.
    fn __eq__(&self, other: &Self) -> bool {
        self.0.hash() == other.0.hash()
    }

    fn __hash__(&self) -> u64 {
        let hash = self.0.hash();
        u64::from_str_radix(&hash[..16], 16).unwrap_or_default()
    }

    fn __repr__(&self) -> String {
        format!("<Scenario {:?}>", self.0.name)
    }
}

/// The catalogue of remedies, as JSON.
#[pyfunction]
pub(crate) fn remedies(py: Python<'_>) -> PyResult<String> {
    serde_json::to_string(airtcp_remedies::catalogue()).map_err(|error| run_error(py, error))
}

/// The entries of the remedies of a combination, with their default values, as JSON: also those
/// that no catalogue has, from BPF objects.
#[pyfunction]
pub(crate) fn remedies_of(py: Python<'_>, remedies: &str) -> PyResult<String> {
    let chosen = airtcp_remedies::parse(remedies).map_err(|error| scenario_error(py, error))?;
    let each: Vec<_> = chosen.as_slice().iter().map(|one| one.remedy).collect();
    serde_json::to_string(&each).map_err(|error| run_error(py, error))
}

/// Deployment of each remedy of a combination on a real system, as JSON: its name, sentences with
/// its values filled in, and whether it can be deployed on a host.
#[pyfunction]
pub(crate) fn deployments(py: Python<'_>, remedies: &str) -> PyResult<String> {
    let chosen = airtcp_remedies::parse(remedies).map_err(|error| scenario_error(py, error))?;
    let each: Vec<_> = chosen
        .as_slice()
        .iter()
        .map(|one| {
            serde_json::json!({
                "name": one.to_string(),
                "text": one.deployment(),
                "on_a_host": one.remedy.deployment.ways_for(&one.given()).any(Way::is_on_a_host),
            })
        })
        .collect();
    serde_json::to_string(&each).map_err(|error| run_error(py, error))
}

/// The JSON Schema of scenario files.
#[pyfunction]
pub(crate) fn schema() -> String {
    airtcp_scenario::schema().to_string()
}
