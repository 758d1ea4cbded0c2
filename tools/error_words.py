"""What each code means and what to do about it. `error_page.py` wants words for every code, and no others."""

from __future__ import annotations

Words = tuple[str, str]
"""Meaning, remedy."""

ERRORS: dict[str, Words] = {
    "INTERNAL": ("The root of the tree; over HTTP, a mistake of ours.", "See the log of the server, and report it."),
    "CALLER": ("The kind of errors that the caller can mend.", "Never given itself."),
    "INVALID_INPUT": (
        "A value that is not allowed here: NaN, a NUL character, an unknown field, an input that the schema refuses.",
        "`pointer` says where, `expected` what would be right.",
    ),
    "DOCUMENT_INVALID": (
        "A document with mistakes was not saved. `problems` lists all of them.",
        "See [problems of documents](#problems-of-documents).",
    ),
    "NOT_JSON": ("The body of a request is not called JSON.", "Send `Content-Type: application/json`."),
    "FORBIDDEN": (
        "The request came by another name than localhost, or from a page of another site.",
        "Call the server as 127.0.0.1, from this machine. Put a proxy that authenticates before it for others.",
    ),
    "NOT_FOUND": (
        "There is no such run, definition or version in this namespace.",
        "Check the name and the namespace.",
    ),
    "NOT_INSTALLED": (
        "This process lacks a step or node type that the definition needs. A run that comes to it waits for another.",
        "Ask a process that has it; or register the step, install the package, update this process.",
    ),
    "CONFLICT": ("The kind of errors where a request contradicts what is already so.", "Never given itself."),
    "ILLEGAL_COMMAND": (
        "The status of the run does not allow it, such as a signal for one that has ended.",
        "See [which command is allowed when](../explanation/states.md).",
    ),
    "KEY_REUSED": (
        "A start or a signal with the idempotency key of another one, and other content.",
        "Use a key of its own for each thing that is to happen once.",
    ),
    "TASK_CLOSED": (
        "A task for a person was answered before, and not like this; or its time was up, or it was withdrawn.",
        "Look at the run: it has gone on. The same answer again, with the same request id, is answered the same.",
    ),
    "TOKEN_INVALID": ("A token for a task that is none of ours, or was changed.", "Ask for a new one."),
    "TOKEN_EXPIRED": ("A token for a task that was good until a moment that has passed.", "Ask for a new one."),
    "DRAFT_CHANGED": ("Somebody else has saved the draft in between.", "Read it again, and apply the change to that."),
    "TOO_MUCH": (
        "Larger than a published limit.",
        "See [sizes](settings.md#fixed-sizes) and [limits](settings.md#limits).",
    ),
    "TOO_SLOW": (
        "A request did not come in time; or a workflow that `app.drift` started goes on: see `workflowId`, `status`.",
        "Send it in one go, or raise `request_seconds`. Of a workflow, ask for the state, or give another `wait`.",
    ),
    "BUSY": (
        "The process has all the runs that it may hold, or the run all the commands; or the process is closing.",
        "Repeat the same call later. Raise `max_runs`, or add a process.",
    ),
    "EXPRESSION": ("The kind of errors in expressions and templates.", "Never given itself."),
    "EXPRESSION_SYNTAX": ("The text cannot be compiled.", "`line` and `column` say where it ceases to make sense."),
    "EXPRESSION_FAILED": (
        "Wrong types, division by zero, a result that is not a finite number.",
        "Convert with `int`, `float`, `str`; ask with `??` or `exists`.",
    ),
    "VALUE_MISSING": (
        "A path leads nowhere.",
        "Mend the path; ask with `??` or `?.`; or set `missing` to `lenient` for templates.",
    ),
    "EXPRESSION_LIMIT": (
        "It would take more steps, items or bytes than it may.",
        "Do it in several nodes, in a loop, or in a Python step.",
    ),
    "REFERENCE_CYCLE": ("Definitions need one another in a circle.", "Break the circle; `cycle` names its members."),
    "RUN_ENDED": (
        "The result was asked for of a run that ended as FAILED, CANCELLED or TIMED_OUT. `failure` says why.",
        "Remove the cause, then `retry` the run or start another.",
    ),
    "STORE": (
        "The database refused in a way that has no code of its own.",
        "The message has the words of the database.",
    ),
    "STORE_UNAVAILABLE": (
        "The database cannot be reached or did not answer in time, or this process has no lease at the moment.",
        "Repeat the same call; with an idempotency key nothing happens twice.",
    ),
    "COMMIT_UNKNOWN": (
        "The connection was lost while something was committed; whether it was is not known.",
        "Repeat the same call with the same idempotency key.",
    ),
    "STORE_FULL": (
        "The disk of the database is full. What was refused is not written.",
        "Make room, then repeat the call.",
    ),
    "STORE_LOCKED": (
        "Another process has this SQLite file open; the message says which.",
        "Stop that one, use another file, or use PostgreSQL.",
    ),
    "SCHEMA_MISMATCH": (
        "The database is newer than this program, or older where it must not be brought up to date.",
        "Start the newer program, or `perdure migrate`.",
    ),
    "HISTORY_UNREADABLE": (
        "A log has a gap, or an event that this program cannot read. The run is set aside; others go on.",
        "Was it written by a newer program? Otherwise run `perdure fsck`, and restore a backup.",
    ),
    "SETTINGS_INVALID": ("A setting is wrong; nothing was started.", "See [settings](settings.md)."),
    "INVARIANT_BROKEN": (
        "A mistake in Perdure. The run is set aside as it was.",
        "Report it, with the log of the run.",
    ),
}

FAILURES: dict[str, Words] = {
    "NODE_FAILED": (
        "A step raised an exception; `details.exception` names its class.",
        "Give the node a `retry`; raise `ActivationError` with a code of your own.",
    ),
    "TIMEOUT": (
        "An attempt took longer than the node's `timeout`. It may have acted all the same.",
        "A longer `timeout`, a `retry`, an edge with the outcome `timeout`.",
    ),
    "OUTPUT_INVALID": (
        "What a step returned is not JSON; `details.pointer` says where.",
        "Return null, numbers, text, lists, objects.",
    ),
    "OUTCOME_UNDECLARED": (
        "A step chose an outcome that is neither in its `outcomes` nor on one of its edges.",
        "Declare it, or draw the edge.",
    ),
    "OUTCOME_UNKNOWN": (
        "The worker of an `at_most_once` node died or was closed meanwhile. It may have acted, and is not repeated.",
        "Look outside whether it did; take care of it with an `error` edge.",
    ),
    "WORKER_DIED": (
        "So many workers died on it that it is set aside (limit `deliveries`).",
        "Look for a step that ends its process: memory, `os._exit`, a crash in native code.",
    ),
    "NODE_UNKNOWN": (
        "There is no handler for this type of node (on Temporal; elsewhere the run waits for a worker that has one).",
        "Update the worker, or register the type.",
    ),
    "NOT_HERE": ("A node of this type cannot do this in this place.", "The message says which; use another type."),
    "CHILD_FAILED": (
        "A child did not complete, or could not be started. Tried again unless it was cancelled.",
        "See the failure of the child, in `details.failure`.",
    ),
    "SIGNAL_TIMEOUT": ("The awaited signal did not come in time.", "Draw an edge with the outcome `timeout`."),
    "TASK_TIMEOUT": ("Nobody answered a task in time.", "Draw an edge with the outcome `timeout`."),
    "CANCELLED": ("The run was cancelled; the message is the reason that was given.", "Start another."),
    "TOO_MANY_ERRORS": (
        "More failures in a row were taken care of than `max_errors`; `details` has the `first` and the `last`.",
        "Look for a cycle that fails again and again.",
    ),
    "LIMIT_ACTIVATIONS": (
        "The run would execute more nodes than it may.",
        "Is it an endless cycle? Else raise the limit.",
    ),
    "LIMIT_ITERATIONS": (
        "A loop has more items than the run, or the loop's `max_iterations`, allows.",
        "Fewer items, several runs, or a higher limit.",
    ),
    "LIMIT_DEPTH": ("Loops and groups are nested too deeply.", "Put the inner part into a sub-flow."),
    "LIMIT_CHILD_DEPTH": ("Children of children of children: too many generations.", "Does a flow call itself?"),
    "LIMIT_DATA": (
        "The nodes of the run have given more data than it may hold.",
        "Keep large data outside; hand on references.",
    ),
    "LIMIT_ACCUMULATOR": ("The results of a loop are too large.", "Set its `accumulate` to `last` or `none`."),
    "LIMIT_ACTIVE_TIME": (
        "Steps of the run have been executing for too long in all. The run ends as TIMED_OUT.",
        "Shorter steps, or a higher limit. Sleeping and waiting does not count.",
    ),
    "INVARIANT_BROKEN": ("A mistake in Perdure, met while this result was being decided.", "Report it."),
    "KEY_REUSED": (
        "Inside a CHILD_FAILED: another run was started with the key that belongs to the child.",
        "Do not start runs with the keys of activations.",
    ),
    "FAILED": ("A `fail` node without a code of its own.", "Give it a `code`."),
    "BRANCH_NO_WAY": (
        "No choice of a branch is true and it has no default; or its code names a way that there is not.",
        "Give it a default, or correct the rule. The failure names what was chosen.",
    ),
    "CONDITION_NOT_BOOLEAN": ("The condition is neither true nor false.", "Compare: `x != null`, `len(list) > 0`."),
    "LOOP_ITEMS_INVALID": (
        "What should be looped over is no list, or `need` or a range is no number.",
        "Mend the expression.",
    ),
    "DEFINITION_INVALID": ("The id of the flow to call is no text.", "Mend the template."),
    "DURATION_INVALID": ("A computed duration is none.", "Give seconds, or text such as `30s`."),
    "VIEW_INVALID": (
        "What was made for a person to see is no view, or a time of the task is none.",
        "Look at the place that the message names, and at what its template or script gave.",
    ),
    "SLEEP_INVALID": (
        "A computed duration, date or time zone is none.",
        "Durations as `2d`, dates in ISO 8601, zones by IANA name.",
    ),
    "SIGNAL_NAME_INVALID": ("The computed name of a signal is no text of 1 to 256 characters.", "Mend the template."),
    "ARGUMENTS_INVALID": ("The computed arguments of a step are no object.", "Give an object: name to value."),
    "ARRAY_INVALID": (
        "The list, or an item of it, is not as it must be; `details` says where.",
        "Mend the data, or loosen the check.",
    ),
    "TRANSFORM_INVALID": (
        "An operation does not suit the data; `details.operation` is its number, from 0.",
        "Give a `default`, or mend the path.",
    ),
    "SET_INVALID": (
        "A value cannot be put where its name says: something else than an object is in the way.",
        "Choose another name.",
    ),
    "CONFIG_UNSUITABLE": (
        "What the templates of a node give is not what its type, one of a plug-in, takes.",
        "`pointer` says which field; mend the template.",
    ),
    "CSV_INVALID": (
        "The data makes no table: it is no list, its rows are of different kinds, or have too many keys.",
        "Give a list of objects, or of lists; name the columns.",
    ),
    "LIFECYCLE_UNAVAILABLE": (
        "A node that triggers a lifecycle; this release has none.",
        "Leave the node out until there are lifecycles.",
    ),
    "MERGE_INVALID": (
        "What should be merged is no object, or has no place to go; or the branches do not suit the mode.",
        "Give objects; name the branches that are meant.",
    ),
    "RATE_INVALID": ("The computed key, rate or time of a rate limit is none.", "Mend the template."),
    "RATE_LIMITED": (
        "More than the rate limit allows, and this one may not wait, or not so long.",
        "Try again later (`retry_after_ms`); let it wait; raise the rate.",
    ),
    "REPLY_TWICE": ("A run answers a second time.", "Answer once, or say `again: ignore`."),
    "REPLY_INVALID": ("The computed status or a header of an answer is none.", "Mend the template."),
    "SWITCH_NO_ROUTE": (
        "No case of a switch holds, or the computed outcome is none of its ways.",
        "Give it a default, or an `error` edge.",
    ),
    "EVENT_INVALID": ("The computed type or key of an event is no text, or empty.", "Mend the template."),
    "SCRIPT_SYNTAX": (
        "A script that the sandbox cannot read. Most of it is told when the flow is saved.",
        "`details.line` says where.",
    ),
    "SCRIPT_NAME": ("A script reads a variable that nobody has set.", "Set it, or correct the name."),
    "SCRIPT_RUNTIME": (
        "An error while a script ran: `details.exception`, at `details.line`.",
        "Mend the script, or what it is given.",
    ),
    "SCRIPT_LIMIT": (
        "A script took too much: `details.limit` is `time`, `memory`, `output` or `depth`.",
        "Let it do less, or raise its limits.",
    ),
    "SCRIPT_CRASHED": (
        "The worker process died under the script: killed, or out of memory.",
        "It is tried again in another. If it happens with one script only, look at that.",
    ),
    "SCRIPT_OUTCOME": (
        "A script that chooses gave none of its `outcomes`.",
        "Give one of their names, or {outcome, output}.",
    ),
    "MAIL_INVALID": (
        "What a mail was to be made of is not fit for one: no address, a line break in a header, too many bytes.",
        "The message names the field; mend the template or the data.",
    ),
    "MAIL_NOT_CONFIGURED": (
        "No mail server, or no sender, is configured. `details.remedy` names the setting.",
        "Set it, then `retry` the run. A program passes its settings on: `Perdure.open(settings=load_settings())`.",
    ),
    "MAIL_UNREACHABLE": (
        "The mail server cannot be reached, or not safely. Tried again.",
        "Look at the server and at `smtp_url`; when it is back, `retry` the run.",
    ),
    "MAIL_DEFERRED": (
        "The mail server put it off, for all recipients or for `details.deferred`. Tried again, for these alone.",
        "Greylisting passes; a full mailbox may not. `retry` the run later.",
    ),
    "MAIL_REJECTED": (
        "The mail server refused it for good; `details.code` and the message are the server's.",
        "Mend the address, the sender or the password, then `retry` the run.",
    ),
    "SLACK_INVALID": ("The computed text, blocks or channel is not fit to be posted.", "Mend the template."),
    "SLACK_NOT_CONFIGURED": (
        "There is no secret of the name that stands for the webhook or the token.",
        "Set it, then `retry` the run.",
    ),
    "SLACK_UNAVAILABLE": ("Slack asked to wait, or had a fault of its own. Tried again.", "Later, `retry` the run."),
    "SLACK_REJECTED": (
        "Slack refused the message; `details.answer` is what it said.",
        "Mend the webhook, the token or the channel.",
    ),
    "MESSAGE_INVALID": ("The computed type of a message is no text.", "Mend the template."),
    "EGRESS_REFUSED": (
        "A call to an address that is not public, or to a port of another protocol. `details` name host and kind.",
        "Call the public address; or let the operator allow the host (`http_allow`).",
    ),
    "HTTP_URL_INVALID": (
        "A URL that cannot be called: not http or https, no host, a user name, `..` in its path.",
        "Look at what its placeholders have put into it.",
    ),
    "HTTP_REQUEST_INVALID": (
        "A header, query or body that cannot be sent, such as a header with a line break.",
        "The message names it.",
    ),
    "HTTP_UNREACHABLE": (
        "No connection: the name is not known, nobody listens, or nobody answered in time.",
        "Check the host; a `retry` helps if it comes back.",
    ),
    "HTTP_DROPPED": (
        "The connection broke before the response was there. The call may have had its effect.",
        "A `retry`: it carries the same Idempotency-Key.",
    ),
    "HTTP_TLS": (
        "The certificate of the server is expired, is for another name, or is signed by nobody we know.",
        "Mend the certificate. It cannot be ignored.",
    ),
    "HTTP_STATUS": (
        "A status that was not expected; `details` has `status`, `url`, `method` and `body`.",
        "408, 425, 429 and 5xx are tried again. For others: `ok`, or an edge with the outcome `error`.",
    ),
    "HTTP_REDIRECT_REFUSED": (
        "A redirect to http from https, to something that is no URL, too many, or one that would give a secret away.",
        "Call where it leads.",
    ),
    "HTTP_TOO_LARGE": (
        "The response, unpacked, is larger than `max_bytes` or the operator allow; or there are too many pages.",
        "Ask for less; or raise `max_bytes`, up to `http_response_bytes`.",
    ),
    "HTTP_RESPONSE_INVALID": (
        "A response that is no HTTP, is packed in an unknown way, is no JSON, or does not fit `response_schema`.",
        "The message says what; `details.pointer` where in the body.",
    ),
    "HTTP_AUTH_FAILED": (
        "No token for the call: its server refused or could not be reached, or there is no client of this name.",
        "`details` has its status or code. Look at the client, its secret and `http_clients`.",
    ),
}

READING: dict[str, Words] = {
    "TOO_LARGE": ("More bytes than a document may have.", "Split it; put large data elsewhere."),
    "TOO_DEEP": ("Lists and objects are nested too deeply.", "Flatten it."),
    "NOT_UTF8": ("The bytes are no UTF-8.", "Save it as UTF-8."),
    "NOT_JSON": ("The text is no JSON; `line` and `column` say where.", "Mend it there, or just before."),
    "NOT_OBJECT": ("The whole is no JSON object.", "Begin with `{`."),
    "KEY_TWICE": ("An object has the same key twice.", "Remove one of them."),
    "TEXT_NUL": ("A text holds the character NUL.", "Remove it."),
    "TEXT_SURROGATE": ("A text holds half of a surrogate pair.", "Write the whole character."),
    "NUMBER_RANGE": ("A number does not fit into 64 bits.", "Write it as text."),
    "NUMBER_INVALID": ("NaN and the infinities are no JSON.", "Write null, or text."),
}

PROBLEMS: dict[str, Words] = {
    "LIFECYCLE_UNAVAILABLE": (
        "A node of a type that needs lifecycles, which this release does not have.",
        "Leave the node out until then.",
    ),
    "FIELD_MISSING": ("A required field is missing.", "Add it."),
    "FIELD_UNKNOWN": ("There is no such field; `expected` lists those that there are.", "Correct its name."),
    "FIELD_TYPE": ("A value of the wrong type.", "`expected` says which."),
    "FIELD_RANGE": ("A value that is too small, too large, too short or too long.", "`expected` says what is allowed."),
    "FIELD_VALUE": ("A value of the right type that is not one of those allowed.", "`expected` lists them."),
    "CONFIG_MISSING": ("A required field of a node's `config` is missing.", "See the page of the node type."),
    "CONFIG_UNKNOWN": ("The `config` of this node type has no such field.", "See the page of the node type."),
    "CONFIG_TYPE": ("A value in `config` of the wrong type.", "`expected` says which."),
    "CONFIG_RANGE": ("A value in `config` that is too small or too large.", "`expected` says what is allowed."),
    "CONFIG_VALUE": (
        "A `config` that its node type cannot take; the message says why.",
        "See the page of the node type.",
    ),
    "VALUE_INVALID": ("A value that no document may hold.", "See the message."),
    "ID_INVALID": ("An id with characters that it may not have.", "Letters, digits, `.`, `_`, `-`; at most 128."),
    "NODE_DUPLICATE_ID": ("Two nodes have the same id, or ids that differ only in case or accents.", "Rename one."),
    "EDGE_DUPLICATE_ID": ("Two edges have the same id.", "Rename one, or leave it out."),
    "EDGE_DANGLING": ("An edge from or to a node that there is not.", "Correct the id, or remove the edge."),
    "EDGE_FROM_END": ("An edge leaves an `end`.", "Remove it, or let it leave the node before."),
    "EDGE_FROM_BESIDE": ("An edge leaves a node that undoes or that runs after all; it is never taken.", "Remove it."),
    "EDGE_SELF": ("An edge from a node to itself.", 'Remove it, or give the node `"join": "any"`.'),
    "SCOPE_CROSSED": (
        "An edge or a name crosses the border of a loop's or group's body.",
        "Connect the loop itself. A body begins and ends without edges.",
    ),
    "NO_START": ("No node begins the flow.", "Add a node of type `start`."),
    "YANTRA_NO_END": ("A graph of Yantra's has no end.", "Add a node of type `end`."),
    "YANTRA_EDGE_UNUSED": (
        "An edge of a graph of Yantra's that is never followed: it leads back, or past a loop into or out of its body.",
        "Take it away, or draw what is meant: see [Yantra's graphs](yantra.md).",
    ),
    "MANY_STARTS": ("Two nodes begin the flow.", "Keep one `start`."),
    "JOIN_RANGE": (
        "A join wants more edges than there are, or `threads` without the rule `any`.",
        "`expected` says what is allowed.",
    ),
    "JOIN_OF_SIDE_BRANCH": (
        "A join waits for what is sent while a task is open (`reminder`, `escalation`) and for other edges as well.",
        "Let that branch end by itself, or give the node the join `any` or `first`.",
    ),
    "PARENT_UNKNOWN": ("The `parent` of a node does not exist.", "Correct the id."),
    "PARENT_NOT_LOOP": ("The `parent` of a node has no body.", "Name a loop or a group."),
    "PARENT_CYCLE": ("Loops contain one another.", "Correct `parent`."),
    "LOOP_TOO_DEEP": ("Loops are nested too deeply.", "Put the inner part into a sub-flow."),
    "LOOP_EMPTY": ("A loop without a body.", "Name it as `parent` of its nodes."),
    "CYCLE_WITHOUT_ANY": (
        "A cycle in which every node waits for all its edges: it could never begin.",
        'Give the node where it is entered `"join": "any"`.',
    ),
    "NODE_UNREACHABLE": ("No way leads to the node.", "Draw an edge to it, or remove it."),
    "NODE_NO_END": (
        "No way leads from the node to an `end`, and the flow has ends.",
        "Draw an edge, if it was forgotten.",
    ),
    "STATE_UNKNOWN": (
        "A Drift workflow leads to a state that it does not have.",
        "Correct the name; `expected` lists those that there are.",
    ),
    "STATE_NAME_DIFFERS": (
        "The `instanceName` of a state is not its key, or two states have the same.",
        "Call it like its key, unless scripts read its output under the other name.",
    ),
    "STATE_ON_DEMAND": (
        "Nothing leads to this state of a Drift workflow. It runs only when a live run is asked to execute it.",
        "If that is not meant, lead a `nextNode` to it.",
    ),
    "NODE_TYPE_UNKNOWN": ("There is no such node type here.", "Correct it; `expected` lists those that there are."),
    "PART_UNKNOWN": (
        "A stored node definition or script that the document uses is not there, or has no such version.",
        "Save and publish it first, or correct the name or the version.",
    ),
    "PROBLEMS_MORE": (
        "A document has more problems than are told at once; the first thousand are.",
        "Mend these, and ask again.",
    ),
    "PART_DEPTH": ("Stored parts use one another in a circle, or too deep.", "Break the circle."),
    "PART_NOT_CHECKED": (
        "A stored part cannot be looked at where the document is checked; a warning.",
        "Nothing: it is checked when the document is saved.",
    ),
    "NO_EFFECT": ("A field that means nothing to a node without a handler.", "Remove it."),
    "OUTCOME_UNKNOWN": ("An edge names an outcome that its node never has.", "`expected` lists those that it has."),
    "COMPENSATE_UNKNOWN": ("`compensate` names a node that there is not.", "Correct the id."),
    "COMPENSATE_SELF": ("A node undoes itself.", "Name another."),
    "BESIDE_IMPOSSIBLE": (
        "A node that waits, loops or calls cannot undo or run after all.",
        "Use a step, or one that computes, publishes or sleeps.",
    ),
    "CANCELS_UNKNOWN": ("`cancels` names a node that there is not.", "Correct the id."),
    "MILESTONE_UNKNOWN": ("`milestone` names a node that there is not.", "Correct the id."),
    "MILESTONE_SELF": ("A node waits for itself.", "Name another."),
    "MUTEX_NESTED": (
        "A node has the mutex of the loop that it stands in: it would wait for ever.",
        "Another mutex, or none.",
    ),
    "ON_FAILURE_UNKNOWN": ("`on_failure` names a node that there is not.", "Correct the id."),
    "ON_FAILURE_START": ("`on_failure` names the start.", "Name another."),
    "AFTER_UNKNOWN": ("`after` names a node that there is not.", "Correct the id."),
    "ON_DEMAND_LED_TO": ("An edge leads to a node that is there to be asked for.", "Remove one of the two."),
    "NAME_UNKNOWN": ("An expression reads a name that there is not.", "See [names](flow-document.md#data)."),
    "NODE_REFERENCE_UNKNOWN": (
        "An expression reads the output of a node that there is not.",
        'Correct the id; with a hyphen: `nodes["my-node"]`.',
    ),
    "NODE_REFERENCE_HIDDEN": (
        "An expression reads the output of a node inside a loop from outside.",
        "Read the results of the loop.",
    ),
    "LIMIT_NODES": ("Too many nodes.", "Use sub-flows."),
    "LIMIT_EDGES": ("Too many edges.", "Use sub-flows."),
    "LIMIT_TEXT": ("A label, comment or description is too long.", "Shorten it."),
    "LIMIT_UNKNOWN": ("There is no such limit.", "See [limits](settings.md#limits)."),
    "BAD_CRON": ("`schedule` is no cron line of five fields, or never fires.", "For example `0 9 * * 1-5`."),
    "BAD_TIMEZONE": ("`timezone` is no IANA time zone.", "For example `Europe/Berlin`."),
    "SCHEMA_TOO_COSTLY": (
        "`input_schema` could make one value cost far too much: branches multiply, or two of them lead back.",
        "Refer to each subschema from fewer branches; let one branch alone lead back.",
    ),
    "BAD_SCHEMA": ("`input_schema` is no JSON Schema.", "See the message. References lead nowhere outside."),
    "SCRIPT_SYNTAX": (
        "A script that is no Python, or uses what the sandbox does not have.",
        "`line` and `column` say where; `remedy` what to write instead.",
    ),
    "SCRIPT_NAME": (
        "A script reads a name that nothing has here.",
        "See `expected`. Variables of loops are seen inside.",
    ),
    "SCRIPT_LANGUAGE": ("There is no such script language.", "`python` or `groovy`."),
    "GROOVY_SYNTAX": ("A Groovy script that does not make sense from here on.", "`line` and `column` say where."),
    "GROOVY_UNSUPPORTED": (
        "Something of Groovy that is not translated.",
        "`remedy` says what to write instead; see [Groovy scripts](groovy.md#what-is-refused).",
    ),
    "GROOVY_NAME_UNKNOWN": ("A name that the script never defines.", "Define it with `def`, or correct it."),
    "GROOVY_LIMIT": (
        "A Groovy script that is too long or nested too deeply.",
        "Divide it; see [limits](groovy.md#limits).",
    ),
}
