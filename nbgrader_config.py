"""nbgrader's settings for this course: solutions/ is what instructors keep, exercises/ what learners get.

`nbgrader generate_assignment ID` makes the same notebook as `make notebooks` and notes its cells in gradebook.db;
with --no-db it leaves the gradebook alone. Collected answers go to submitted/STUDENT/ID/ID.ipynb; `nbgrader autograde
ID --create` runs them.
"""

import sys
from pathlib import Path

from nbgrader.preprocessors import ClearHiddenTests, SaveCells

sys.path.insert(0, str(Path(__file__).resolve().parent / "course"))

from nbgrader_stubs import PREPROCESSORS  # found by the line above

c = get_config()  # noqa: F821 (nbgrader defines it)

c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
# SaveCells needs checksums, and has to come before hidden tests are taken out.
before = PREPROCESSORS.index(ClearHiddenTests)
c.GenerateAssignment.preprocessors = [*PREPROCESSORS[:before], SaveCells, *PREPROCESSORS[before:]]
c.Execute.timeout = 300
