"""Numbers, dates, times and identifiers in text, in a normal form."""

from ragauge.quantities.quantity import Kind, Quantity, Reading
from ragauge.quantities.reading import quantities
from ragauge.quantities.support import Supply, is_supported, supply, unsupported

__all__ = [
    "Kind",
    "Quantity",
    "Reading",
    "Supply",
    "is_supported",
    "quantities",
    "supply",
    "unsupported",
]
