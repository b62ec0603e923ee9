import type { Check, Complaint, StrictRequest } from "../strict-provider.ts";
import type { ReadCall, ReadMessage } from "../readings/reading.ts";

/** Assistant messages that call hold a text in this field, where the request asks for thinking. */
export function reasoningWanted(
  field: string,
  isThinking: (request: StrictRequest) => boolean,
  complain: (message: ReadMessage) => Complaint,
): Check {
  return (request, { messages }) => {
    if (!isThinking(request)) return null;
    const bare = messages.find(
      ({ role, calls, raw }) => role === "assistant" && calls.length > 0 && typeof raw[field] !== "string",
    );
    return bare === undefined ? null : complain(bare);
  };
}

/** This field of an assistant message is refused. */
export function messageFieldRefused(
  field: string,
  models: RegExp,
  complain: (message: ReadMessage) => Complaint,
): Check {
  return ({ body }, { messages }) => {
    if (!models.test(typeof body["model"] === "string" ? body["model"] : "")) return null;
    const message = messages.find(({ role, raw }) => role === "assistant" && (raw[field] ?? null) !== null);
    return message === undefined ? null : complain(message);
  };
}

export type SignatureWords = {
  readonly missing: (message: ReadMessage, call: ReadCall) => Complaint;
  readonly foreign: (message: ReadMessage, call: ReadCall) => Complaint;
};

/**
 * The first call of every answer since the last message of the user carries the signature that the provider gave with
 * it. A signature is the provider's own where `isOwn` says so.
 */
export function firstCallSigned(
  signatureOf: (call: ReadCall) => unknown,
  isOwn: (signature: string) => boolean,
  words: SignatureWords,
): Check {
  return (_request, { messages }) => {
    const lastUser = messages.findLastIndex(({ role, texts }) => role === "user" && texts.length > 0);
    for (const [index, message] of messages.entries()) {
      for (const [at, call] of message.calls.entries()) {
        const signature = signatureOf(call);
        if (typeof signature === "string" && signature !== "") {
          if (!isOwn(signature)) return words.foreign(message, call);
        } else if (at === 0 && index > lastUser) return words.missing(message, call);
      }
    }
    return null;
  };
}
