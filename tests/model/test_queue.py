from __future__ import annotations

import torch

from igsd.model.queue import KeyQueue


def test_new_keys_take_the_place_of_the_oldest() -> None:
    queue = KeyQueue(5, 2)
    start = queue.keys.clone()
    torch.testing.assert_close(start.norm(dim=1), torch.ones(5))
    first, second = torch.full((3, 2), 1.0), torch.arange(8.0).view(4, 2)
    queue.push(first)
    torch.testing.assert_close(queue.keys, torch.cat([first, start[3:]]))
    queue.push(second)
    torch.testing.assert_close(queue.keys, torch.cat([second[2:], first[2:], second[:2]]))
    assert queue.place.item() == 2


def test_more_keys_than_places_leave_the_last() -> None:
    queue = KeyQueue(3, 1)
    queue.push(torch.arange(7.0).view(7, 1))
    assert sorted(queue.keys.flatten().tolist()) == [4.0, 5.0, 6.0]


def test_a_copy_of_the_state_goes_on_alike() -> None:
    queue, other = KeyQueue(4, 2), KeyQueue(4, 2)
    queue.push(torch.ones(3, 2))
    other.load_state_dict(queue.state_dict())
    for each in (queue, other):
        each.push(torch.zeros(2, 2))
    torch.testing.assert_close(queue.keys, other.keys)
