
/// A size, which may depend on data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Exact(i64),
    /// It depends on data, and has this upper bound.
    AtMost(i64),
    /// It depends on data, and has no upper bound.
    Unknown,
}

#[derive(Clone, Copy, Debug)]
enum Register {
    Exact(usize),
    AtMost(usize),
    Unknown,
}

/// A tensor of the model; `Shapes` has its sizes.
#[derive(Debug)]
pub struct Tensor {
    pub name: &'static str,
    /// The element type; `None` for an unknown one.
    pub dtype: Option<&'static str>,
    axes: Option<&'static [Register]>,
    bytes: Register,
}

impl Tensor {
    /// The number of axes; `None` for an unknown rank.
    pub fn rank(&self) -> Option<usize> {
        self.axes.map(<[Register]>::len)
    }
}

/// The tensor with a name.
pub fn tensor(name: &str) -> Option<&'static Tensor> {
    TENSORS.iter().find(|tensor| tensor.name == name)
}

/// The sizes of all tensors, and the peak.
#[derive(Clone, Debug)]
pub struct Shapes {
    values: [i64; REGISTERS],
}

impl Shapes {
    fn read(&self, register: Register) -> Size {
        let value = |number: usize| self.values.get(number).copied();
        match register {
            Register::Exact(number) => value(number).map_or(Size::Unknown, Size::Exact),
            Register::AtMost(number) => value(number).map_or(Size::Unknown, Size::AtMost),
            Register::Unknown => Size::Unknown,
        }
    }

    /// The sizes of the axes of a tensor; `None` for an unknown rank.
    pub fn dims(&self, tensor: &Tensor) -> Option<impl Iterator<Item = Size> + '_> {
        let axes = tensor.axes?;
        Some(axes.iter().map(move |register| self.read(*register)))
    }

    /// The bytes of a tensor, without padding.
    pub fn bytes(&self, tensor: &Tensor) -> Size {
        self.read(tensor.bytes)
    }

    /// The most bytes of computed values in use at one program point.
    pub fn peak(&self) -> i64 {
        self.values[PEAK]
    }
}

/// The sizes of all tensors.
pub fn compute_shapes(sizes: &Sizes) -> Result<Shapes, Error> {
    if let Some(violation) = check(sizes)?.next() {
        return Err(Error::Illegal(violation));
    }
    let s = sizes.values();
    let mut values = [0; REGISTERS];
    evaluate_all(&s, &mut values)?;
    for (condition, violated) in REQUIREMENTS.iter().zip(violated_requirements(&values)) {
        if violated {
            return Err(Error::Illegal(Violation { condition, sizes: *sizes }));
        }
    }
    Ok(Shapes { values })
}
