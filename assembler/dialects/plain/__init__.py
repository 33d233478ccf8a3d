"""No API: texts alone, without framing."""
