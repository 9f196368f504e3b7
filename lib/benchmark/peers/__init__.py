"""SCALE-Sim and ZigZag beside the simulator, on the same layers."""
