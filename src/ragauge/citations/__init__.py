"""Citations taken apart and checked: pure functions of an answer and what was retrieved."""
