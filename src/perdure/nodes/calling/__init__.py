"""What the `http` node is made of.

config      its configuration, and what is refused when it is saved
requests    from resolved values to method, URL, headers and bytes
responses   from bytes to a value, or to a failure with the status in it
auth        headers that say who calls
paging      the next page, and the one after it
"""
