"""Readers and writers of instance and solution files.

A reader returns a plain structure, or raises a FileError of one sentence with the
file, the field and the accepted values.
"""
