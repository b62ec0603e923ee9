import {
  actionSchemaByKind,
  extensionActionSchemaByKind,
  type Action,
  type MessageToolCall,
  type SecurityRisk,
} from "@convoke/protocol";
import type { Validator } from "@convoke/protocol/validate";
import type { ToolListing } from "@convoke/tool-host";
import { addedFieldsOf, splitFields } from "./added-fields.ts";
import { isClientTool, readClientAction } from "./client-action.ts";
import { patchToolName, readPatchCall } from "./patch-call.ts";
import { splitResponse } from "./response-schema.ts";
import type { JsonObject } from "../lib/json-object.ts";
import { parseArguments, repairArguments } from "./tool-arguments.ts";
import { inferEditorCommand, resolveToolName } from "./tool-name.ts";
import { parametersOf } from "./tool-parameters.ts";

/** A tool call that can be executed. `predictedRisk` is the model's own estimate, null when it gave none. */
export type UnderstoodCall = {
  readonly ok: true;
  readonly tool: ToolListing;
  readonly action: Action;
  readonly predictedRisk: SecurityRisk | null;
  readonly summary: string;
  /** What the model gave for the fields of a `response_schema`. */
  readonly answer?: JsonObject;
};

/** A call that cannot; `error` tells the model what to change and names parameters, never their values. */
export type BadCall = {
  readonly ok: false;
  readonly error: string;
  /** The tool, where only the arguments are at fault. */
  readonly toolName?: string;
  /** True for an answer that is not valid by the schema of answers. */
  readonly isAnswer?: true;
};

type Schema = Parameters<Validator["check"]>[0];

const risks: readonly SecurityRisk[] = ["UNKNOWN", "LOW", "MEDIUM", "HIGH"];

/** Turns what the model wrote into a typed action, repairing what has only one meaning. */
export function createCallReader(
  tools: readonly ToolListing[],
  validator: Validator,
): (call: MessageToolCall) => UnderstoodCall | BadCall {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));

  return (call) => {
    const parsed = parseArguments(call.arguments);
    if (!parsed.ok) {
      return bad(`The arguments of ${call.name} ${parsed.problem}. Send them again as one JSON object.`);
    }
    const named =
      resolveToolName(call.name, parsed.values, byName.keys()) ??
      (call.name === patchToolName ? readPatchCall(parsed.values, (name) => byName.get(name)) : null);
    if (named !== null && "error" in named) return bad(named.error);
    if (named === null) {
      return bad(`There is no tool "${call.name}". Available tools: ${[...byName.keys()].join(", ")}.`);
    }
    const tool = byName.get(named.name)!;
    const usual = withUsualNames(tool.actionKind, named.values);
    const { schema: parameters } = parametersOf(tool);
    const repaired = repairArguments(withNulls(usual, call, tool), parameters);
    const added = addedFieldsOf(parameters);
    const { own: given, risk, summary } = splitFields(repaired, added);
    const predicted = tool.isReadOnly ? undefined : risk;
    if (predicted !== undefined && !isRisk(predicted)) {
      return bad(`${added.risk} of ${tool.name} must be one of ${risks.join(", ")}.`);
    }
    const { own, answer, problems: missing } = splitResponse(given, tool);
    // What an MCP tool takes is in no schema of ours; its server's one is looked at when it is called.
    const action = tool.actionKind === "MCPToolAction" ? { data: own } : own;
    const schema: Schema | undefined =
      actionSchemaByKind[tool.actionKind] ?? extensionActionSchemaByKind[tool.actionKind];
    if (schema === undefined && !isClientTool(tool))
      return bad(`The tool ${tool.name} takes a kind of action that is unknown here.`);
    const checked =
      schema === undefined
        ? readClientAction(tool, own)
        : validator.check<Action>(schema, { ...action, kind: tool.actionKind });
    if (!checked.ok || missing.length > 0) {
      const wrong = checked.ok
        ? missing
        : [
            ...checked.errors.map((error) => `${error.loc.join(".") || "arguments"}: ${error.msg}`),
            ...missing,
          ];
      const problems = wrong.join("; ").replace(/\.$/u, "");
      const names = Object.keys(tool.response === undefined ? action : given).join(", ") || "none";
      return {
        ...bad(
          `The arguments of ${tool.name} do not fit its schema: ${problems}. Parameters given: ${names}.`,
        ),
        toolName: tool.name,
      };
    }
    const problem = tool.problemOf?.(own) ?? null;
    if (problem !== null) return bad(problem);
    return {
      ok: true,
      tool,
      action: checked.value,
      predictedRisk: predicted ?? null,
      summary: isGiven(summary) ? summary : `${tool.name}: ${JSON.stringify(own)}`.slice(0, 500),
      ...(answer === null ? {} : { answer }),
    };
  };
}

/** Arguments under the name that a model was trained on, or without the one that the others can only have meant. */
function withUsualNames(
  kind: string,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (kind === "FileEditorAction") return inferEditorCommand(values);
  if (kind !== "ApplyPatchAction" || "patch" in values || !("input" in values)) return values;
  const { input, ...rest } = values;
  return { ...rest, patch: input };
}

/** Null is left out for our own tools; for somebody else's tool it can be a value that its schema takes. */
function withNulls(
  values: Readonly<Record<string, unknown>>,
  { arguments: raw }: MessageToolCall,
  tool: ToolListing,
): Readonly<Record<string, unknown>> {
  if (tool.actionKind !== "MCPToolAction" && !isClientTool(tool)) return values;
  const parsed = parseArguments(raw, { keepsNulls: true });
  return parsed.ok ? { ...parsed.values, ...values } : values;
}

function isGiven(summary: unknown): summary is string {
  return typeof summary === "string" && summary.trim() !== "";
}

function isRisk(value: unknown): value is SecurityRisk {
  return risks.some((risk) => risk === value);
}

function bad(error: string): BadCall {
  return { ok: false, error };
}
