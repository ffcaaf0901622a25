"""nbgrader's settings for this course: solutions/ is what instructors keep, exercises/ what learners get.

`nbgrader generate_assignment ID` makes the same notebook as `make notebooks`. Collected answers go to
submitted/STUDENT/ID/ID.ipynb; `nbgrader autograde ID` runs them.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "course"))

from nbgrader_stubs import PREPROCESSORS  # found by the line above

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.GenerateAssignment.preprocessors = PREPROCESSORS
c.GenerateAssignment.no_database = True
c.SaveCells.enabled = False
c.Execute.timeout = 300
