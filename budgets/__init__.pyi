from budgets.budget import Budget as Budget
from budgets.context_length import ContextLengthError as ContextLengthError
from budgets.costs import RegionCosts as RegionCosts
from budgets.count import Count as Count
from budgets.count import Grade as Grade
from budgets.count import TokenCounter as TokenCounter
from budgets.count import Tokens as Tokens
from budgets.counters import *
from budgets.errors import AssemblyError as AssemblyError
from budgets.errors import BudgetError as BudgetError
from budgets.errors import MissingExtraError as MissingExtraError
from budgets.errors import TokenCountError as TokenCountError
from budgets.errors import UnknownModelError as UnknownModelError
from budgets.limit import Limit as Limit
