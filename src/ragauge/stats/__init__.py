"""Pure numbers: intervals of shares, of any metric, and of a change."""
