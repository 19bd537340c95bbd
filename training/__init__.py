"""How the shipped coefficients were made: `python -m training.groundedness DATA`."""
