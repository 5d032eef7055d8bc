"""The test suite on every supported version of Python that this machine has: `nox`, or `nox -s tests-3.12`."""

import nox

nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["tests"]


@nox.session(python=["3.10", "3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run the tests; arguments after `--` go to pytest."""
    session.install("-e", ".[test-all]")
    session.run("python", "-m", "pytest", "-n", "2", *session.posargs)


@nox.session(python="3.11")
def site(session: nox.Session) -> None:
    """Build the site of the documentation."""
    session.install("-e", ".[docs]")
    session.run("sphinx-build", "-W", "-q", "-c", "docs/site", ".", "build/site")
