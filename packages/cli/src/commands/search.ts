import type { SearchHit, SearchPage } from "@convoke/protocol";
import type { Command } from "commander";
import { shortIds } from "../api/find-conversation.ts";
import { openApi, withServer, type ApiOptions } from "../api/server-command.ts";
import { describeAge } from "../print/describe-age.ts";
import { printJson } from "../print/json.ts";
import { printTable } from "../print/table.ts";
import { parseCount } from "./parse-options.ts";

type SearchOptions = ApiOptions & { readonly limit: number; readonly kind?: string };

export function addSearch(program: Command): void {
  withServer(
    program
      .command("search")
      .description("Find words in all conversations, the newest first")
      .argument("<words...>", 'words and "phrases", each inside of other words too')
      .option("--kind <kind>", "only events of this kind, such as MessageEvent")
      .option("--limit <number>", "how many at most", parseCount, 20),
  ).action(search);
}

async function search(words: readonly string[], options: SearchOptions): Promise<void> {
  await using opened = await openApi(options);
  const found: SearchHit[] = [];
  let pageId: string | null | undefined = null;
  do {
    const page: SearchPage = await opened.client.call("GET /api/search", {
      query: {
        q: words.join(" "),
        limit: 50,
        ...(options.kind === undefined ? {} : { kind: options.kind }),
        ...(pageId ? { page_id: pageId } : {}),
      },
    });
    for (const hit of page.items.slice(0, options.limit - found.length)) {
      found.push(hit);
      if (options.json === true) printJson("search", { ...idsOf(hit), text: textOf(hit) });
    }
    pageId = page.next_page_id;
    if (!page.is_complete && !pageId)
      console.error(`The index is not complete yet: ${Math.floor(page.progress * 100)} % have been read.`);
  } while (pageId && found.length < options.limit);
  if (options.json === true) return;
  if (found.length === 0) console.log("Nothing was found.");
  else printTable(columns, toRows(found, Date.now()));
}

const columns = [
  { heading: "ID" },
  { heading: "AGE", isRight: true },
  { heading: "KIND" },
  { heading: "TEXT", isCut: true },
] as const;

function toRows(found: readonly SearchHit[], nowMs: number): string[][] {
  const ids = shortIds(found.map((hit) => hit.conversation_id));
  return found.map((hit, at) => [
    ids[at]!,
    describeAge(hit.timestamp, nowMs),
    hit.kind.replace(/Event$/, ""),
    textOf(hit),
  ]);
}

function idsOf({ conversation_id, event_id, kind, timestamp }: SearchHit) {
  return { conversation_id, event_id, kind, timestamp };
}

function textOf({ snippet }: SearchHit): string {
  return snippet.map(({ text }) => text).join("");
}
