"""A batch function that looks at how its arrays come: order, type, shape and whether two are one."""


def many(arrays, us, t):
    """A number that differs if anything of that does."""
    seen = sum(len(str((name, a.dtype, a.shape, a.flags.c_contiguous))) for name, a in arrays.items())
    one = arrays["one"] is arrays["same"] or arrays["one"].ctypes.data == arrays["same"].ctypes.data
    return arrays["turned"][us, 0] + arrays["stepped"][us] + arrays["point"] + seen + one
