"""Speed and memory of igsd, as ratios against what one would use instead; ``make bench``."""
