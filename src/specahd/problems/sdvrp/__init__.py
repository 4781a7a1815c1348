"""The split-delivery vehicle routing problem.

Nothing is imported here: the sandbox child reads ``construct`` from this
package and must not pay for what the trusted side needs.
"""
