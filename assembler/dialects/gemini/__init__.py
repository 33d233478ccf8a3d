"""Google's Gemini API, and Vertex AI as a host of it."""
