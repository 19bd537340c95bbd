"""Numbers, dates, times and identifiers in text, in one form however they are written."""

from ragauge.quantities.quantity import Kind, Quantity, Reading
from ragauge.quantities.reading import quantities
from ragauge.quantities.support import Supply, stands_in, supply, unsupported

__all__ = [
    "Kind",
    "Quantity",
    "Reading",
    "Supply",
    "quantities",
    "stands_in",
    "supply",
    "unsupported",
]
