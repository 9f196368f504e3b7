"""What Tilewright does: one package a stage of the data flow."""

from pathlib import Path

from lib.compiled_code import keep_compiled_code

keep_compiled_code(Path(__file__).parents[1] / ".cache" / "numba")
