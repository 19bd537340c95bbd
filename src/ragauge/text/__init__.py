"""Pure string work: canonical form, refusals, citation lists."""
