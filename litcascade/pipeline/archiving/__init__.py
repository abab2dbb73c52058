"""A run as one file that anyone can check, and the same run again out of that file, without a model."""
