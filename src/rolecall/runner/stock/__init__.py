"""Starts `ansible-playbook` anew for each run: always available, the reference for correctness."""

from rolecall.runner.stock.runner import StockRunner

__all__ = ["StockRunner"]
