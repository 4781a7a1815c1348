"""Interfaces of programs of the TSP."""

from specahd.core.interface import Interface, arguments

_DESCRIPTION = """Choose runs of the tour that are worth rebuilding.

    The first and the last node of a run are fixed; the nodes between them are
    put in a new order, one run after the other. A rebuilt run """
TOUR_SEGMENTS = Interface(
    name="select_tsp_segments",
    description=f"""{_DESCRIPTION}stays only if
    the tour gets shorter.""",
    dearer=_DESCRIPTION + "stays even if the tour gets longer.",
    arguments=arguments("""
    route: IntArray
        The incumbent: every node once, in the order of the tour, shape (n,).
        From the last node the tour returns to the first.
    coords: FloatMatrix
        Positions, shape (n, 2).
    distance_matrix: FloatMatrix
        Distances, shape (n, n), symmetric.
    max_segments: int
        Only the first ``max_segments`` valid runs are used.
    max_segment_size: int
        A run of more nodes is rejected, the fixed ends included.
    """),
    answer="Sequence[Sequence[int] | IntArray]",
    returns="""
    sequence of sequences of int
        Runs of nodes that follow each other in ``route``, in the order in
        which to repair them; a run may go on from the end of ``route`` to its
        beginning. A run of fewer than 4 nodes is rejected, and so is one that
        is not contiguous or overlaps an earlier run in more than a shared end.
    """,
    notes="All arrays are read-only. The answer must depend on the arguments alone.",
)
NEXT_NODE = Interface(
    name="select_next_node",
    description="""Choose the next node of a path that is rebuilt between two fixed ends.

    The path starts at node 0, visits every other node of the run once and ends
    at ``destination_node``. When the whole tour is rebuilt, both ends are the
    same place.""",
    arguments=arguments("""
    current_node: int
        Where the path has got to; 0 at first.
    destination_node: int
        Where the path will end: the last index of ``distance_matrix``.
    unvisited_nodes: IntArray
        Exactly the nodes that can be visited next, those between the ends that
        wait: one or more, ascending.
    distance_matrix: FloatMatrix
        Distances within the run, both ends included, symmetric.
    """),
    answer="int",
    returns="""
    int
        One of ``unvisited_nodes``; any other answer is replaced by the nearest
        of them.
    """,
    plans="list[int] | IntArray",
    plan="""
    Or several of these in order, as a list or an array of one dimension: a plan. It
    is followed without another call as long as its next entry is available by
    then; the rest is dropped, and the function is asked again from there. A
    function that looks further ahead than the next node should answer with its
    whole plan: else it plans again at every node and meets the limit of time. The
    first plan can hold the whole path, without its two ends.
    """,
    notes="""
    All arrays are read-only, and indices are local to the run, in the order of
    the nodes' numbers, whatever the order of the run was. The answer must depend
    on the arguments alone.
    """,
)
FROM_NOTHING = NEXT_NODE.changed(
    """
    current_node
        Where the tour has got to; 0 at first.
    destination_node
        Where the tour will end: the last index of ``distance_matrix``, whose
        row and column are those of node 0.
    unvisited_nodes
        Exactly the nodes that can be visited next, those that wait: one or more, ascending.
    distance_matrix
        Distances, shape (n + 1, n + 1), symmetric.
    """,
    description="""Choose the next node of a tour that is built from nothing.

    The tour starts at node 0, visits every other node once and ends at
    ``destination_node``, which is node 0 again.""",
    notes="""
    All arrays are read-only, and indices are those of the instance. The answer must
    depend on the arguments alone.
    """,
)
