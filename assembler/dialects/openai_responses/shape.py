"""What the Responses API takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import MESSAGE, PARTS, Shape, declare_shape, known

SHAPE = declare_shape(
    Shape(
        name="responses",
        named_by="type",
        shows_media=False,  # openai 3.54.0, ResponseOutputMessageParam
        is_form_of=lambda fields: fields.get("type") == "function" and "function" not in fields,
        summary="encrypted_content",
        summary_keeps_users=True,  # `/responses/compact` returns user messages before the summary
        known_fields={
            MESSAGE: known(content=PARTS),
            "input_text": known("text"),
            "output_text": known("text annotations logprobs"),
            "summary_text": known("text"),
            "reasoning_text": known("text"),
            "refusal": known("refusal"),
            "input_image": known("image_url detail"),
            "input_file": known("file_data file_url"),
            "input_audio": known(input_audio=known("data")),
            "reasoning": known("encrypted_content reasoning text", summary=PARTS, content=PARTS),
            "function_call": known("call_id name arguments"),
            "function_call_output": known("call_id", output=PARTS),
            "custom_tool_call": known("call_id name input"),
            "custom_tool_call_output": known("call_id", output=PARTS),
            "apply_patch_call": known("call_id operation"),
            "apply_patch_call_output": known("call_id output"),
            "computer_call": known("call_id action actions"),
            "computer_call_output": known("call_id", output=known("image_url")),
            "local_shell_call": known("call_id action"),
            "local_shell_call_output": known("call_id output"),
            "shell_call": known("call_id action"),
            "shell_call_output": known("call_id output"),
            "tool_search_call": known("call_id arguments"),
            "tool_search_output": known("call_id output tools"),
        },
    )
)
