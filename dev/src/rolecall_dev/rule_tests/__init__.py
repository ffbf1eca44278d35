"""Tests of rule tables: states, and what the rules of a role say in each, without a cluster."""

from rolecall_dev.rule_tests.cases import CASES_FILE, RoleCases, RuleCase, read_cases
from rolecall_dev.rule_tests.trial import RuleReport, try_rules

__all__ = ["CASES_FILE", "RoleCases", "RuleCase", "RuleReport", "read_cases", "try_rules"]
