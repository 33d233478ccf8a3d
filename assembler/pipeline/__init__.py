"""The way of a request: choose, measure, fit, emit. One function a stage, values in, values out."""
