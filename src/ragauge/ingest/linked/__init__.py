"""Mentions, their links, and the knowledge bases they lead to."""
