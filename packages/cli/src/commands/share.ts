import type { Share } from "@convoke/protocol";
import type { Command } from "commander";
import { conversationArgument, findConversation } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { printJson } from "../print/json.ts";
import { printable } from "../print/printable.ts";
import { parseExpiry } from "./parse-expiry.ts";

type ShareOptions = ApiOptions & {
  readonly expires?: number;
  readonly upTo?: string;
  readonly systemPrompt?: true;
  readonly label: string;
};

export function addShare(program: Command): void {
  withServer(
    program
      .command("share")
      .description("Make a link with which others read a conversation; it is shown once")
      .argument("<id>", conversationArgument)
      .option(
        "--expires <when>",
        "end of the link: 12h, 30d, or a date (default 7d, at most a year)",
        (text) => parseExpiry(text, Date.now()),
      )
      .option("--up-to <event>", "id of the last event that it shows")
      .option("--system-prompt", "show the system prompt and the tools of the agent too")
      .option("--label <text>", "whom it is for", ""),
  ).action(share);
}

export function addShares(program: Command): void {
  withServer(
    program
      .command("shares")
      .description("List the links to a conversation")
      .argument("<id>", conversationArgument),
  ).action(shares);
}

export function addUnshare(program: Command): void {
  withServer(
    program
      .command("unshare")
      .description("End a link to a conversation")
      .argument("<id>", conversationArgument)
      .argument("<share>", "id of the link, from convoke shares"),
  ).action(unshare);
}

const path = "/api/conversations/{conversation_id}/shares";

async function share(given: string, options: ShareOptions): Promise<void> {
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  const { expires, upTo, systemPrompt, label } = options;
  const { key: _, ...made } = await opened.client.call(`POST ${path}`, {
    params: { conversation_id: id },
    body: {
      label,
      ...(expires === undefined ? {} : { expires_in_seconds: Math.round((expires - Date.now()) / 1_000) }),
      ...(systemPrompt === true ? { include_system_prompt: true } : {}),
      ...(upTo === undefined ? {} : { up_to_event_id: upTo }),
    },
  });
  if (options.json === true) printJson("share", { conversation_id: id, ...made });
  else console.log(`${made.url}\n  id ${made.id}, until ${made.expires_at}${extent(made)}; shown once`);
}

async function shares(given: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  const list = await opened.client.call(`GET ${path}`, { params: { conversation_id: id } });
  for (const each of list.shares)
    if (options.json === true) printJson("share", { conversation_id: id, ...each });
    else
      console.log(printable(`${each.id}  until ${each.expires_at}${extent(each)}  ${each.label}`.trimEnd()));
  if (list.shares.length === 0 && options.json !== true) console.log("There are no links to it.");
}

async function unshare(given: string, share_id: string, options: ApiOptions): Promise<void> {
  await using opened = await openApi(options);
  const id = await findConversation(opened.client, given);
  await opened.client.call(`DELETE ${path}/{share_id}`, { params: { conversation_id: id, share_id } });
  if (options.json === true) printJson("unshare", { conversation_id: id, id: share_id, revoked: true });
  else console.log(`The link ${share_id} is over.`);
}

function extent({
  up_to_event_id: eventId,
  include_system_prompt: hasPrompt,
}: Pick<Share, "include_system_prompt" | "up_to_event_id">): string {
  const end = eventId === null ? "" : `, up to the event ${eventId}`;
  return hasPrompt ? `${end}, with the system prompt` : end;
}
