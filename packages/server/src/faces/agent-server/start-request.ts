import type {
  Agent,
  ConfirmationPolicy,
  SecretSource,
  SendMessageRequest,
  StartConversationRequest,
} from "@convoke/protocol";
import {
  splitLlmSecrets,
  type ConversationConfig,
  type ConversationSecrets,
} from "../../conversation/conversation-config.ts";
import { Fault, invalidField, type FieldFault } from "../../lib/fault.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";

/** A create request in our own terms. */
export type Start = {
  readonly conversationId: string | null;
  readonly title: string | null;
  readonly config: ConversationConfig;
  readonly secrets: ConversationSecrets;
  readonly initialMessage: SendMessageRequest | null;
};

/**
 * Reads a create request. What this server cannot honour is refused by name instead of being dropped in silence: a guard
 * hook or a tool server that never runs would be worse than an error (P55).
 */
export function readStartRequest(body: StartConversationRequest): Start {
  refuseUnsupported(body);
  const { shown, secrets: llmSecrets } = splitLlmSecrets(body.agent.llm);
  const agent = { ...body.agent, kind: "Agent", llm: shown } as Agent;
  return {
    conversationId: body.conversation_id ? normalizeUuid(body.conversation_id) : null,
    title: body.title?.trim() ?? null,
    config: {
      agent,
      workspace: { ...body.workspace, kind: "LocalWorkspace" },
      confirmation_policy: body.confirmation_policy ?? { kind: "NeverConfirm" },
      security_analyzer: (body.security_analyzer ?? null) as ConversationConfig["security_analyzer"],
      max_iterations: body.max_iterations ?? 500,
      stuck_detection: body.stuck_detection ?? true,
      tags: body.tags ?? {},
    },
    secrets: { llm: llmSecrets, sources: body.secrets ?? {} },
    initialMessage: body.initial_message ?? null,
  };
}

function refuseUnsupported(body: StartConversationRequest): void {
  const fields: FieldFault[] = [];
  const refuse = (loc: string[], what: string): void => {
    fields.push({
      loc: ["body", ...loc],
      msg: `${what} not supported by this version of the server. Leave this field out.`,
      type: "not_supported",
    });
  };
  if (Object.values(body.hook_config ?? {}).some((hooks) => Array.isArray(hooks) && hooks.length > 0)) {
    refuse(["hook_config"], "Hooks are");
  }
  if ((body.plugins ?? []).length > 0) refuse(["plugins"], "Plugins are");
  if (Object.keys(body.tool_module_qualnames ?? {}).length > 0)
    refuse(["tool_module_qualnames"], "Tool modules are");
  if (hasServers(body.agent.mcp_config)) refuse(["agent", "mcp_config"], "MCP servers are");
  if (body.security_analyzer && body.security_analyzer["kind"] !== "LLMSecurityAnalyzer") {
    refuse(["security_analyzer"], "Analyzers other than LLMSecurityAnalyzer are");
  }
  if (fields.length > 0)
    throw new Fault("caller", "not_supported", "The request asks for something unsupported.", fields);
  const filter = body.agent.filter_tools_regex;
  if (filter) checkPattern(filter);
}

function hasServers(config: Readonly<Record<string, unknown>> | undefined): boolean {
  if (config === undefined) return false;
  const servers = config["mcpServers"] ?? config;
  return typeof servers === "object" && servers !== null && Object.keys(servers).length > 0;
}

function checkPattern(pattern: string): void {
  try {
    RegExp(pattern);
  } catch (error) {
    throw invalidField(
      ["body", "agent", "filter_tools_regex"],
      error instanceof Error ? error.message : "Bad pattern.",
    );
  }
}
