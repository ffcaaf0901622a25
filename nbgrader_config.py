"""nbgrader's settings for this course: solutions/ is what instructors keep, release/ what students get.

`nbgrader generate_assignment ID` makes the notebook of exercises/, with links that do not need the lessons beside it,
and notes its cells in gradebook.db; with --no-db it leaves the gradebook alone. If your students have the lessons, say
where: `assignments.configure(get_config(), lessons="../my-course/notebooks")`, or an address. Collected answers go to
submitted/STUDENT/ID/ID.ipynb; `nbgrader autograde ID --create` runs them. A copy of this file works in any folder, with
the Python that has gpulab.
"""

from gpulab.classroom import assignments

assignments.configure(get_config())  # noqa: F821 (nbgrader defines it)
