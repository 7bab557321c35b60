"""The command line: one file per command, read when the command is asked for."""

import warnings
from importlib import import_module
from typing import Any

import click

import censorium
from censorium.errors import CensoriumError

NAMES = ("demo", "data", "train", "predict", "audit", "study", "report")


class Failure(click.ClickException):
    """What went wrong, in one sentence, with exit status 2."""

    exit_code = 2


class Commands(click.Group):
    """Commands that report what is wrong as a `Failure`, with no traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names, sorted."""
        return sorted(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, from the file of that name."""
        if cmd_name not in NAMES:
            return None
        command: click.Command = getattr(import_module(f"censorium.cli.{cmd_name}"), cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that `ctx` names."""
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            try:
                return super().invoke(ctx)
            except BrokenPipeError:
                raise  # the reader has had enough, as `head` has: no error, and click says none
            except (CensoriumError, OSError) as error:
                raise Failure(sentence(error)) from error


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """A warning as one line on standard error."""
    click.echo(f"Warning: {message}", err=True)


def sentence(error: Exception) -> str:
    """What went wrong, on one line; of the system's errors what it was and with which file."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    return " ".join(str(error).split())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(censorium.__version__, prog_name="censorium")
def main() -> None:
    """EEG decoders that work on people they have never seen.

    \b
    Examples:
      censorium demo
      censorium data simulate trials --subjects 12
      censorium train trials --out model.safetensors
      censorium predict model.safetensors trials --out probabilities.csv
      censorium audit model.safetensors trials --out audit.html
      censorium study run quick
      censorium report quick
    """
