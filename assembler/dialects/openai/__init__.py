"""Code that OpenAI's two APIs share: framing, families of models, the text of tools."""
