"""Submissions that were written to cheat or to break the grader: tables of them, with what must not happen."""
