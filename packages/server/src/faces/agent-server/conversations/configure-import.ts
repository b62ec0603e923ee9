import { join, resolve } from "node:path";
import { StartConversationRequest } from "@convoke/protocol";
import type { Configured } from "../../../imports/import-conversation.ts";
import { ImportRefusal } from "../../../imports/import-refusal.ts";
import type { SourceFacts } from "../../../imports/source-facts.ts";
import { isFolder } from "../../../lib/is-folder.ts";
import { isObject } from "../../../lib/json-object.ts";
import type { Caller } from "../../../security/caller.ts";
import { usualToolsOf } from "../../../settings/usual-tools.ts";
import { mayUseMachine } from "../../../workspaces/machine-policy.ts";
import type { FaceDeps } from "../../face-deps.ts";
import { readStartRequest } from "./start-request.ts";

/**
 * The configuration of an imported conversation: that of a conversation which the caller would start now, with what the source says of
 * asking before actions, of its limit of steps and of its tags. The model is that of the caller's settings; without one it is the
 * source's, which has no key here.
 */
export async function configureImport(
  deps: FaceDeps,
  caller: Caller,
  facts: SourceFacts,
  { id, workingDir: chosen }: { readonly id: string; readonly workingDir: string | null },
): Promise<Configured> {
  const folder = await chooseFolder(deps, caller, facts, { id, chosen });
  const policy = policyOf(facts);
  const given = {
    conversation_id: id,
    workspace: { kind: "LocalWorkspace", working_dir: folder.path },
    tags: facts.tags,
    ...policy.given,
    ...(facts.maxIterations === null ? {} : { max_iterations: facts.maxIterations }),
  };
  const { body, settingsVersion } = await deps.complete(given, caller);
  const hasModel = isObject(body) && isObject(body["agent"]);
  const model = facts.model ?? "none";
  const agent = { kind: "Agent", llm: { model }, tools: usualToolsOf(deps.toolHost.catalogue, model) };
  const whole = hasModel ? body : { ...(body as object), agent };
  const checked = deps.validator.check<StartConversationRequest>(StartConversationRequest, whole, ["body"]);
  if (!checked.ok) {
    const [first] = checked.errors;
    const field = first?.loc.slice(1).join(".") ?? null;
    throw new ImportRefusal("invalid_file", `${field}: ${first?.msg}`, { field });
  }
  const { config, secrets } = readStartRequest(checked.value, true);
  return {
    config: { ...config, settings_version: settingsVersion },
    secrets,
    warnings: [
      ...folder.warnings,
      ...policy.warnings,
      ...(hasModel
        ? []
        : [
            `No model is in your settings, so the conversation keeps ${model}, without a key. Choose a model before it goes on.`,
          ]),
    ],
  };
}

type Folder = { readonly path: string; readonly warnings: readonly string[] };

/** The folder of the source where it is on this machine, else the chosen one, else a new one. */
async function chooseFolder(
  { requireMachine, workspaceRoot }: FaceDeps,
  { userId }: Caller,
  { workingDir }: SourceFacts,
  { id, chosen }: { readonly id: string; readonly chosen: string | null },
): Promise<Folder> {
  const isHere = workingDir !== null && mayUseMachine(requireMachine, userId);
  if (isHere && (await isFolder(resolve(workspaceRoot, workingDir))))
    return { path: workingDir, warnings: [] };
  const path = chosen ?? join(workspaceRoot, `imported-${id.slice(0, 8)}`);
  const missing =
    workingDir === null ? "The source names no working folder" : `The folder ${workingDir} is not here`;
  const how = chosen === null ? ". Choose another one with working_dir" : "";
  return { path, warnings: [`${missing}; the conversation works in ${path}${how}.`] };
}

const policies = new Set(["AlwaysConfirm", "NeverConfirm", "ConfirmRisky"]);

/** A policy that is not known here asks before everything. */
function policyOf({ confirmationPolicy: policy }: SourceFacts): {
  readonly given: object;
  readonly warnings: readonly string[];
} {
  if (policy === null) return { given: {}, warnings: [] };
  if (policies.has(String(policy["kind"]))) return { given: { confirmation_policy: policy }, warnings: [] };
  const warning = `The confirmation policy ${String(policy["kind"])} is not known here; the conversation asks before every action.`;
  return { given: { confirmation_policy: { kind: "AlwaysConfirm" } }, warnings: [warning] };
}
