
/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// An intermediate number does not fit 64 bits.
    Overflow,
    /// A division by zero.
    DivisionByZero,
    /// A size outside of those that the module is about.
    Outside { dim: &'static str, size: i64 },
    /// Sizes with which the model does not run.
    Illegal(Violation),
}

/// A condition on sizes.
#[derive(Debug, PartialEq, Eq)]
pub struct Condition {
    /// The condition.
    pub text: &'static str,
    /// The node that requires it; empty for none.
    pub node: &'static str,
    /// The operator of the node.
    pub operator: &'static str,
    /// The rule of the operator.
    pub message: &'static str,
}

/// A condition that sizes violate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    pub condition: &'static Condition,
    pub sizes: Sizes,
}

/// The violated conditions, in the order of `CONDITIONS`.
#[derive(Clone, Debug)]
pub struct Violations {
    sizes: Sizes,
    violated: [bool; CONDITIONS.len()],
    next: usize,
}

impl Iterator for Violations {
    type Item = Violation;

    fn next(&mut self) -> Option<Violation> {
        while let (Some(condition), Some(violated)) = (CONDITIONS.get(self.next), self.violated.get(self.next)) {
            self.next += 1;
            if *violated {
                return Some(Violation { condition, sizes: self.sizes });
            }
        }
        None
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, (dim, size)) in DIMS.iter().zip(self.values()).enumerate() {
            write!(f, "{}{}={}", if number == 0 { "" } else { ", " }, dim.0, size)?;
        }
        Ok(())
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Condition { text, node, operator, message } = self.condition;
        write!(f, "{text} does not hold at {}", self.sizes)?;
        if !node.is_empty() {
            write!(f, ", required by {operator}{}'{node}'", if operator.is_empty() { "" } else { " " })?;
        }
        write!(f, ": {message}")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Overflow => write!(f, "a number does not fit 64 bits"),
            Error::DivisionByZero => write!(f, "a division by zero"),
            Error::Outside { dim, size } => write!(f, "{dim} = {size} is outside of the sizes of the module"),
            Error::Illegal(violation) => violation.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

// The first error of an evaluation. A value after it means nothing, and is not returned.
type Failure = Result<(), Error>;

fn fail(error: Error, failure: &mut Failure) -> i64 {
    if failure.is_ok() {
        *failure = Err(error);
    }
    0
}

fn add(a: i64, b: i64, failure: &mut Failure) -> i64 {
    a.checked_add(b).unwrap_or_else(|| fail(Error::Overflow, failure))
}

fn multiply(a: i64, b: i64, failure: &mut Failure) -> i64 {
    a.checked_mul(b).unwrap_or_else(|| fail(Error::Overflow, failure))
}

// Rounds down, as Python's // does.
fn floordiv(a: i64, b: i64, failure: &mut Failure) -> i64 {
    if b == 0 {
        return fail(Error::DivisionByZero, failure);
    }
    match a.checked_div(b) {
        Some(quotient) if a % b != 0 && (a < 0) != (b < 0) => quotient - 1,
        Some(quotient) => quotient,
        None => fail(Error::Overflow, failure),
    }
}

fn maximum(a: i64, b: i64, _: &mut Failure) -> i64 {
    a.max(b)
}

/// The violated conditions of the contract.
pub fn check(sizes: &Sizes) -> Result<Violations, Error> {
    let s = sizes.values();
    for ((dim, least, most), size) in DIMS.iter().zip(s) {
        if least.is_some_and(|least| i128::from(size) < least) || most.is_some_and(|most| i128::from(size) > most) {
            return Err(Error::Outside { dim, size });
        }
    }
    let mut r = [0; REGISTERS];
    evaluate_conditions(&s, &mut r)?;
    Ok(Violations { sizes: *sizes, violated: violated_conditions(&r), next: 0 })
}
