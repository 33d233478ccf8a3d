"""Where the entry points of the test plugins were. An editable install that was made before they moved looks here.

No part of the wheel.
"""
