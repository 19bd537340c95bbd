"""The report of `ragauge eval ner|types|linking|retrieval`, a file for each form.

`story` says what all tasks tell, and a noun for each task (`entities`, `labels`, `links`,
`rankings`) what it has of its own: tables and errors that every form writes down alike.
"""
