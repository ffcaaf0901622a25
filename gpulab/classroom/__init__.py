"""A class: from a folder of submissions to points, feedback and tables.

A run goes through these pieces, each of which knows only those before it:

    reading       files of strangers: folders and zips, without following links, with limits
    notebook      the answer cell of a notebook
    submissions   layouts of folders: who handed in what for which exercise (`Submission`)
    points        what an answer is worth, by criterion (`Scheme`)
    store         results that outlive a kill and a full disk
    jobs          one grading as plain data (`Job`), and what a worker does with it
    pool          where jobs run: one process, Dask's local cluster, or an existing scheduler
    results       one row for each student and exercise (`GradedExercise`), put together from submissions and verdicts
    tables, learning, gradebook, feedback, similar, overview, dashboard
                  what is written and shown
    command       ``gpulab grade`` and ``gpulab report``

No Python of a student runs. What a submission holds is text until the jail of `gpulab.grading` has it.
"""
