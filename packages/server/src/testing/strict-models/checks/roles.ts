import type { Check, Complaint } from "../strict-provider.ts";
import type { ReadMessage } from "../readings/reading.ts";

export function knownRoles(roles: readonly string[], complain: (message: ReadMessage) => Complaint): Check {
  return (_request, { messages }) => firstOf(messages, ({ role }) => !roles.includes(role), complain);
}

/** System messages come before all others; with `max`, at most so many. */
export function systemFirst(
  complain: (message: ReadMessage) => Complaint,
  max: number = Number.POSITIVE_INFINITY,
): Check {
  return (_request, { messages }) => {
    const first = messages.findIndex(({ role }) => role !== "system");
    const end = Math.min(first === -1 ? messages.length : first, max);
    return firstOf(messages.slice(end), ({ role }) => role === "system", complain);
  };
}

export function startsWithUser(complain: (message: ReadMessage) => Complaint): Check {
  return (_request, { messages }) => {
    const first = messages.find(({ role }) => role !== "system");
    return first === undefined || first.role === "user" ? null : complain(first);
  };
}

/** Someone is asked: there is a message of a user. */
export function needsUser(complaint: Complaint): Check {
  return (_request, { messages }) => (messages.some(({ role }) => role === "user") ? null : complaint);
}

/** The last message has one of these roles. */
export function lastRoleIn(roles: readonly string[], complain: (message: ReadMessage) => Complaint): Check {
  return (_request, { messages }) => {
    const last = messages.at(-1);
    return last === undefined || roles.includes(last.role) ? null : complain(last);
  };
}

/** Pairs of roles that may not follow each other. */
export function noSequence(
  isWrong: (before: ReadMessage, message: ReadMessage) => boolean,
  complain: (message: ReadMessage, before: ReadMessage) => Complaint,
): Check {
  return (_request, { messages }) => {
    for (const [index, message] of messages.entries()) {
      const before = messages[index - 1];
      if (before !== undefined && isWrong(before, message)) return complain(message, before);
    }
    return null;
  };
}

function firstOf(
  messages: readonly ReadMessage[],
  isWrong: (message: ReadMessage) => boolean,
  complain: (message: ReadMessage) => Complaint,
): Complaint | null {
  const message = messages.find(isWrong);
  return message === undefined ? null : complain(message);
}
