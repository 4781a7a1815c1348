"""What is broken in specahd.core."""

ROWS = {
    "src/specahd/core/settings.py": [
        ("steps >= self.steps", "steps > self.steps", "tests/repair/test_measured.py::test_a_program_is_compiled_from_so_many_steps_on"),
    ],
    "src/specahd/core/budget.py": [
        ("self._taken += 1", "self._taken += 2", "tests/core/test_budget.py::test_tickets_are_exact_with_many_threads"),
        ("self._taken >= self.total", "self._taken > self.total", "tests/core/test_budget.py::test_a_refund_gives_the_ticket_back"),
        ("self._taken -= 1", "self._taken -= 0", "tests/core/test_budget.py::test_a_refund_gives_the_ticket_back"),
        ("self._refunds += refunds", "self._refunds += 0", "tests/core/test_budget.py::test_refunds_of_an_earlier_process_count_again"),
        ("self._auxiliary_calls += auxiliary", "self._auxiliary_calls += 1", "tests/core/test_budget.py::test_tokens_money_and_auxiliary_calls_add_up"),
        ("tokens >= self.tokens", "tokens > self.tokens", "tests/core/test_budget.py::test_a_bound_on_tokens_is_reached_by_prompt_and_completion_together"),
    ],
    "src/specahd/core/seeding.py": [
        ("[seed, *words]", "[0, *words]", "tests/core/test_seeding.py::test_another_seed_or_step_gives_another"),
        ("[seed, *words]", "[seed, *sorted(words)]", "tests/core/test_seeding.py::test_another_seed_or_step_gives_another"),
    ],
    "src/specahd/core/journal.py": [
        ("if self._known.popleft() != line:", "if not self._known.popleft():", "tests/core/test_journal.py::test_a_run_that_diverges_is_ended_and_the_file_left_as_it_was"),
        ("sort_keys=True", "sort_keys=False", "tests/core/test_journal.py::test_equal_records_are_equal_bytes"),
        ("keep = start + newline + 1", "keep = start + newline", "tests/core/test_journal.py::test_a_torn_end_is_cut_off_and_appending_goes_on"),
    ],
    "src/specahd/core/contract.py": [
        ("self.operator.name,\n            [[", "[[", "tests/search/test_replay.py::test_a_request_is_known_by_all_that_a_reply_depends_on"),
    ],
    "src/specahd/core/proposer.py": [
        ("self.prompt_tokens + other.prompt_tokens", "other.prompt_tokens", "tests/core/test_budget.py::test_what_two_replies_cost_adds_up_without_their_texts"),
    ],
}  # fmt: skip
