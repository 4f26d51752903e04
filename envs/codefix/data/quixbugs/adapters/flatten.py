from flatten import flatten


def flattened(arr):
    return list(flatten(arr))
