"""What labels datasets and verifies autotuners: devices that are measured, and recorded measurements."""
