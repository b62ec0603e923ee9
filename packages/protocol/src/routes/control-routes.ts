import { Type } from "typebox";
import { ConversationInfo } from "../conversation/conversation-info.ts";
import { ConversationNetwork, GrantHostsRequest } from "../conversation/network.ts";
import { AllowRules } from "../security/rule.ts";
import {
  AllowRulesTrial,
  AnswerApprovalsRequest,
  ConversationSpend,
  FinalResponse,
  ForkConversationRequest,
  ApprovePlanRequest,
  NavigateConversationRequest,
  PendingApprovals,
  QueuedMessages,
  SetApprovalPolicyRequest,
  SetLimitsRequest,
  SetUserBudgetRequest,
  StartGoalRequest,
  SwitchLLMRequest,
  SwitchProfileRequest,
  UserSpend,
} from "../conversation/turn-control.ts";
import { ErrorReply } from "../requests/replies.ts";
import { AskAgentRequest, AskAgentResponse } from "../requests/update-conversation.ts";
import { PendingToolCalls, SendToolResultsRequest } from "../conversation/tool-results.ts";
import { LoadPluginRequest } from "../workspace/fetched.ts";
import { fetchFailures } from "./installed-routes.ts";
import { SwitchAcpModelRequest } from "../workspace/acp-models.ts";
import { conversationParams } from "./parameters.ts";
import { conflict, done, invalid, modelFailed, noConversation } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const prefix = "/api/conversations/{conversation_id}";

function route<M extends string, P extends string>(method: M, path: P, summary: string) {
  return { method, path: `${prefix}/${path}`, summary, auth: true, params: conversationParams } as const;
}

/** Routes of older agent servers. */
export const askRoutes = routesOf("Conversations", {
  askAgent: {
    ...route("POST", "ask_agent", "Ask the agent something beside its task"),
    body: AskAgentRequest,
    responses: { ...ok("What it said.", AskAgentResponse), ...noConversation, ...invalid, ...modelFailed },
  },
  condenseConversation: {
    ...route("POST", "condense", "Shorten what the model reads"),
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
});

/** Requests to a conversation other than sending, running and halting. */
export const controlRoutes = routesOf("Conversations", {
  listApprovals: {
    method: "GET",
    path: "/api/approvals",
    summary: "The actions that wait for the caller, in all conversations",
    auth: true,
    inScope: true,
    responses: { ...ok("The actions, oldest first per conversation.", PendingApprovals) },
  },
  getApprovals: {
    ...route("GET", "approvals", "The actions that wait for their user"),
    responses: { ...ok("The actions, oldest first.", PendingApprovals), ...noConversation, ...invalid },
  },
  answerApprovals: {
    ...route("POST", "approvals", "Accept or reject some of the actions that wait"),
    body: AnswerApprovalsRequest,
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  getConversationNetwork: {
    ...route(
      "GET",
      "network",
      "What passed and was refused on the way out of the conversation's wall or sandbox, by host",
    ),
    responses: {
      ...ok("Since the way out was opened; empty where there is none.", ConversationNetwork),
      ...noConversation,
      ...conflict,
    },
  },
  grantHosts: {
    ...route("POST", "network/grants", "Let a conversation reach hosts that its wall or sandbox refuses"),
    body: GrantHostsRequest,
    responses: {
      ...ok("The network as it is then.", ConversationNetwork),
      ...noConversation,
      ...conflict,
      ...invalid,
    },
  },
  loadPlugin: {
    ...route("POST", "load_plugin", "Add a plugin to a conversation, for its next turn"),
    body: LoadPluginRequest,
    responses: { ...done, ...noConversation, ...conflict, ...fetchFailures, ...invalid },
  },
  setApprovalPolicy: {
    ...route("POST", "approval_policy", "Choose what happens to actions that nobody answers in time"),
    body: SetApprovalPolicyRequest,
    responses: { ...done, ...noConversation, ...invalid },
  },
  getAllowRules: {
    ...route("GET", "allow_rules", "The rules of the conversation"),
    responses: { ...ok("The rules.", AllowRules), ...noConversation, ...invalid },
  },
  setAllowRules: {
    ...route(
      "PUT",
      "allow_rules",
      "Choose the rules of the conversation: calls that are allowed, asked about or denied",
    ),
    body: AllowRules,
    responses: { ...done, ...noConversation, ...invalid },
  },
  tryAllowRules: {
    ...route("POST", "allow_rules/dry_run", "What rules would have decided until now; changes nothing"),
    body: AllowRules,
    responses: {
      ...ok("The calls that a rule decides about.", AllowRulesTrial),
      ...noConversation,
      ...invalid,
    },
  },
  getQueue: {
    ...route("GET", "queue", "The messages that the agent has not read yet"),
    responses: { ...ok("The messages, oldest first.", QueuedMessages), ...noConversation, ...invalid },
  },
  removeQueued: {
    ...route("DELETE", "queue/{event_id}", "Take back a message that the agent has not read yet"),
    params: Type.Object({ ...conversationParams.properties, event_id: Type.String() }),
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  getPendingToolCalls: {
    ...route("GET", "tool_results", "The calls of client tools that wait for a result"),
    responses: { ...ok("The calls, oldest first.", PendingToolCalls), ...noConversation, ...invalid },
  },
  sendToolResults: {
    ...route("POST", "tool_results", "Send what client tools returned; the run goes on"),
    body: SendToolResultsRequest,
    takesLargeBody: true,
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  setLimits: {
    ...route("POST", "limits", "Change the limits of a conversation; they count from the next model call on"),
    body: SetLimitsRequest,
    responses: { ...done, ...noConversation, ...invalid },
  },
  getSpend: {
    ...route("GET", "spend", "What a conversation has cost, by call and day"),
    responses: {
      ...ok("Costs, the newest 1,000 calls last.", ConversationSpend),
      ...noConversation,
      ...invalid,
    },
  },
  getUserSpend: {
    method: "GET",
    path: "/api/spend",
    summary: "What the caller's conversations have cost, by day and conversation",
    auth: true,
    query: Type.Object({
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 3660, default: 30, description: "Up to today." }),
      ),
    }),
    responses: { ...ok("Costs and limits.", UserSpend), ...invalid },
  },
  setUserBudget: {
    method: "PUT",
    path: "/api/spend/limits",
    summary: "Limit what the caller's conversations may cost in a day",
    auth: true,
    body: SetUserBudgetRequest,
    responses: { ...done, ...invalid },
  },
  getFinalResponse: {
    ...route("GET", "agent_final_response", "What the agent said last"),
    responses: {
      ...ok("The text, empty when there is none.", FinalResponse),
      ...noConversation,
      ...invalid,
    },
  },
  forkConversation: {
    ...route("POST", "fork", "Copy a conversation up to an event into a new one"),
    inScope: false,
    body: ForkConversationRequest,
    isBodyOptional: true,
    responses: {
      201: { description: "The new conversation.", schema: ConversationInfo },
      ...noConversation,
      ...conflict,
      ...invalid,
    },
  },
  navigateConversation: {
    ...route("POST", "navigate", "Go on from another event; the log keeps everything"),
    body: NavigateConversationRequest,
    responses: {
      ...ok("The conversation, which is idle.", ConversationInfo),
      ...noConversation,
      ...conflict,
      ...invalid,
    },
  },
  approvePlan: {
    ...route(
      "POST",
      "plan/approve",
      "Approve the plan of an agent that plans: it gets its tools for the work, and carries the plan out",
    ),
    body: ApprovePlanRequest,
    isBodyOptional: true,
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  startGoal: {
    ...route(
      "POST",
      "goal",
      "Set the agent a goal: a judge is asked after each run, and the work goes on until it is reached",
    ),
    body: StartGoalRequest,
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  stopGoal: {
    ...route("POST", "goal/stop", "End the goal; a run in progress goes on to its end"),
    responses: { ...done, ...noConversation, ...invalid },
  },
  resumeGoal: {
    ...route("POST", "goal/resume", "Resume an interrupted goal"),
    responses: { ...done, ...noConversation, ...conflict, ...invalid },
  },
  switchLlm: {
    ...route("POST", "switch_llm", "Use another model from the next call on"),
    body: SwitchLLMRequest,
    responses: { ...done, ...noConversation, ...invalid },
  },
  switchProfile: {
    ...route("POST", "switch_profile", "Use a stored model from the next call on"),
    body: SwitchProfileRequest,
    responses: { ...done, ...noConversation, ...invalid },
  },
  switchAcpModel: {
    ...route("POST", "switch_acp_model", "Use another model of the other agent"),
    body: SwitchAcpModelRequest,
    responses: {
      ...done,
      ...noConversation,
      ...invalid,
      400: { description: "It has no other agent, or that one offers no such model.", schema: ErrorReply },
      504: { description: "The agent did not answer in time.", schema: ErrorReply },
    },
  },
});
