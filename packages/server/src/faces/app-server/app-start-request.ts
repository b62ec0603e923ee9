import {
  StartConversationRequest,
  type AppConversationStartRequest,
  type ProviderType,
  type SecretSource,
  type SettingsUsed,
  type SuggestedTask,
} from "@convoke/protocol";
import { promptNames } from "../../agent/prompt/prompt-choice.ts";
import { withWarnings } from "../../engine/conversation-config.ts";
import type { Warning } from "../../events/warning.ts";
import type { RepositoryOrder, StartRequest } from "../../app-conversations/start-order.ts";
import type { AppConversationView } from "../../app-conversations/app-conversations.ts";
import { unusedWarning } from "../../engine/unused-fields.ts";
import type { SecretWithValue } from "../../settings/secret-store.ts";
import { secretValues } from "../../engine/secret-values.ts";
import { Fault, invalidField, type FieldFault } from "../../lib/fault.ts";
import { normalizeUuid } from "../../lib/uuid7.ts";
import { createMask } from "../../security/mask.ts";
import type { JsonObject, StoredSettings } from "../../settings/stored-settings.ts";
import { withDefaults } from "../../settings/with-defaults.ts";
import { enteringSecrets } from "../../app-conversations/entering-secrets.ts";
import { specMissing } from "../../app-conversations/sandbox-refusals.ts";
import type { SandboxTemplate, SandboxView } from "../../app-conversations/sandbox-service.ts";
import { withInstructions } from "../agent-server/conversations/complete-start.ts";
import { readStartRequest, readTitle, toSources } from "../agent-server/conversations/start-request.ts";
import { checkBranch, checkRepository, providerSecrets, toRepositoryOrder } from "./repository-request.ts";
import type { FaceDeps } from "../face-deps.ts";
import { suggestedMessage } from "./suggested-task.ts";
import { withoutUndefined } from "../../lib/without-undefined.ts";
import { isObject } from "../../lib/json-object.ts";

export type StartContext = Pick<FaceDeps, "validator" | "approvalDefault"> & {
  readonly settings: StoredSettings;
  /** The version of the settings, and the stored profiles that they take their agent from. */
  readonly settingsVersion: number;
  readonly settingsUsed: SettingsUsed | undefined;
  /** The user's own, by name. */
  readonly secrets: Readonly<Record<string, SecretWithValue>>;
  readonly catalogue: readonly string[];
  /** The first is the default. */
  readonly templates: readonly Pick<SandboxTemplate, "id" | "secretNames">[];
  /** The one that the conversation is to work in, if it is there; null for one of its own. */
  readonly sandbox: Pick<SandboxView, "secretNames"> | null;
  readonly parent: AppConversationView | null;
  /** Fields of the request that change nothing. */
  readonly unused: readonly string[];
};

type Body = AppConversationStartRequest;

/**
 * Reads a request to start a conversation in a sandbox. Its agent comes from the user's present settings; unsupported
 * values are refused by name (P55).
 */
export function readAppStartRequest(body: Body, context: StartContext): StartRequest {
  refuseUnsupported(body);
  const { settings, parent } = context;
  const wanted = inherit(body, parent);
  const provider = wanted.git_provider ?? null;
  const { template, warnings } = chooseTemplate(body, wanted.sandbox_id ?? null, context);
  const stored = {
    ...storedSources(context.secrets),
    ...toSources(providerSecrets(settings.providerTokens, provider)),
  };
  const place = context.sandbox ?? template;
  const sources: Record<string, SecretSource> = {
    ...enteringSecrets(stored, place?.secretNames),
    ...toSources(requestSecrets(body.secrets ?? {})),
  };
  const start = readStartRequest(composeStart(body, wanted.llm_model ?? null, sources, context), false);
  const repository = readRepository(wanted, settings, sources, repositoryPlace(body));
  const message = body.initial_message ?? null;
  return {
    conversationId: readId(body.conversation_id ?? null),
    shown: toShown({ ...body, ...wanted, secrets: null }, secretValues(start.secrets)),
    order: {
      title: typeof body.title === "string" ? readTitle(body.title) : null,
      config: {
        ...start.config,
        settings_version: context.settingsVersion,
        ...withoutUndefined({ settings_used: usedWith(wanted.llm_model ?? null, context) }),
        ...withWarnings(start.config, [...reportedMarks(body), ...warnings, ...reportUnused(context)]),
      },
      secrets: start.secrets,
      initialMessage:
        start.initialMessage === null
          ? null
          : {
              message: start.initialMessage,
              wantsRun: message === null || message.run !== false,
              responseSchema: start.initialSchema,
            },
      repository,
      sandboxId: wanted.sandbox_id ?? null,
      templateId: template?.id ?? "",
      parentId: parent?.row.id ?? null,
      subfolder: null,
      facts: {
        selectedRepository: wanted.selected_repository ?? null,
        selectedBranch: wanted.selected_branch ?? null,
        gitProvider: provider,
        trigger: body.trigger ?? (body.suggested_task ? "suggested_task" : null),
        prNumbers: body.pr_number ?? [],
        isPublic: body.public ?? null,
      },
    },
  };
}

/** A model that the request names is of no profile. */
function usedWith(model: string | null, { settingsUsed: used }: StartContext): SettingsUsed | undefined {
  if (used === undefined || model === null) return used;
  return used.agent_profile === null ? undefined : used;
}

/** The request as returned to clients: without secrets, also inside texts. */
function toShown(request: Body, secrets: readonly string[]): StartRequest["shown"] {
  const shown = { ...request, initial_message: request.initial_message ?? null };
  return JSON.parse(createMask(secrets)(JSON.stringify(shown), "document")) as StartRequest["shown"];
}

/** The values that a child takes from its parent, and those of a suggested task. */
function inherit(body: Body, parent: AppConversationView | null) {
  const task: SuggestedTask | null = body.suggested_task ?? null;
  const facts = parent?.row.facts;
  return {
    sandbox_id: body.sandbox_id ?? parent?.row.sandboxId ?? null,
    selected_repository: body.selected_repository ?? task?.repo ?? facts?.selectedRepository ?? null,
    selected_branch: body.selected_branch ?? facts?.selectedBranch ?? null,
    git_provider: body.git_provider ?? task?.git_provider ?? facts?.gitProvider ?? null,
    llm_model: body.llm_model ?? parent?.described.config.agent.llm.model ?? null,
  };
}

/** The equivalent request of the agent-server face. */
function composeStart(
  body: Body,
  model: string | null,
  secrets: Readonly<Record<string, SecretSource>>,
  { settings, catalogue, approvalDefault, validator }: StartContext,
): StartConversationRequest {
  const message = body.suggested_task
    ? { role: "user", content: [{ type: "text", text: suggestedMessage(body.suggested_task) }] }
    : (body.initial_message ?? null);
  const draft = withoutUndefined({
    workspace: { kind: "LocalWorkspace", working_dir: "/workspace" },
    initial_message: message,
    plugins: body.plugins ?? null,
    secrets,
    agent_profile_id: body.agent_profile_id || undefined,
  });
  const complete = withDefaults(draft, withModel(settings, model), {
    catalogue,
    approvalDefault,
  }) as JsonObject;
  const agent = complete["agent"];
  if (!isObject(agent)) {
    throw invalidField(
      ["body", "llm_model"],
      "There is no model to work with. Store one in the settings, or name one here.",
      "missing",
    );
  }
  const checked = validator.check<StartConversationRequest>(
    StartConversationRequest,
    {
      ...complete,
      agent: {
        ...agent,
        agent_context: contextOf(agent, body),
        ...withoutUndefined({
          system_prompt_filename: body.agent_type === "plan" ? promptNames.planning : undefined,
        }),
      },
    },
    ["body"],
  );
  if (checked.ok) return checked.value;
  throw new Fault("caller", "validation", "The agent of the settings is not valid.", checked.errors);
}

/** The named model with everything else of the stored one: its address, its key, its options. */
function withModel(settings: StoredSettings, model: string | null): StoredSettings {
  return model === null ? settings : { ...settings, llm: { ...settings.llm, model } };
}

function contextOf(agent: JsonObject, { system_message_suffix: suffix }: Body): unknown {
  // Choosing a repository includes its instructions, unless the settings say otherwise.
  const given = isObject(agent["agent_context"]) ? agent["agent_context"] : {};
  const stored = { load_project_skills: true, ...given };
  return suffix ? withInstructions(stored, suffix) : stored;
}

/** Where the repository is named: by itself, or by the task that is suggested. */
function repositoryPlace({ selected_repository: name, suggested_task: task }: Body): string[] {
  const isOfTask = (name ?? null) === null && (task ?? null) !== null;
  return isOfTask ? ["body", "suggested_task", "repo"] : ["body", "selected_repository"];
}

function readRepository(
  wanted: ReturnType<typeof inherit>,
  settings: StoredSettings,
  sources: Readonly<Record<string, SecretSource>>,
  loc: string[],
): RepositoryOrder | null {
  const { selected_repository: name, selected_branch: branch } = wanted;
  if (branch !== null) checkBranch(branch, ["body", "selected_branch"]);
  if (name === null) return null;
  checkRepository(name, loc);
  const provider: ProviderType = wanted.git_provider ?? "github";
  return toRepositoryOrder(name, branch, provider, { settings, hasSecret: (secret) => secret in sources });
}

/** The request's, or that of the user's settings, or the first. Undefined where there are no sandboxes. */
function chooseTemplate(
  body: Body,
  sandboxId: string | null,
  { settings, templates }: StartContext,
): { readonly template: StartContext["templates"][number] | undefined; readonly warnings: Warning[] } {
  const asked = body.sandbox_spec_id ?? null;
  if (asked !== null && sandboxId !== null) {
    throw invalidField(
      ["body", "sandbox_spec_id"],
      "The conversation gets the sandbox of sandbox_id, or of its parent, which is made already. Leave one of them out.",
    );
  }
  const wanted = asked ?? settings.plain.default_sandbox_spec_id;
  const template = templates.find(({ id }) => id === wanted);
  if (template !== undefined || wanted === null) return { template: template ?? templates[0], warnings: [] };
  if (asked !== null && templates.length > 0) throw specMissing(asked, templates);
  const [first] = templates;
  if (first === undefined || sandboxId !== null) return { template: first, warnings: [] };
  const detail = `There is no sandbox spec "${wanted}", which is the default of the settings: the sandbox is made from "${first.id}".`;
  return {
    template: first,
    warnings: [{ code: "sandbox_spec_left_out", detail, fields: ["default_sandbox_spec_id"] }],
  };
}

function requestSecrets(secrets: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  for (const name of Object.keys(secrets)) {
    if (!/^[A-Za-z_]\w{0,127}$/.test(name)) {
      throw invalidField(
        ["body", "secrets", name],
        "A name has letters, digits and underscores and begins with no digit.",
      );
    }
  }
  return secrets;
}

/** One that is bound to hosts stays bound: the start leaves it out of a sandbox whose requests nothing could put it into. */
function storedSources(secrets: StartContext["secrets"]): Record<string, SecretSource> {
  return Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [
      name,
      // The request's reader gets a value of its own.
      structuredClone({ kind: "StaticSecret", ...secret }) as SecretSource,
    ]),
  );
}

function readId(given: string | null): string | null {
  return given === null ? null : normalizeUuid(given);
}

/** Trace marks have no effect; they are returned with the request, and a warning says that no trace has them. */
function reportedMarks(body: Body): Warning[] {
  const marks = ["observability_metadata", "observability_tags", "observability_span_name"] as const;
  const fields = marks.filter((field) => Object.keys(body[field] ?? {}).length > 0);
  if (fields.length === 0) return [];
  const detail = `Traces of this server do not carry ${fields.join(", ")}.`;
  return [{ code: "observability_left_out", detail, fields }];
}

function reportUnused({ unused }: StartContext): Warning[] {
  const warning = unusedWarning(unused);
  return warning === null ? [] : [warning];
}

function refuseUnsupported(body: Body): void {
  const fields: FieldFault[] = [];
  const refuse = (field: keyof Body, what: string): void => {
    const msg = `${what} not supported by this version of the server. Leave this field out.`;
    fields.push({ loc: ["body", field], msg, type: "not_supported" });
  };
  if ((body.plugins ?? []).length > 0) refuse("plugins", "Plugins in a sandbox are");
  if ((body.processors ?? []).length > 0) refuse("processors", "Processors of events are");
  if (fields.length > 0) {
    throw new Fault("caller", "not_supported", "The request asks for something unsupported.", fields);
  }
  if (body.suggested_task && body.initial_message) {
    throw invalidField(["body", "suggested_task"], "Send either this or initial_message.");
  }
}
