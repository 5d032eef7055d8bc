"""Memory plans, the offset of each tensor in one arena: planners, files, and verification of any tool's plan."""

from shapeinf.memory.planning.files import (
    from_json,
    load_plan,
    load_problem,
    plan_from_csv,
    problem_from_csv,
    save_plan,
    to_csv,
)
from shapeinf.memory.planning.from_timeline import plan
from shapeinf.memory.planning.planners import PLANNERS, best, best_fit, greedy_by_breadth, greedy_by_size, thorough
from shapeinf.memory.planning.problem import Plan, Problem, Request, Slot, Unplaced
from shapeinf.memory.planning.verification import verify_plan

__all__ = [
    "PLANNERS",
    "Plan",
    "Problem",
    "Request",
    "Slot",
    "Unplaced",
    "best",
    "best_fit",
    "from_json",
    "greedy_by_breadth",
    "greedy_by_size",
    "load_plan",
    "load_problem",
    "plan",
    "plan_from_csv",
    "problem_from_csv",
    "save_plan",
    "thorough",
    "to_csv",
    "verify_plan",
]
