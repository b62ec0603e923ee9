import { Type } from "typebox";
import { ErrorReply } from "../requests/replies.ts";
import { orAbsent, ref } from "../schema.ts";
import {
  LocalModelServersResponse,
  ModelsResponse,
  ProviderConnectionCreateRequest,
  ProviderConnectionResponse,
  ProviderConnectionUpdateRequest,
  ProvidersResponse,
  SubscriptionDevicePollRequest,
  SubscriptionModelsResponse,
  SubscriptionStatusResponse,
  VerifiedModelsResponse,
} from "../settings/llm-catalogue.ts";
import { invalid } from "./responses.ts";
import { ok } from "./ok.ts";
import { routesOf } from "./route.ts";

const connectionParams = Type.Object({ connection_id: Type.String() });
const noConnection = { 404: { description: "There is no such connection.", schema: ErrorReply } } as const;
const refused = {
  409: { description: "A stored model uses it, or there are too many.", schema: ErrorReply },
} as const;

/** Known models, and the shared addresses and keys of models. */
export const llmRoutes = routesOf("Models", {
  listProviders: {
    method: "GET",
    path: "/api/llm/providers",
    summary: "Names of the providers that are spoken directly",
    auth: true,
    responses: ok("The names.", ProvidersResponse),
  },
  listModels: {
    method: "GET",
    path: "/api/llm/models",
    summary: "Names of known models, of one provider or of all",
    auth: true,
    query: Type.Object({ provider: orAbsent(Type.String()) }),
    responses: { ...ok("The names.", ModelsResponse), ...invalid },
  },
  listVerifiedModels: {
    method: "GET",
    path: "/api/llm/models/verified",
    summary: "Models with known limits and prices by provider",
    auth: true,
    responses: ok("The names.", VerifiedModelsResponse),
  },
  listLocalModelServers: {
    method: "GET",
    path: "/api/llm/local-servers",
    summary:
      "Model servers that answer on this machine (Ollama, LM Studio, llama.cpp, vLLM), and their models",
    auth: true,
    // It makes the server send requests.
    role: "member",
    responses: ok("The servers.", LocalModelServersResponse),
  },
  listSubscriptionModels: {
    method: "GET",
    path: "/api/llm/subscription/openai/models",
    summary: "Models of a subscription; none, because subscriptions are not supported",
    auth: true,
    responses: ok("The names.", SubscriptionModelsResponse),
  },
  getSubscriptionStatus: {
    method: "GET",
    path: "/api/llm/subscription/openai/status",
    summary: "Whether a subscription is connected",
    auth: true,
    responses: ok("The status.", SubscriptionStatusResponse),
  },
  startSubscriptionLogin: {
    method: "POST",
    path: "/api/llm/subscription/openai/device/start",
    summary: "Refused: subscriptions are not supported",
    auth: true,
    responses: invalid,
  },
  pollSubscriptionLogin: {
    method: "POST",
    path: "/api/llm/subscription/openai/device/poll",
    summary: "Refused: subscriptions are not supported",
    auth: true,
    body: SubscriptionDevicePollRequest,
    responses: invalid,
  },
  logOutSubscription: {
    method: "POST",
    path: "/api/llm/subscription/openai/logout",
    summary: "There is nothing to log out from",
    auth: true,
    responses: ok("The status.", SubscriptionStatusResponse),
  },
  listProviderConnections: {
    method: "GET",
    path: "/api/llm/provider-connections",
    summary: "The stored connections without their keys",
    auth: true,
    responses: ok("The connections.", Type.Array(ref(ProviderConnectionResponse))),
  },
  createProviderConnection: {
    method: "POST",
    path: "/api/llm/provider-connections",
    summary: "Store an address and a key that stored models can name",
    auth: true,
    body: ProviderConnectionCreateRequest,
    responses: {
      201: { description: "Stored.", schema: ProviderConnectionResponse },
      ...refused,
      ...invalid,
    },
  },
  updateProviderConnection: {
    method: "PATCH",
    path: "/api/llm/provider-connections/{connection_id}",
    summary: "Change some of a connection; its key can be replaced, not removed",
    auth: true,
    params: connectionParams,
    body: ProviderConnectionUpdateRequest,
    responses: { ...ok("Changed.", ProviderConnectionResponse), ...noConnection, ...invalid },
  },
  deleteProviderConnection: {
    method: "DELETE",
    path: "/api/llm/provider-connections/{connection_id}",
    summary: "Remove a connection that no stored model names",
    auth: true,
    params: connectionParams,
    responses: { ...ok("It was removed.", ProviderConnectionResponse), ...noConnection, ...refused },
  },
});
