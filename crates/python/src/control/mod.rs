//! A congestion control written as a Python class: one instance for each connection.

mod socket;

use std::cell::RefCell;
use std::path::PathBuf;

use airtcp_tcp::external::{AckSample, Call, DeliverySample, Operations, Socket, Source};
use pyo3::exceptions::{PyException, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

pub(crate) use socket::PySocket;
use socket::{clipped, window};

thread_local! {
    /// The exception for which the last run of this thread has ended.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Takes the exception for which this thread's run has ended.
pub(crate) fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

/// Whether a scenario has a control in Python: its runs keep the interpreter, which every
/// acknowledgment would otherwise wait for.
pub(crate) fn is_in_python(scenario: &airtcp_scenario::Scenario) -> bool {
    let remedies = scenario.remedies.as_slice().iter();
    remedies
        .map(|one| one.remedy)
        .any(airtcp_remedies::registered::is_registered)
}

/// Registers a class, or another function without arguments, that makes a control for each
/// connection. Returns the name of its remedy. `paces`: it sets window and pacing rate itself at
/// every acknowledgment.
#[pyfunction]
pub(crate) fn register_control(name: String, factory: Py<PyAny>, paces: bool) -> &'static str {
    airtcp_remedies::registered::register(Box::new(Class {
        name,
        factory,
        paces,
    }))
}

/// Sets the function that compiles the source of a congestion control in BPF: it takes the
/// source's path, and returns the object file's.
#[pyfunction]
pub(crate) fn compile_with(compiler: Py<PyAny>) {
    airtcp_remedies::bpf::compile_with(Box::new(move |source| {
        Python::attach(|py| {
            let object = compiler.call1(py, (source,))?;
            object.extract::<PathBuf>(py)
        })
        .map_err(|error: PyErr| Python::attach(|py| error.value(py).to_string()))
    }));
}

/// A class of controls.
#[derive(Debug)]
struct Class {
    name: String,
    factory: Py<PyAny>,
    paces: bool,
}

impl Source for Class {
    fn name(&self) -> &str {
        &self.name
    }

    fn operations(&self) -> Box<dyn Operations> {
        Python::attach(|py| {
            Box::new(Control {
                name: self.name.clone(),
                factory: self.factory.clone_ref(py),
                paces: self.paces,
                instance: None,
            })
        })
    }
}

/// The control of one connection, made when the connection is established.
#[derive(Debug)]
struct Control {
    name: String,
    factory: Py<PyAny>,
    paces: bool,
    instance: Option<Instance>,
}

/// An instance of the class, with its methods looked up once.
#[derive(Debug)]
struct Instance {
    object: Py<PyAny>,
    on_ack: Py<PyAny>,
    on_loss: Py<PyAny>,
    on_timeout: Option<Py<PyAny>>,
    on_undo: Option<Py<PyAny>>,
    socket: Py<PySocket>,
    /// The arguments of every call: the socket.
    arguments: Py<PyTuple>,
}

impl Instance {
    fn new(object: Bound<'_, PyAny>, paces: bool) -> PyResult<Self> {
        let py = object.py();
        let socket = Bound::new(py, PySocket::new(paces))?;
        let method = |name: &str| {
            object
                .getattr_opt(name)
                .map(|found| found.map(Bound::unbind))
        };
        Ok(Self {
            on_ack: object.getattr("on_ack")?.unbind(),
            on_loss: object.getattr("on_loss")?.unbind(),
            on_timeout: method("on_timeout")?,
            on_undo: method("on_undo")?,
            arguments: PyTuple::new(py, [&socket])?.unbind(),
            socket: socket.unbind(),
            object: object.unbind(),
        })
    }

    /// Calls a method, and gives the sender its changes.
    fn call<'py>(
        &self,
        py: Python<'py>,
        method: &Py<PyAny>,
        socket: &mut Socket,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.socket.borrow_mut(py).show(socket);
        let returned = method.bind(py).call1(self.arguments.bind(py))?;
        self.socket.borrow(py).give_back(socket);
        Ok(returned)
    }

    /// The same for a method that returns a window in segments.
    fn window(
        &self,
        py: Python<'_>,
        (name, method): (&str, &Py<PyAny>),
        socket: &mut Socket,
    ) -> PyResult<u64> {
        let returned = self.call(py, method, socket)?;
        let segments = returned.extract::<f64>().map_err(|_| {
            PyTypeError::new_err(format!(
                "{name} returned {returned:.60}: expected the window in segments"
            ))
        })?;
        window(&format!("{name}(socket)"), segments).map(|value| clipped(value).into())
    }
}

impl Control {
    fn start(&mut self, py: Python<'_>, socket: &mut Socket) -> PyResult<()> {
        let instance = Instance::new(self.factory.bind(py).call0()?, self.paces)?;
        socket.paced |= self.paces;
        if let Some(on_start) = instance.object.bind(py).getattr_opt("on_start")? {
            instance.call(py, &on_start.unbind(), socket)?;
        }
        self.instance = Some(instance);
        Ok(())
    }

    fn answer(
        &mut self,
        py: Python<'_>,
        call: &Call<'_>,
        socket: &mut Socket,
    ) -> PyResult<Option<u64>> {
        if matches!(call, Call::Init) {
            return self.start(py, socket).map(|()| None);
        }
        let Some(instance) = &self.instance else {
            return Ok(None);
        };
        match *call {
            Call::Acked(sample) => instance.socket.borrow_mut(py).on_sample(sample),
            Call::Grow(acked) => {
                instance.socket.borrow_mut(py).acked = acked;
                instance.call(py, &instance.on_ack, socket)?;
            }
            Call::Control(sample) => {
                instance.socket.borrow_mut(py).on_delivery(sample);
                instance.call(py, &instance.on_ack, socket)?;
            }
            Call::Threshold => {
                let on_timeout = instance.on_timeout.as_ref();
                let method = match on_timeout.filter(|_| socket.is_expired) {
                    Some(method) => ("on_timeout", method),
                    None => ("on_loss", &instance.on_loss),
                };
                return instance.window(py, method, socket).map(Some);
            }
            Call::Undo => {
                return match &instance.on_undo {
                    Some(method) => instance.window(py, ("on_undo", method), socket).map(Some),
                    None => Ok(Some(socket.cwnd.max(socket.prior.0).into())),
                };
            }
            Call::Init
            | Call::AckEvent(_)
            | Call::SetState(_)
            | Call::Event(_)
            | Call::LeastBurst
            | Call::Release => {}
        }
        Ok(None)
    }
}

impl PySocket {
    fn on_sample(&mut self, sample: &AckSample) {
        self.rtt = sample.rtt;
    }

    fn on_delivery(&mut self, sample: &DeliverySample) {
        self.acked = sample.acked;
        self.losses = sample.losses;
        self.rate = sample.rate;
    }
}

impl Operations for Control {
    fn boxed(&self) -> Box<dyn Operations> {
        Python::attach(|py| {
            let copied = |instance: &Instance| {
                let copy = py.import("copy")?.getattr("deepcopy")?;
                Instance::new(copy.call1((&instance.object,))?, self.paces)
            };
            Box::new(Self {
                name: self.name.clone(),
                factory: self.factory.clone_ref(py),
                paces: self.paces,
                // A control that cannot be copied begins as a new one.
                instance: self.instance.as_ref().and_then(|one| copied(one).ok()),
            })
        })
    }

    fn is_model(&self) -> bool {
        self.paces
    }

    fn call(&mut self, call: Call<'_>, socket: &mut Socket) -> Result<Option<u64>, String> {
        Python::attach(|py| {
            self.answer(py, &call, socket).map_err(|error| {
                let at = socket.now.as_secs_f64();
                let text = format!("{} in Python, at {at:.6} s: {error}", self.name);
                RAISED.set(Some(error));
                text
            })
        })
    }

    /// Whole numbers among the instance's public attributes.
    fn counters(&self) -> Vec<(String, i128)> {
        Python::attach(|py| {
            let instance = self.instance.as_ref();
            let attributes = instance.and_then(|one| one.object.bind(py).getattr("__dict__").ok());
            let Some(attributes) = attributes.and_then(|found| found.cast_into::<PyDict>().ok())
            else {
                return Vec::new();
            };
            let public = attributes.iter().filter_map(|(name, value)| {
                let name = name.extract::<String>().ok()?;
                let is_count = value.is_instance_of::<pyo3::types::PyInt>()
                    && !value.is_instance_of::<pyo3::types::PyBool>();
                let value = value.extract::<i64>().ok().filter(|_| is_count)?;
                (!name.starts_with('_')).then(|| (name, i128::from(value)))
            });
            public.collect()
        })
    }
}

/// Whether an exception ends the program, and not only the run.
pub(crate) fn is_fatal(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py)
}
