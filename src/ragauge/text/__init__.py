"""Pure string work: canonical form, words, sentences, stems, overlap, citation lists."""
