"""Views of one `Summary`: each report is a pure function from it to a string, and `output` is the one writer."""
