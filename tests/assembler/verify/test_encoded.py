"""Data that is not base64 is reported, and no form of base64 is."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from assembler import verify


def of_chat(url: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]}


def of_responses(url: str) -> dict[str, Any]:
    return {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": url}]}]}


def of_claude(data: Any) -> dict[str, Any]:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]}


def of_gemini(data: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": data}}]}]}


def in_url(write: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    return lambda data: write(f"data:image/png;base64,{data}")


APIS = {
    "openai_chat": ("O11", in_url(of_chat)),
    "openai_responses": ("R4", in_url(of_responses)),
    "anthropic": ("A18", of_claude),
    "gemini": ("G9", of_gemini),
}
RAW = bytes(range(256))
FORMS = {
    "standard": base64.b64encode(RAW).decode(),
    "of URLs": base64.urlsafe_b64encode(RAW).decode(),
    "without padding": base64.b64encode(RAW).decode().rstrip("="),
    "in lines": base64.encodebytes(RAW).decode(),
    "in lines of Windows": base64.encodebytes(RAW).decode().replace("\n", "\r\n"),
}


def rules_broken(dialect: str, request: dict[str, Any]) -> list[str]:
    return [found.rule for found in verify(request, dialect=dialect)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dialect", APIS)
def test_every_form_of_base64_is_accepted(dialect: str, form: str) -> None:
    _, write = APIS[dialect]
    assert rules_broken(dialect, write(FORMS[form])) == []


@pytest.mark.parametrize("data", ["", "[lost]", "YQ==YQ==", "data:image/png;base64,YQ=="])
@pytest.mark.parametrize("dialect", APIS)
def test_what_no_decoder_takes_breaks_the_rule_and_is_not_shown(dialect: str, data: str) -> None:
    rule, write = APIS[dialect]
    assert rules_broken(dialect, write(data)) == [rule]
    assert all(not data or data not in str(found) for found in verify(write(data), dialect=dialect))


@pytest.mark.parametrize(
    "url", ["https://a.example/b,c!", "data:image/svg+xml,%3Csvg%3E", "data:image/png;base64,YQ%3D%3D", "file-[1],2"]
)
def test_addresses_and_urls_of_which_nobody_says_who_takes_them_are_passed_over(url: str) -> None:
    assert rules_broken("openai_chat", of_chat(url)) == []
    assert rules_broken("openai_responses", of_responses(url)) == []
