"""The words of Drift documents: fields, node types, versions. The seed's wording and the original's are both read."""

from __future__ import annotations

WORKFLOW_FIELDS = frozenset(
    {
        "id", "name", "description", "comment", "startNode", "version", "defaultFailureNode", "states",
        "postWorkflowCompletionNodes",
    }
)  # fmt: skip
STATE_FIELDS = frozenset(
    {
        "instanceName", "nextNode", "version", "comment", "resourceId", "resourceVersion", "type", "parameters", "end",
        "contextOverrideKey", "nodeDefinition", "name", "description",
    }
)  # fmt: skip
DEFINITION_FIELDS = frozenset({"id", "name", "type", "parameters", "version", "comment", "description"})

NODE, SUBWORKFLOW = "NODE", "SUBWORKFLOW"

HTTP, GROOVY, BRANCH, INSTRUCTION, PROCESSOR = "HTTP", "GROOVY", "BRANCH", "INSTRUCTION", "PROCESSOR"
SUCCESS, FAILURE, WAIT, CHILD = "SUCCESS", "FAILURE", "WAIT", "CHILD"
CONTEXT_OVERRIDE, DELEGATE = "CONTEXT_OVERRIDE", "DELEGATE"

FIELDS_BY_TYPE: dict[str, frozenset[str]] = {
    HTTP: frozenset({"httpComponents", "transformerComponents"}),
    GROOVY: frozenset({"transformer", "transformerComponents", "script", "scriptType", "language"}),
    BRANCH: frozenset({"choices", "defaultNode", "script", "scriptType", "language"}),
    INSTRUCTION: frozenset({"inputOptions", "instruction", "disposition", "workflowStatus", "layoutId"}),
    PROCESSOR: frozenset({"processorComponents", "transformerComponents", "instructionNodeRef"}),
    SUCCESS: frozenset({"message", "status", "comment", "executionMode"}),
    FAILURE: frozenset({"message", "errorCode", "error"}),
    WAIT: frozenset({"config"}),
    CHILD: frozenset({"executionMode", "childWorkflowId", "childWorkflowVersion"}),
    CONTEXT_OVERRIDE: frozenset({"transformerComponents", "transformer", "script", "scriptType", "language"}),
    DELEGATE: frozenset(),
}
"""What a node definition of a type may have besides the fields that all have."""

HTTP_FIELDS = frozenset({"url", "headers", "queryParams", "body", "method", "contentType", "targetClientId"})
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS")
SCHEDULER_WAIT, ABSOLUTE_WAIT, ON_EVENT = "SCHEDULER_WAIT", "ABSOLUTE_WAIT", "ON_EVENT"
WAITS = (SCHEDULER_WAIT, ABSOLUTE_WAIT, ON_EVENT)
SYNC, ASYNC = "SYNC", "ASYNC"

LINKED = "$linked"
"""In a linked document, beside a node definition that was put in from the store: what it is called there."""

FOR_PEOPLE = frozenset({"comment", "description", "name", "version"})
"""Fields of workflows, states and node definitions that change nothing. (`comment` of a SUCCESS is its message.)"""
