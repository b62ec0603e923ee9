import type { ToolDefinition } from "@convoke/protocol";
import type { Outcome, ToolListing } from "@convoke/tool-host";

type Hints = {
  readonly isReadOnly: boolean;
  readonly isIdempotent: boolean;
  /** It reaches things outside of the conversation. */
  readonly isOpen: boolean;
};

/** A tool that the server carries out itself; `kind` begins the names of its kinds of actions and observations. */
export function listOwnTool(
  name: string,
  kind: "AskOracle" | "InvokeSkill" | "Task" | "Workflow",
  description: string,
  { isReadOnly, isIdempotent, isOpen }: Hints,
): ToolListing {
  const definition = {
    kind: `${kind}Tool`,
    title: name,
    description,
    action_type: `${kind}Action`,
    observation_type: `${kind}Observation`,
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: !isReadOnly,
      idempotentHint: isIdempotent,
      openWorldHint: isOpen,
    },
  };
  return {
    name,
    actionKind: definition.action_type,
    isReadOnly,
    definition: definition as unknown as ToolDefinition,
  };
}

/** What such a tool says; `more` are the other fields of its kind. */
export function observeText(kind: string, text: string, isError: boolean, more: object = {}): Outcome {
  const content = [{ type: "text", text, cache_prompt: false }];
  return { type: "observation", observation: { kind, content, is_error: isError, ...more } as never };
}
