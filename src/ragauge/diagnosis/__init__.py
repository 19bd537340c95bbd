"""From low scores to causes, actions and the questions that show them."""
