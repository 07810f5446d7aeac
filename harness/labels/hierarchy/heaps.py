"""Binary heaps in arrays, the least key first: of keys alone, and of keys with vertices beside them."""

from typing import Any

from aacbench.search.scratch import inline


@inline
def push(heap: Any, size: Any, key: Any) -> Any:
    """Add a key to a heap of so many; return how many there are now."""
    hole = size
    while hole > 0 and heap[(hole - 1) >> 1] > key:
        heap[hole] = heap[(hole - 1) >> 1]
        hole = (hole - 1) >> 1
    heap[hole] = key
    return size + 1


@inline
def pop(heap: Any, size: Any) -> Any:
    """Remove the first key; return how many are left."""
    size -= 1
    key, hole, child = heap[size], 0, 1
    while child < size:
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if heap[child] >= key:
            break
        heap[hole] = heap[child]
        hole, child = child, 2 * child + 1
    heap[hole] = key
    return size


@inline
def rise(keys: Any, whose: Any, hole: Any, key: Any, v: Any) -> None:
    """Put a key with its vertex into the heap, from its end upwards."""
    while hole > 0 and keys[(hole - 1) >> 1] > key:
        keys[hole], whose[hole] = keys[(hole - 1) >> 1], whose[(hole - 1) >> 1]
        hole = (hole - 1) >> 1
    keys[hole], whose[hole] = key, v


@inline
def sink(keys: Any, whose: Any, size: Any) -> None:
    """Move the last entry of the heap, at `size`, to the root and down from there."""
    key, v, hole, child = keys[size], whose[size], 0, 1
    while child < size:
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[hole], whose[hole] = keys[child], whose[child]
        hole, child = child, 2 * child + 1
    keys[hole], whose[hole] = key, v
