import rows from "./catalog.generated.json" with { type: "json" };

/** What is known about a model. Prices are US dollars per token; null where unknown. */
export type ModelFacts = {
  readonly isKnown: boolean;
  /** Tokens that fit into one request and its answer. */
  readonly contextWindow: number;
  readonly outputLimit: number | null;
  readonly price: ModelPrice | null;
  readonly hasVision: boolean;
  readonly hasReasoning: boolean;
  /** False where the provider rejects temperature, top_p and the like. */
  readonly acceptsSampling: boolean;
};

export type ModelPrice = {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
};

/** Looks a model up by any of its usual names: `provider/model`, dated, `-latest`, any case, dots or dashes. */
export function findModelFacts(name: string): ModelFacts {
  byForm ??= indexRows(rows);
  for (const form of formsOf(name)) {
    const row = byForm.get(form);
    if (row !== undefined) return toFacts(row);
  }
  return unknownModel(name);
}

type Row = {
  context: number;
  output?: number;
  in?: number;
  out?: number;
  cacheRead?: number;
  cacheWrite?: number;
  vision?: boolean;
  reasoning?: boolean;
  noSampling?: boolean;
};

const perMillion = 1_000_000;

/** Made on the first use, which is not the start. */
let byForm: ReadonlyMap<string, Row> | null = null;

function indexRows(source: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> {
  const index = new Map<string, Row>();
  const entries = Object.entries(source);
  for (const [name, row] of entries) index.set(exactForm(name), row);
  // An undated name answers for the newest dated one; the rows are sorted by name, so the newest comes last.
  for (const [name, row] of entries.toReversed()) {
    const loose = looseForm(name);
    if (!index.has(loose)) index.set(loose, row);
  }
  return index;
}

/** Forms to try, most specific first: with all prefixes, then with fewer, each exact and then without its date. */
function* formsOf(name: string): Generator<string> {
  const segments = name.trim().split("/");
  for (let first = 0; first < segments.length; first += 1) {
    const tail = segments.slice(first).join("/");
    yield exactForm(tail);
    yield looseForm(tail);
  }
}

function exactForm(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z]{2,6}\.)?(?:anthropic|meta|mistral|deepseek|amazon)\.(?=[a-z])/u, "")
    .replace(/[.@]/gu, "-");
}

/** Without variant, version suffix, date and `-latest`: `claude-opus-4-1@20250805:thinking` is `claude-opus-4-1`. */
function looseForm(name: string): string {
  return exactForm(name)
    .replace(/:[a-z0-9-]+$/u, "")
    .replace(/-v\d+$/u, "")
    .replace(/-(?:latest|preview|exp)$/u, "")
    .replace(/-20\d{2}-?\d{2}-?\d{2}$/u, "")
    .replace(/-preview$/u, "");
}

function toFacts(row: Row): ModelFacts {
  return {
    isKnown: true,
    contextWindow: row.context,
    outputLimit: row.output ?? null,
    price: toPrice(row),
    hasVision: row.vision === true,
    hasReasoning: row.reasoning === true,
    acceptsSampling: row.noSampling !== true,
  };
}

function toPrice(row: Row): ModelPrice | null {
  if (row.in === undefined) return null;
  return {
    input: row.in / perMillion,
    output: (row.out ?? 0) / perMillion,
    cacheRead: (row.cacheRead ?? row.in) / perMillion,
    cacheWrite: (row.cacheWrite ?? row.in) / perMillion,
  };
}

/** An unknown model gets a window that today's models have, no price, and the benefit of the doubt about images. */
function unknownModel(name: string): ModelFacts {
  const isClaude = /claude/iu.test(name);
  const isOpenaiReasoning = /(?:^|\/)(?:gpt-5|o[1-9])/iu.test(name);
  return {
    isKnown: false,
    contextWindow: isClaude ? 200_000 : 128_000,
    outputLimit: isClaude ? 32_000 : null,
    price: null,
    hasVision: true,
    hasReasoning: isClaude || isOpenaiReasoning,
    acceptsSampling: !isOpenaiReasoning,
  };
}
