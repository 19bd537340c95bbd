"""The report of `ragauge eval ner|types|linking|retrieval|qa|answers`, a file for each form.

`story` says what all tasks tell, and a noun for each task (`entities`, `labels`, `links`,
`rankings`, `answers`) what it has of its own: tables and errors that every form writes down alike.
The numbers of answers stand in `families`, their sentences beside their evidence in `support`.
"""
