"""Kinds of reports, a file each: the function `document` turns a report into blocks.

A kind that can be a spreadsheet has `table`, which gives its columns and rows.
"""
