import { ApiError, describeRule, type ConvokeClient } from "@convoke/client";
import type { AnswerApprovalsRequest, PendingApproval } from "@convoke/protocol";
import { askLine, type Terminal } from "./ask-approval.ts";
import { noReason } from "./no-reason.ts";
import { hostsText } from "./print/hosts-text.ts";
import { printable } from "./print/printable.ts";

type Answer = AnswerApprovalsRequest["answers"][number];

/** What the prompt needs of a waiting action; servers of older releases propose no rules. */
export type Asked = Pick<PendingApproval, "action_id" | "tool_name" | "action"> &
  Partial<Pick<PendingApproval, "proposed_rules">>;

const approvals = "/api/conversations/{conversation_id}/approvals";

/**
 * Asks about the actions that wait and sends the answers; true when one was approved, or when somebody else has answered. What the
 * server refuses is told in words, and what still waits is asked about again.
 */
export async function answerWaiting(
  client: Pick<ConvokeClient, "call">,
  conversationId: string,
  terminal: Terminal,
): Promise<boolean> {
  const params = { conversation_id: conversationId };
  for (;;) {
    const { items } = await client.call(`GET ${approvals}`, { params });
    if (items.length === 0) return true;
    const answers = await askAboutActions(items, terminal);
    try {
      await client.call(`POST ${approvals}`, { params, body: { answers } });
      return answers.some(({ accept }) => accept);
    } catch (error) {
      const words = error instanceof ApiError ? refusalText(error) : null;
      if (words === null) throw error;
      write(terminal, `${printable(words)}\n`);
    }
  }
}

/** Null for what asking again does not help. */
function refusalText({ status, fields }: ApiError): string | null {
  if (status === 409) return "Somebody else has answered meanwhile; your answers were not stored.";
  if (status === 422 && fields.length > 0) return `Not stored. ${fields.map(({ msg }) => msg).join(" ")}`;
  return null;
}

/** Where the questions are: JSON is for programs. */
function write({ output, isJson }: Terminal, text: string): void {
  (isJson ? process.stderr : output).write(text);
}

/** Asks about each waiting action, one after the other; at end of input the answer is no. */
export async function askAboutActions(asked: readonly Asked[], terminal: Terminal): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const [index, item] of asked.entries()) {
    // Where the events are not shown for people, neither is the action that is asked about.
    const place = asked.length > 1 ? `${index + 1} of ${asked.length}: ` : "";
    if (place !== "" || terminal.isJson) write(terminal, `${place}${describeAction(item)}\n`);
    answers.push(await askAbout(item, terminal));
  }
  return answers;
}

async function askAbout(item: Asked, terminal: Terminal): Promise<Answer> {
  const { action_id, proposed_rules: rules = [] } = item;
  const choices =
    rules.length === 0 ? "[y]es / [n]o" : "[y]es / [n]o / [a]lways in this conversation / [r]ule";
  for (;;) {
    const answer = (await askLine(terminal, `Run this? ${choices} `)).toLowerCase();
    if (/^y(es)?$/u.test(answer)) return { action_id, accept: true };
    const scope = scopeOf(answer);
    if (scope === null || rules.length === 0) return { action_id, accept: false, reason: noReason };
    const place = scope === "rule" ? "for all your conversations" : "for this conversation";
    const shown = rules.map((rule) => `  ${printable(describeRule(rule))}\n`).join("");
    write(terminal, `This is stored ${place}:\n${shown}`);
    if (/^y(es)?$/iu.test(await askLine(terminal, "Store it and run this? [y/N] "))) {
      const [only] = rules;
      // Several proposed rules are stored by the server, which has shown them.
      return { action_id, accept: true, scope, ...(rules.length === 1 && only ? { rule: only } : {}) };
    }
  }
}

function scopeOf(answer: string): "conversation" | "rule" | null {
  if (/^a(lways)?$/u.test(answer)) return "conversation";
  return /^r(ule)?$/u.test(answer) ? "rule" : null;
}

/** The tool and what it would do, in one line. */
export function describeAction({ tool_name: tool, action }: Asked): string {
  const { command, path } = action as { readonly command?: unknown; readonly path?: unknown };
  const fact = action["kind"] === "TerminalAction" ? command : (hostsText(action) ?? path);
  return printable(typeof fact === "string" ? `${tool}: ${fact}` : tool);
}
