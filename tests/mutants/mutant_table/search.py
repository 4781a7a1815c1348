"""What is broken in specahd.search."""

ROWS = {
    "src/specahd/search/base.py": [
        ("return len(self.carried) > 1 and any(", "return any(", "tests/methods/test_mles.py::test_a_seed_program_and_one_of_the_run_are_a_population"),
        ("any(one.program.id not in own for one in self.carried)", "True", "tests/methods/test_reevo.py::test_two_seed_programs_are_no_population_and_the_better_is_the_elitist"),
    ],
    "src/specahd/search/engine.py": [
        ("room = self.lag - len(flight)", "room = self.lag - len(flight) + 1", "tests/search/test_engine.py::test_a_method_that_waits_is_asked_again_after_the_next_commit"),
        ("wanted < tickets", "wanted <= tickets", "tests/search/test_engine.py::test_a_round_takes_no_more_than_it_is_given"),
        ("if texts > TEXTS:", "if texts >= TEXTS:", "tests/search/test_engine.py::test_a_method_may_not_ask_for_texts_for_ever"),
        ("generator(self.seed, search.level, search.round, index)", "generator(self.seed, search.level, index)", "tests/search/test_repeating.py::test_rounds_and_levels_draw_otherwise"),
        ('search.round, request.index, "tell")', "search.round, request.index)", "tests/search/test_repeating.py::test_every_ask_and_tell_draws_from_a_generator_of_its_own"),
        ("sample.verdict = replace(sample.verdict, duplicate_of=None)", "pass", "tests/search/test_repeating.py::test_a_program_that_was_measured_was_new_even_if_its_verdict_was_lost"),
        ("if measured.retained:", "if measured.retained is not None:", "tests/search/test_repeating.py::test_a_program_that_fails_when_it_is_carried_over_leaves_the_method"),
        ("waiting = False\n            else:", "pass\n            else:", "tests/search/test_engine.py::test_a_method_that_waits_is_asked_again_after_the_next_commit"),
        ("self._learn(search, program, request.parents[0].program)", "self._learn(search, program, request.parents[-1].program)", "tests/search/test_repeating.py::test_a_record_compares_a_child_with_the_first_of_its_parents"),
        ("if sample.verdict.duplicate_of is not None:", "if False:", "tests/search/test_engine.py::test_tickets_are_exact_with_bad_replies_and_lost_requests"),
    ],
    "src/specahd/search/request_pool.py": [
        ("if not text:", "if text:", "tests/search/test_engine.py::test_tickets_are_exact_with_bad_replies_and_lost_requests"),
        ("attempt == REISSUES", "attempt == REISSUES - 1", "tests/search/test_engine.py::test_a_dead_service_stops_the_run"),
        ('"refunds": 0 if text else attempt', '"refunds": 0', "tests/search/test_repeating.py::test_the_log_of_replies_counts_refunds"),
    ],
    "src/specahd/search/replay.py": [
        ('if record.hash != request.hash:', "if False:", "tests/search/test_replay.py::test_another_request_than_was_paid_for_ends_the_run"),
        ('measured[record.round, record.program] = record', "measured[1, record.program] = record", "tests/search/test_replay.py::test_measurements_belong_to_a_round_and_a_program"),
        ('mean, record.selection_failed', "mean, 0", "tests/search/test_replay.py::test_how_each_candidate_did_on_selection_is_recalled"),
        ('mean = nan if record.selection is None', 'mean = 0.0 if record.selection is None', "tests/search/test_replay.py::test_how_each_candidate_did_on_selection_is_recalled"),
    ],
    "src/specahd/search/pending.py": [
        ("retained=evaluation.retained", "retained=True", "tests/search/test_engine.py::test_texts_take_no_tickets_and_are_told_in_their_turn"),
    ],
    "src/specahd/search/versions.py": [
        ("range(len(sources) + 1)", "range(1, len(sources) + 2)", "tests/search/test_versions.py::test_versions_ascend_and_the_last_is_a_head"),
        ("for earlier in names[:-1]", "for earlier in names[1:]", "tests/search/test_versions.py::test_the_first_has_the_contract_and_later_ones_what_they_improve"),
        ("        rules(contract),", '        \"\",', "tests/search/test_versions.py::test_rules_and_the_form_of_an_answer_are_told_and_the_task_is_not"),
    ],
}  # fmt: skip
