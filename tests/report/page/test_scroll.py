from __future__ import annotations

from igsd.report.page.scroll import scroll_table


def test_the_box_can_be_reached_and_says_what_it_is() -> None:
    made = scroll_table(["a", "b"], [["<x>", 1]], "About <it>")
    assert 'class="scroll" tabindex="0" role="region" aria-label="About &lt;it&gt;"' in made
    assert '<td class="left">&lt;x&gt;</td><td>1</td>' in made
