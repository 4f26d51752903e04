from kheapsort import kheapsort


def kheapsorted(arr, k):
    return list(kheapsort(arr, k))
