"""Refusals: an answer that is the refusal token, nearly the token, or says so in other words."""
