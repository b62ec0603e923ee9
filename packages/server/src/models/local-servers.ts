import { Readable } from "node:stream";
import type { LocalModelServer } from "@convoke/protocol";
import { collectBytes } from "../lib/collect-bytes.ts";
import { isObject, listOf, objectOr, type JsonObject } from "../lib/json-object.ts";
import type { Send } from "./provider-fetch.ts";

/** A program that serves models on this machine, and how its models are named in `llm`. */
type Candidate = {
  readonly name: string;
  /** The first part of `provider/model`. */
  readonly provider: string;
  /** Without a path. */
  readonly address: string;
  /** The provider's default address: `llm.base_url` is not needed. */
  readonly isUsualAddress: boolean;
  /** `owned_by` of its models, where its port is one that other programs use too. */
  readonly owner?: string;
};

export type LocalServersDeps = {
  readonly send: Send;
  /** The value of `OLLAMA_HOST`. */
  readonly ollamaHost: string | null;
  /** Of one request, in milliseconds. */
  readonly timeoutMs?: number;
};

const maxAnswerBytes = 1_000_000;
const maxModels = 500;

/**
 * The model servers that answer on the loopback interface, with the models that can chat. A server that does not answer within the
 * timeout, or answers something else, is left out. Ollama is asked where `OLLAMA_HOST` says when that is this machine.
 */
export async function findLocalServers(deps: LocalServersDeps): Promise<LocalModelServer[]> {
  const found = await Promise.all(candidates(deps.ollamaHost).map((candidate) => ask(candidate, deps)));
  return found.filter((server) => server !== null);
}

function candidates(ollamaHost: string | null): Candidate[] {
  const usual = "http://127.0.0.1:11434";
  const ollama = ollamaAddress(ollamaHost ?? "") ?? usual;
  return [
    { name: "Ollama", provider: "ollama", address: ollama, isUsualAddress: ollama === usual },
    { name: "LM Studio", provider: "lm_studio", address: "http://127.0.0.1:1234", isUsualAddress: true },
    {
      name: "llama.cpp",
      provider: "openai",
      address: "http://127.0.0.1:8080",
      isUsualAddress: false,
      owner: "llamacpp",
    },
    {
      name: "vLLM",
      provider: "hosted_vllm",
      address: "http://127.0.0.1:8000",
      isUsualAddress: false,
      owner: "vllm",
    },
  ];
}

/** `OLLAMA_HOST` as Ollama reads it: scheme and port may be missing. Null for another machine: nobody asked us to reach it. */
function ollamaAddress(text: string): string | null {
  const given = text.includes("://") ? text.trim() : `http://${text.trim()}`;
  if (!URL.canParse(given)) return null;
  const { protocol, hostname, port } = new URL(given);
  const isHere = ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "[::]"].includes(hostname);
  if (protocol !== "http:" || !isHere) return null;
  // `URL` drops the port 80.
  return `http://127.0.0.1:${port || (/:80\/?$/u.test(given) ? "80" : "11434")}`;
}

async function ask(
  { name, provider, address, isUsualAddress, owner }: Candidate,
  { send, timeoutMs = 1_500 }: LocalServersDeps,
): Promise<LocalModelServer | null> {
  const answer = await readAnswer(`${address}/v1/models`, send, timeoutMs);
  // Ollama without any model has null in `data`.
  if (answer?.["object"] !== "list") return null;
  const listed = listOf(answer["data"]).map(objectOr);
  const own = owner === undefined ? listed : listed.filter((model) => model["owned_by"] === owner);
  if (owner !== undefined && own.length === 0) return null;
  const ids = own.map(({ id }) => id).filter((id) => typeof id === "string" && id !== "");
  return {
    name,
    base_url: isUsualAddress ? null : `${address}/v1`,
    models: (ids as string[])
      .filter((id) => !isForEmbedding(id))
      .slice(0, maxModels)
      .map((id) => `${provider}/${id}`),
  };
}

/** Null where nothing listens, or where something else does. */
async function readAnswer(url: string, send: Send, timeoutMs: number): Promise<JsonObject | null> {
  try {
    const response = await send(url, { signal: AbortSignal.timeout(timeoutMs), redirect: "error" });
    if (!response.ok || response.body === null) return null;
    const bytes = await collectBytes(Readable.from(response.body), maxAnswerBytes);
    const answer: unknown = bytes === null ? null : JSON.parse(bytes.toString("utf8"));
    return isObject(answer) ? answer : null;
  } catch {
    return null;
  }
}

/** Ollama and LM Studio list these with the others; they cannot chat. */
function isForEmbedding(id: string): boolean {
  return /embed|\bbge-|\ball-minilm/iu.test(id);
}
