"""What a gain has to be measured against: estimators with the same contract as ``IGSD``."""
