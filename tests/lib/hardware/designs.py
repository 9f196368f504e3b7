"""The three designs of FAST's table 5 as resolved `datapath:` entries (sizes in bytes, Hz, bytes/s)."""

from schemas.hardware import HARDWARE_PRESETS

KIB, MIB = 2**10, 2**20

TPU_V3 = HARDWARE_PRESETS["tpu-v3"].given()
FAST_LARGE = HARDWARE_PRESETS["fast-large"].given()
FAST_SMALL = HARDWARE_PRESETS["fast-small"].given()
