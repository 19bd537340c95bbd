"""The reports about gold sets, a file for each kind; `console` writes any of them."""
