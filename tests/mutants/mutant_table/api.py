"""What is broken in specahd.api."""

_UNITS = "tests/test_provenance.py"
_HOLDS = f"{_UNITS}::test_it_holds_every_option_that_decides_the_programs"
_CHANGES = f"{_UNITS}::test_what_changes_the_programs_changes_it"
_SAME = f"{_UNITS}::test_what_changes_no_program_does_not_change_it"

ROWS = {
    "src/specahd/api/provenance.py": [
        ('    ("search", "samplers"),', "", _SAME),
        ("{**_defaults(maker), **given}.items()", "given.items()", _HOLDS),
        ("{**maker.keywords, **given}", "{**given}", _CHANGES),
        ("if isfinite(value) else str(value)", "", f"{_UNITS}::test_an_option_of_any_kind_is_told_and_read_back"),
        ('getattr(maker, "check", maker)', "maker", _HOLDS),
        ("_digest(located(plan.given) / SUMS)", "str(plan.given)", f"{_UNITS}::test_a_given_repertoire_is_named_by_what_it_holds"),
    ],
}  # fmt: skip
