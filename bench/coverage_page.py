def page(kept):
    return str(len(kept["figures"]))
