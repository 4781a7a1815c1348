"""What is broken in specahd.memory."""

ROWS = {
    "src/specahd/memory/partition.py": [
        ("STARTS, STEPS = 10, 300", "STARTS, STEPS = 1, 300", "tests/memory/test_partition.py::test_k_means_is_the_best_of_several_starts"),
        ("within < least", "within > least or least == np.inf", "tests/memory/test_partition.py::test_k_means_is_the_best_of_several_starts"),
        ("centres = moved", "pass", "tests/memory/test_partition.py::test_each_point_is_nearest_to_the_mean_of_its_own_cluster"),
    ],
    "src/specahd/memory/memory.py": [
        # The boundary of what counts as a duplicate.
        ("similarity[FUSED] >= self._threshold", "similarity[FUSED] > self._threshold", "tests/memory/test_novelty.py::test_a_similarity_of_exactly_the_threshold_makes_a_duplicate"),
        ("setdefault(normalised(program.source), program.id)", "setdefault(program.source, program.id)", "tests/memory/test_novelty.py::test_layout_and_local_names_do_not_make_a_program_new"),
        ("Verdict(same if same != program.id else near,", "Verdict(near,", "tests/memory/test_novelty.py::test_layout_and_local_names_do_not_make_a_program_new"),
        ("position = int(np.argmax(by_encoder[FUSED]))", "position = len(earlier) - 1 - int(np.argmax(by_encoder[FUSED][::-1]))", "tests/memory/test_structural.py::test_the_nearest_is_the_oldest_of_the_most_alike_and_the_verdict_names_it"),
        ("np.lexsort((-near, of_another))", "np.lexsort((near, of_another))", "tests/memory/test_memory.py::test_the_nearest_records_come_first_and_no_more_than_asked_for"),
        ("np.lexsort((-near, of_another))", "np.argsort(-near, kind='stable')", "tests/memory/test_memory.py::test_its_own_record_comes_first_even_if_newer_ones_are_as_near"),
        ("[: self._insertions]", "[: self._insertions + 1]", "tests/memory/test_memory.py::test_the_nearest_records_come_first_and_no_more_than_asked_for"),
        ("list(reversed(self._skills.values()))", "list(self._skills.values())", "tests/memory/test_memory.py::test_of_equally_near_records_the_newest_comes_first"),
        ("self._skills.pop(skill.program.id, None)", "pass", "tests/memory/test_memory.py::test_a_new_version_makes_a_record_the_newest"),
        ("known.version + 1 if known", "known.version if known", "tests/memory/test_memory.py::test_a_newer_version_takes_the_place_of_the_older"),
        ("if not by_id.keys() >= set(identifiers):", "if not by_id.keys() & set(identifiers):", "tests/memory/test_memory.py::test_a_record_that_does_not_come_again_ends_the_run"),
    ],
    "src/specahd/memory/similarity.py": [
        ("[places].round(DIGITS)", "[places]", "tests/memory/test_memory.py::test_similarities_have_six_decimals_by_encoder_and_together"),
        ("sum(found.values()) / len(found)", "next(iter(found.values()))", "tests/memory/test_structural.py::test_an_identical_tree_is_a_duplicate_whatever_its_idea tests/memory/test_memory.py::test_the_fused_similarity_is_the_mean_over_encoders"),
    ],
    "src/specahd/memory/skills.py": [
        ("effects.differences > TOLERANCE", "effects.differences > 0", "tests/memory/test_skills.py::test_rounding_noise_is_no_difference"),
        ("effects.differences < -TOLERANCE", "effects.differences < 0", "tests/memory/test_skills.py::test_rounding_noise_is_no_difference"),
        ("min(sides) < SIDE", "min(sides) <= SIDE", "tests/memory/test_skills.py::test_too_few_tasks_support_nothing"),
        ("values.std(ddof=1)", "values.std()", "tests/memory/test_skills.py::test_a_planted_condition_is_found_with_its_sign_and_size"),
        ("values[kind].mean() - values[~kind].mean()", "values[~kind].mean() - values[kind].mean()", "tests/memory/test_skills.py::test_a_planted_condition_is_found_with_its_sign_and_size"),
        ("LEVEL / (2 * trials)", "LEVEL / 2", "tests/memory/test_skills.py::test_noise_seldom_makes_a_statement"),
        ("max(float((weights**2).sum()), float((by_instance**2).sum()))", "float((weights**2).sum())", "tests/memory/test_skills.py::test_tasks_that_are_alike_in_all_are_no_more_than_one"),
        ("key=lambda condition: -abs(condition.effect)", "key=lambda condition: -condition.effect", "tests/memory/test_skills.py::test_the_statistics_are_those_of_a_slow_computation"),
        ("effects.differences.mean()", "np.median(effects.differences)", "tests/memory/test_skills.py::test_the_statistics_are_those_of_a_slow_computation"),
        ("helped=conditions(better, effects)", "helped=conditions(worse, effects)", "tests/memory/test_skills.py::test_a_planted_condition_is_found_with_its_sign_and_size"),
    ],
    "src/specahd/memory/normal_form.py": [
        ("abs(value) <= EXACT", "abs(value) < EXACT", "tests/memory/test_structural.py::test_small_integers_and_what_no_float_holds_have_bins_of_their_own"),
        ("negative=negative != isinstance(op, ast.Sub)", "negative=negative", "tests/memory/test_structural.py::test_the_syntax_view_sees_what_does_not"),
        ("ast.Gt: \"Lt\"", "ast.Gt: \"Gt\"", "tests/memory/test_structural.py::test_the_syntax_view_forgets_what_means_the_same"),
    ],
    "src/specahd/memory/views.py": [
        ("(*above[1 - LENGTH :],", "(*above[-LENGTH:],", "tests/memory/test_structural.py::test_a_path_has_at_most_three_nodes"),
        ('*(f"{word} {after}" for word, after in pairwise(words))', "", "tests/memory/test_structural.py::test_an_idea_is_its_words_and_their_pairs"),
    ],
    "src/specahd/memory/novelty.py": [
        ('f"v{len(assigned)}"', '"v"', "tests/memory/test_novelty.py::test_another_tree_is_new"),
        ("names = [argument.arg for argument in node.args.args]", "names = []", "tests/memory/test_novelty.py::test_layout_and_local_names_do_not_make_a_program_new"),
    ],
}  # fmt: skip
