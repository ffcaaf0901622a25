"""Getting the course to people: the learner's own copy, bundles for machines without a network, warm caches."""
