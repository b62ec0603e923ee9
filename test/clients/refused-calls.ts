/** A call that the server does not grant, and why. */
export type Refusal = {
  /** Of the answer; 0 when the client itself gives up. */
  readonly status: number;
  readonly reason: string;
};

const refuse = (status: number, reason: string, ...methods: readonly string[]): [string, Refusal][] =>
  methods.map((method) => [method, { status, reason }]);

const acp = "Of an ACPAgent only; the agent of this test has a model.";
const shared = "No conversations that are open to everybody.";
const accounts = "Accounts and organizations belong to the hosted service.";
const providers = "Repositories of a provider are not listed; a request names one.";
const automations = "Automations belong to the hosted service.";
const devices = "Keys are made with `convoke keys`, not with a login in a browser.";

/** Every public method that never comes to its end, by `Class.method`; the test holds the server to the status. */
export const refusedCalls: ReadonlyMap<string, Refusal> = new Map([
  ...refuse(400, acp, "ConversationClient.switchAcpModel", "RemoteConversation.switchAcpModel"),
  ...refuse(400, acp, "CloudClient.switchConversationAcpModel"),
  ...refuse(404, shared, ...of("SharedClient", "getSharedConversations", "getSharedConversation")),
  ...refuse(404, shared, "SharedClient.searchSharedEvents"),
  ...refuse(503, "There is no editor.", "VSCodeClient.getUrl"),
  ...refuse(503, "There is no desktop.", "DesktopClient.getUrl"),
  ...refuse(
    422,
    "Models are paid for with a key of the provider, not with a subscription.",
    ...of("LLMMetadataClient", "startOpenAISubscriptionDeviceLogin", "pollOpenAISubscriptionDeviceLogin"),
  ),
  ...refuse(0, "The client never lets a state be set; it says so.", "RemoteState.setAgentStatus"),
  ...refuse(404, accounts, ...of("CloudClient", "getOrganizations", "getOrganizationMe", "getCurrentApiKey")),
  ...refuse(404, providers, ...of("CloudClient", "searchRepositories", "getInstallations")),
  ...refuse(404, providers, ...of("CloudClient", "getRepositoryBranches", "getSuggestedTasks")),
  ...refuse(404, "Use `SkillsClient`.", "CloudClient.listSkills"),
  ...refuse(404, "Use `LLMMetadataClient`.", "CloudClient.searchModels", "CloudClient.searchProviders"),
  ...refuse(404, "Use `ConversationClient.switchProfile`.", "CloudClient.switchConversationProfile"),
  ...refuse(404, automations, ...of("CloudClient", "listAutomations", "getAutomation", "updateAutomation")),
  ...refuse(404, automations, ...of("CloudClient", "deleteAutomation", "dispatchAutomation")),
  ...refuse(404, automations, ...of("CloudClient", "listAutomationRuns", "downloadAutomationTarball")),
  ...refuse(404, automations, "CloudClient.getAutomationHealth"),
  ...refuse(0, devices, "CloudClient.startDeviceFlow", "CloudClient.pollForToken"),
]);

/** Classes whose methods never ask a server, and what they are. */
export const localClasses: Readonly<Record<string, string>> = {
  AllowlistAnalyzer: "judges actions in the client",
  AlwaysConfirm: "a policy in the client",
  CallableSecretSource: "a secret in the client",
  CompositeAnalyzer: "judges actions in the client",
  CompositeConfirm: "a policy in the client",
  LLM: "asks a model provider",
  LocalConversation: "an agent inside the client",
  LocalWorkspace: "a workspace inside the client",
  NeverConfirm: "a policy in the client",
  NoOpAnalyzer: "judges actions in the client",
  OpenRouterLLM: "asks a model provider",
  PatternBasedAnalyzer: "judges actions in the client",
  RiskBasedConfirm: "a policy in the client",
  SecretRegistry: "secrets in the client",
  StaticSecretSource: "a secret in the client",
  StuckDetector: "judges events in the client",
  ToolBasedConfirm: "a policy in the client",
};

/** Addresses in the package that the server does not serve, as patterns of their templates. */
export const absentPaths: Readonly<Record<string, string>> = {
  "/api/v1/app-conversations/{}/switch_profile": "The conversation's own route does it.",
  "/api/shared-.*": shared,
  "/api/(organizations|keys)/?.*": accounts,
  "/api/automation/.*": automations,
  "/api/v1/git/.*/search": providers,
  "/api/v1/(skills|config/models|config/providers)/search": "`/api/skills` and `/api/llm` have them.",
  "/api/cloud-proxy": "A proxy of the web client, which is a server of its own.",
  "/oauth/device/.*": devices,
};

function of(name: string, ...methods: readonly string[]): string[] {
  return methods.map((method) => `${name}.${method}`);
}
