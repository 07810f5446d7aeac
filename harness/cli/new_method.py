"""`aacbench new-method`: write a package with a small working method to start from."""

import re
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from aacbench.errors import UsageError

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_LONGEST = 40


@click.command()
@click.argument("name")
@click.option("--out", type=click.Path(path_type=Path), help="The folder to create.  [default: ./aacbench-NAME]")
def new_method(name: str, out: Path | None) -> None:
    """Write a package with a method of this name: code, tests that run the conformance suite, and packaging files.

    \b
    aacbench new-method my-bound
    aacbench check my-bound --plugin aacbench-my-bound/aacbench_my_bound.py
    """
    _check_name(name)
    folder = out or Path(f"aacbench-{name}")
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{folder} exists and is not overwritten; give another folder with --out.")
    module = "aacbench_" + name.replace("-", "_")
    words = {"name": name, "module": module, "distribution": f"aacbench-{name}"}
    templates = {
        f"{module}.py": "method.py",
        f"tests/test_{module}.py": "test_method.py",
        **{file: file for file in ("README.md", "setup.cfg", "pyproject.toml")},
    }
    try:
        for path, template in templates.items():
            text = (files("aacbench.cli") / "templates" / f"{template}.txt").read_text(encoding="utf-8")
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(Template(text).substitute(words), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}); give another folder with --out.") from error
    click.echo(f"Wrote {folder}. Next:\n")
    click.echo(f"  aacbench check {name} --plugin {folder / module}.py")
    click.echo(f"  pip install -e {folder}\n  python -m pytest {folder}")


def _check_name(name: str) -> None:
    from aacbench.plugins.manager import load_plugins

    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise UsageError(f"{name!r} is not a method name: use small letters, digits and hyphens, such as my-method.")
    plugins = load_plugins()
    if name in plugins.methods() or name in {plugin.origin.plugin for plugin in plugins.plugins()}:
        raise UsageError(f"The name {name!r} is taken; choose another. `aacbench plugins` lists the names in use.")
