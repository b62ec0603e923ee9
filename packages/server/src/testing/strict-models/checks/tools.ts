import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadCall, ReadMessage, ReadTool } from "../readings/reading.ts";

/** Every tool has a name of this form. */
export function toolNames(pattern: RegExp, complain: (tool: ReadTool) => Complaint): Check {
  return (_request, { tools }) => firstOf(tools, ({ name }) => !pattern.test(name), complain);
}

/** The names in earlier calls have this form too, whether or not there is such a tool. */
export function calledNames(
  pattern: RegExp,
  complain: (message: ReadMessage, call: ReadCall) => Complaint,
): Check {
  return (_request, { messages }) => {
    for (const message of messages) {
      const call = message.calls.find(({ name }) => !pattern.test(name));
      if (call !== undefined) return complain(message, call);
    }
    return null;
  };
}

export function uniqueToolNames(complain: (tool: ReadTool) => Complaint): Check {
  return (_request, { tools }) =>
    firstOf(tools, (tool) => tools.some((other) => other.at < tool.at && other.name === tool.name), complain);
}

export function toolsUpTo(max: number, complain: (count: number) => Complaint): Check {
  return (_request, { tools }) => (tools.length > max ? complain(tools.length) : null);
}

/** A list of tools that is there holds one at least. */
export function noEmptyTools(complaint: Complaint): Check {
  return ({ body }) => (Array.isArray(body["tools"]) && body["tools"].length === 0 ? complaint : null);
}

export function descriptionsUpTo(
  max: number,
  complain: (tool: ReadTool, length: number) => Complaint,
): Check {
  return (_request, { tools }) =>
    firstOf(
      tools,
      ({ description }) => (description?.length ?? 0) > max,
      (tool) => complain(tool, tool.description?.length ?? 0),
    );
}

function firstOf(
  tools: readonly ReadTool[],
  isWrong: (tool: ReadTool) => boolean,
  complain: (tool: ReadTool) => Complaint,
): Complaint | null {
  const tool = tools.find(isWrong);
  return tool === undefined ? null : complain(tool);
}
