"""`shapeinf program MODEL`."""

from __future__ import annotations

from pathlib import Path

import click

from shapeinf.cli.failures import readable_errors
from shapeinf.cli.model_options import ModelOptions, model_options
from shapeinf.cli.output import echo, fail_on, note_errors
from shapeinf.cli.sections import SectionedCommand
from shapeinf.cli.targets import check_outputs, output_option, saving
from shapeinf.codegen import SUFFIXES, module_files, save_module, shape_module
from shapeinf.texts import format_count


@click.command(name="program", cls=SectionedCommand)
@click.argument("model", type=click.Path())
@output_option(f"The file to write, which ends in {', '.join(SUFFIXES)}. Required.")
@model_options(without=("strict",))
def program_command(model: str, options: ModelOptions, output: str | None) -> None:
    """Write the shape program of MODEL as source text in C, JavaScript, Rust or Python, without libraries.

    The program has two functions of the sizes of all dims of the inputs. The first computes the dims and bytes of every
    tensor and the peak of memory; the second returns the violated conditions of the contract. An overflow is an error.
    JavaScript comes with types for TypeScript, in .d.mts.

    Exit codes: 0 written, 1 the model has errors (nothing is written), 2 usage, 3 a file cannot be read or written.
    """
    if output is None:
        raise click.UsageError("name the file to write: -o shapes.mjs")
    with readable_errors():
        files = module_files(output)
        for path in files:
            check_outputs(output=path)
        result = options.infer(model)
        fail_on(note_errors(model, result.diagnostics))
        module = shape_module(result, Path(model).stem)
        with saving(*files):
            save_module(module, output)
    assert module.shapes is not None
    names = ", ".join(parameter.name for parameter in module.parameters) or "no dims"
    tensors, conditions = format_count(len(module.shapes.tensors), "tensor"), len(module.conditions)
    echo(f"{tensors} at sizes of {names}; {format_count(conditions, 'condition')}")
