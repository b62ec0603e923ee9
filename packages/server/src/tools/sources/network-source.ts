import type { Outcome, ToolListing } from "@convoke/tool-host";
import { parseHostPattern } from "../../lib/host-pattern.ts";
import { listMcpTool } from "../../extensions/mcp/tool-listing.ts";
import { describeError } from "../../lib/describe-error.ts";
import type { Grants } from "../conversation-host.ts";
import { statelessSource, type OpenToolSource, type ToolPlace } from "../tool-source.ts";
import { observeText } from "../own-tool.ts";

const name = "request_network";
const maxHosts = 20;
const maxHostChars = 300;
const maxReasonChars = 1_000;

/**
 * A tool that asks the person for hosts which the server's proxy does not let the conversation reach. Its call waits for confirmation, so that
 * what is executed is approved. What it grants is stored first; after a crash it is granted again.
 */
export function openNetworkTool(grants: Grants): OpenToolSource {
  return (place) => {
    if (!grants.canWiden(conversationOf(place)) || place.isTaken(name)) return null;
    return {
      ...statelessSource,
      tools: () => listings,
      owns: (tool) => tool === name,
      execute: async ({ action }, { signal } = {}) => {
        if (signal?.aborted === true) return { type: "cancelled", text: "The call was stopped." };
        const hosts = readHosts(action.kind === "MCPToolAction" ? (action.data ?? {}) : {});
        return typeof hosts === "string" ? { type: "error", text: hosts } : await grant(hosts, place, grants);
      },
    };
  };
}

async function grant(hosts: readonly string[], place: ToolPlace, grants: Grants): Promise<Outcome> {
  await place.context.grantHosts(hosts);
  try {
    await grants.apply(conversationOf(place));
  } catch (error) {
    return {
      type: "error",
      text: `The hosts are granted, and there is no way to them now: ${describeError(error)}`,
    };
  }
  const text = `This conversation may now reach ${hosts.join(", ")}. A rule that denies one of them, or the server's policy, still wins.`;
  return observeText("MCPToolObservation", text, false, { tool_name: name });
}

/** With its configuration as it is now. */
function conversationOf({ conversationId, ownerId, context }: ToolPlace) {
  return { id: conversationId, ownerId, config: context.config };
}

/** The hosts without repetitions, or a text that says what is wrong with the call. */
function readHosts({ hosts, reason }: Readonly<Record<string, unknown>>): readonly string[] | string {
  if (!Array.isArray(hosts) || hosts.length === 0 || hosts.length > maxHosts)
    return `hosts: Give a list of 1 to ${maxHosts} hosts.`;
  if (typeof reason !== "string" || reason.trim() === "" || reason.length > maxReasonChars)
    return `reason: Give the person a sentence of up to ${maxReasonChars} characters.`;
  const problems = hosts.flatMap((host: unknown, at) => {
    const problem = grantProblem(host);
    return problem === null ? [] : [`hosts.${at}: ${problem}`];
  });
  return problems.length > 0 ? `Nothing was granted. ${problems.join(" ")}` : [...new Set(hosts as string[])];
}

/** Why a host cannot be granted as it is written; null for one that can. */
export function grantProblem(host: unknown): string | null {
  const isText = typeof host === "string" && host.length <= maxHostChars;
  const read = isText ? parseHostPattern(host, "web") : `Give a text of up to ${maxHostChars} characters.`;
  return typeof read === "string" ? read : read.covers === "everything" ? everything : null;
}

const everything = "Name the hosts that are needed, not all of them.";

const description = `Ask the person to let this conversation reach hosts on the network. Use it when a request was refused with "no rule", or was refused because a host is read-only, and the task needs it.
The person sees the hosts and the reason, and may say no; then go on without them, or say what you could not do. Ask for the hosts that you need and no others, all at once.`;

const listings: readonly ToolListing[] = [
  {
    ...listMcpTool(name, {
      name,
      title: name,
      description,
      inputSchema: {
        type: "object",
        properties: {
          hosts: {
            type: "array",
            items: { type: "string", maxLength: maxHostChars },
            minItems: 1,
            maxItems: maxHosts,
            description:
              "Such as example.com (ports 80 and 443), *.example.com (all names below it), db.example.com:5432.",
          },
          reason: {
            type: "string",
            maxLength: maxReasonChars,
            description: "One sentence for the person: what these hosts are needed for.",
          },
        },
        required: ["hosts", "reason"],
      },
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    }),
    traits: { alwaysAsks: true },
    problemOf: (values) => {
      const read = readHosts(values);
      return typeof read === "string" ? read : null;
    },
  },
];
