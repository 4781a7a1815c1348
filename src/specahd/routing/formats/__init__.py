"""Readers and writers of instance and solution files.

A reader returns a plain structure, or raises a FileError of one sentence that
names the file, the field, and what is accepted there.
"""
