"""The reference pages that are made from code: one module a page, each a function that returns its text."""
