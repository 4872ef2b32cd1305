"""Which remedy helps: plans of runs, their execution and store, statistics, ranking, words."""
