"""What the Responses API takes of messages and tools."""

from __future__ import annotations

from assembler.conversation.messages.shapes import MESSAGE, PARTS, Shape, declare_shape, fields_named

SHAPE = declare_shape(
    Shape(
        name="responses",
        named_by="type",
        shows_media=False,  # openai 3.54.0, ResponseOutputMessageParam
        is_form_of=lambda fields: fields.get("type") == "function" and "function" not in fields,
        summary="encrypted_content",
        summary_keeps_users=True,  # `/responses/compact` returns user messages before the summary
        known_fields={
            MESSAGE: fields_named(content=PARTS),
            "input_text": fields_named("text"),
            "output_text": fields_named("text annotations logprobs"),
            "summary_text": fields_named("text"),
            "reasoning_text": fields_named("text"),
            "refusal": fields_named("refusal"),
            "input_image": fields_named("image_url detail"),
            "input_file": fields_named("file_data file_url"),
            "input_audio": fields_named(input_audio=fields_named("data")),
            "reasoning": fields_named("encrypted_content reasoning text", summary=PARTS, content=PARTS),
            "function_call": fields_named("call_id name arguments"),
            "function_call_output": fields_named("call_id", output=PARTS),
            "custom_tool_call": fields_named("call_id name input"),
            "custom_tool_call_output": fields_named("call_id", output=PARTS),
            "apply_patch_call": fields_named("call_id operation"),
            "apply_patch_call_output": fields_named("call_id output"),
            "computer_call": fields_named("call_id action actions"),
            "computer_call_output": fields_named("call_id", output=fields_named("image_url")),
            "local_shell_call": fields_named("call_id action"),
            "local_shell_call_output": fields_named("call_id output"),
            "shell_call": fields_named("call_id action"),
            "shell_call_output": fields_named("call_id output"),
            "tool_search_call": fields_named("call_id arguments"),
            "tool_search_output": fields_named("call_id output tools"),
        },
    )
)
