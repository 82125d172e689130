"""An attack on igsd: killed, raced, mutated, flooded and lied to. ``make torture`` runs it.

Each module has ``rows(attack)``, which yields one row per kind of attack: how often it was tried,
and what failed. An attempt fails if it ends in anything but the right result or a sentence.
"""
