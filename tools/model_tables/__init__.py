"""Published tables of models, read out of their wheels and settled into `budgets/models/models.json`."""
