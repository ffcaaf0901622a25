"""nbgrader's settings for this course: solutions/ is what instructors keep, exercises/ what learners get.

`nbgrader generate_assignment ID` makes the same notebook as `make notebooks` and notes its cells in gradebook.db;
with --no-db it leaves the gradebook alone. Collected answers go to submitted/STUDENT/ID/ID.ipynb; `nbgrader autograde
ID --create` runs them. A copy of this file works in any folder, with the Python that has gpulab.
"""

from gpulab.classroom import assignments

assignments.configure(get_config())  # noqa: F821 (nbgrader defines it)
