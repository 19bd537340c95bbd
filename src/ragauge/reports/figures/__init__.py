"""Pictures of reports: in characters for a terminal and Markdown, as SVG for pages."""
