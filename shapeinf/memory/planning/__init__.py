"""Memory plans, the offset of each tensor in one arena: planners, files, and verification of any tool's plan."""

from typing import TYPE_CHECKING

from shapeinf.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from shapeinf.memory.planning.files import from_json as from_json
    from shapeinf.memory.planning.files import load_plan as load_plan
    from shapeinf.memory.planning.files import load_problem as load_problem
    from shapeinf.memory.planning.files import plan_from_csv as plan_from_csv
    from shapeinf.memory.planning.files import problem_from_csv as problem_from_csv
    from shapeinf.memory.planning.files import save_plan as save_plan
    from shapeinf.memory.planning.files import to_csv as to_csv
    from shapeinf.memory.planning.from_timeline import plan as plan
    from shapeinf.memory.planning.planners import PLANNERS as PLANNERS
    from shapeinf.memory.planning.planners import best as best
    from shapeinf.memory.planning.planners import best_fit as best_fit
    from shapeinf.memory.planning.planners import greedy_by_breadth as greedy_by_breadth
    from shapeinf.memory.planning.planners import greedy_by_size as greedy_by_size
    from shapeinf.memory.planning.planners import thorough as thorough
    from shapeinf.memory.planning.problem import Plan as Plan
    from shapeinf.memory.planning.problem import Problem as Problem
    from shapeinf.memory.planning.problem import Request as Request
    from shapeinf.memory.planning.problem import Slot as Slot
    from shapeinf.memory.planning.problem import Unplaced as Unplaced
    from shapeinf.memory.planning.verification import verify_plan as verify_plan

_MODULES = {
    "PLANNERS": "shapeinf.memory.planning.planners",
    "Plan": "shapeinf.memory.planning.problem",
    "Problem": "shapeinf.memory.planning.problem",
    "Request": "shapeinf.memory.planning.problem",
    "Slot": "shapeinf.memory.planning.problem",
    "Unplaced": "shapeinf.memory.planning.problem",
    "best": "shapeinf.memory.planning.planners",
    "best_fit": "shapeinf.memory.planning.planners",
    "from_json": "shapeinf.memory.planning.files",
    "greedy_by_breadth": "shapeinf.memory.planning.planners",
    "greedy_by_size": "shapeinf.memory.planning.planners",
    "load_plan": "shapeinf.memory.planning.files",
    "load_problem": "shapeinf.memory.planning.files",
    "plan": "shapeinf.memory.planning.from_timeline",
    "plan_from_csv": "shapeinf.memory.planning.files",
    "problem_from_csv": "shapeinf.memory.planning.files",
    "save_plan": "shapeinf.memory.planning.files",
    "thorough": "shapeinf.memory.planning.planners",
    "to_csv": "shapeinf.memory.planning.files",
    "verify_plan": "shapeinf.memory.planning.verification",
}
"""The module of each public name."""

if not TYPE_CHECKING:
    __all__ = list(_MODULES)
    __getattr__ = import_on_first_use(__name__, _MODULES)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
