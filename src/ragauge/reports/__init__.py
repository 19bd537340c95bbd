"""A report in the form its reader wants: a folder for each kind of report, shared parts beside."""
