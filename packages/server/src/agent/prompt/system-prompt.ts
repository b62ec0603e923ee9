import type { ToolListing } from "@convoke/tool-host";
import type { EventBody } from "../../events/event-draft.ts";
import { text } from "../observation-content.ts";
import { promptSections } from "./sections.ts";

export type PromptContext = {
  readonly tools: readonly ToolListing[];
  readonly workspaceDir: string;
  /** Names and descriptions, and the hosts of those that are bound to some; values never reach a prompt. */
  readonly secrets: readonly {
    readonly name: string;
    readonly description: string | null;
    readonly hosts: readonly string[];
  }[];
  readonly suffix: string | null;
  /** The user's own text instead of the static part. */
  readonly replacement?: string | null;
  /** What skills and instructions of the workspace say. */
  readonly notes?: readonly string[];
  readonly now: Date;
};

/** The system prompt in two blocks: one that is the same in every conversation, so that caches hold, and one for this one. */
export function systemPromptEvent(context: PromptContext): EventBody {
  return {
    kind: "SystemPromptEvent",
    source: "agent",
    system_prompt: text(context.replacement ?? promptSections.join("\n\n")),
    dynamic_context: text(dynamicContext(context)),
    tools: context.tools.map((tool) => tool.definition),
  };
}

/** The date comes last: it is the part that changes most often. */
function dynamicContext({ workspaceDir, secrets, suffix, notes = [], now }: PromptContext): string {
  const blocks = [
    `<workspace>\nYour working directory is ${workspaceDir}. Commands start there, and searches without a path look there.\n</workspace>`,
  ];
  blocks.push(...notes);
  if (suffix !== null && suffix.trim() !== "") blocks.push(suffix.trim());
  if (secrets.length > 0) {
    const list = secrets.map(
      ({ name, description, hosts }) =>
        `- $${name}${description ? `: ${description}` : ""}${hosts.length > 0 ? ` (for ${hosts.join(", ")} only)` : ""}`,
    );
    const hasBound = secrets.some(({ hosts }) => hosts.length > 0);
    blocks.push(
      [
        "<secrets>",
        "These environment variables are set in the terminal once a command names them. Use them by name; never print,",
        "store or send their values anywhere else. Their values are hidden in what you read.",
        ...(hasBound
          ? [
              "One for some hosts only is a placeholder here, and is replaced in requests to these hosts over HTTPS, also by git.",
            ]
          : []),
        ...list,
        "</secrets>",
      ].join("\n"),
    );
  }
  blocks.push(`<date>${now.toISOString().slice(0, 16)}Z</date>`);
  return blocks.join("\n\n");
}
