import type { AssistantMessage, ExtraFields } from "../model.ts";
import { replayedItems, replayOf } from "../provider-replay.ts";
import type { Address } from "./address.ts";
import type { AddressRules } from "./address-rules.ts";
import { isObject, objectOr } from "../../lib/json-object.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Stands for the signature of a call that another model made. Source: Google, Gemini API, thought signatures. */
const noSignature = "skip_thought_signature_validator";
/** Stands for reasoning that is not there: of another model, or of none. */
const noReasoning = " ";

/** An answer with what its address wants back beside text and calls. */
export function withExtra(
  message: AssistantMessage,
  rules: AddressRules,
  address: Address,
): AssistantMessage {
  if (address.wire === "google")
    return rules.needsSignatures ? withSignedReplay(message, address.host) : message;
  if (address.wire !== "openai-chat") return message;
  const replayed = replayedFields(message, address);
  const fields = {
    ...omit(replayed.message, rules),
    ...reasoningOf(message, rules),
  };
  const calls = replayed.calls.map((call, index) => omit(index === 0 ? signed(call, rules) : call, rules));
  const hasExtra = [fields, ...calls].some((one) => Object.keys(one).length > 0);
  return hasExtra ? { ...message, extra: { message: fields, calls } } : message;
}

/** What the log has of the fields that this address sent with an answer. */
function replayedFields({ replay, toolCalls }: AssistantMessage, address: Address): ExtraFields {
  const isOwn =
    replay !== undefined &&
    replay.wire === address.wire &&
    replay.host === address.place &&
    replay.model === address.model;
  const items = isOwn ? replay.items.filter(isObject) : [];
  const fieldsOf = (item: Fields | undefined): Fields => objectOr(item?.["fields"]);
  return {
    message: fieldsOf(items.find(({ type }) => type === "message")),
    calls: toolCalls.map(({ id }) => fieldsOf(items.find(({ call_id: callId }) => callId === id))),
  };
}

function omit(fields: Fields, { omittedFields }: AddressRules): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !omittedFields.includes(name)));
}

function reasoningOf(
  { content, toolCalls, reasoningContent }: AssistantMessage,
  { reasoning }: AddressRules,
): Fields {
  if (reasoning === "omitted") return {};
  const hasContent = toolCalls.length > 0 || content.some(({ text }) => text.trim() !== "");
  const text = reasoningContent ?? (reasoning === "required" && hasContent ? noReasoning : null);
  return text === null ? {} : { reasoning_content: text };
}

/** The first call of an answer is the one that has to be signed. */
function signed(call: Fields, { needsSignatures }: AddressRules): Fields {
  if (!needsSignatures || /"thought_signature"/u.test(JSON.stringify(call))) return call;
  const { extra_content: extra } = call;
  return {
    ...call,
    extra_content: { ...objectOr(extra), google: { thought_signature: noSignature } },
  };
}

function withSignedReplay(message: AssistantMessage, host: string): AssistantMessage {
  if (message.toolCalls.length === 0 || replayedItems(message, "google", host) !== null) return message;
  const texts = message.content.map(({ text }) => ({ type: "text", text, signature: null }));
  const calls = message.toolCalls.map(({ id }, index) => ({
    type: "call",
    call_id: id,
    signature: index === 0 ? noSignature : null,
  }));
  return { ...message, ...replayOf({ wire: "google", host }, [...texts, ...calls]) };
}
