"""Summaries of many result files, kept between commands so that each file is read once."""
