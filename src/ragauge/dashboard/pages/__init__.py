"""The pages, a module each: from what the history holds to a page that can be mounted."""
