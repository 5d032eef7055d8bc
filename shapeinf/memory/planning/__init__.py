"""Where each tensor lies in one arena: planners, their files, and whether a plan of any tool is true."""

from shapeinf.memory.planning.files import load_plan, load_problem, save_plan
from shapeinf.memory.planning.from_timeline import plan
from shapeinf.memory.planning.json_form import from_json, to_json
from shapeinf.memory.planning.minimalloc import plan_from_csv, problem_from_csv, to_csv
from shapeinf.memory.planning.planners import PLANNERS, best, best_fit, greedy_by_breadth, greedy_by_size, thorough
from shapeinf.memory.planning.problem import Plan, Problem, Request, Slot, Unplaced
from shapeinf.memory.planning.verification import PlanFinding, verify_plan

__all__ = [
    "PLANNERS",
    "Plan",
    "PlanFinding",
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
    "to_json",
    "verify_plan",
]
