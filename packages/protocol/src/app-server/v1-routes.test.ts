import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { appServerInterface } from "../openapi-documents.ts";
import { writeOpenApi } from "../openapi.ts";
import type { Route } from "../routes/route.ts";
import { contractSchemas } from "../schemas.ts";
import { appServerDifferences } from "../testing/app-server-differences.ts";
import { type Facts, type OpenApiFacts, readFacts } from "../testing/openapi-facts.ts";
import { createValidator, readQuery } from "../validate.ts";
import { AppConversationStartRequest } from "./start-task.ts";
import { v1Routes } from "./v1-routes.ts";

const routes: readonly Route[] = Object.values(v1Routes);
const golden = JSON.parse(readText("../golden/app-server-v1.facts.json")) as OpenApiFacts;
const document = writeOpenApi(routes, appServerInterface);
const ours = readFacts(document);

test("P57: nothing differs from the app server of the reference but what is allowed with a reason", () => {
  const schemas = Object.fromEntries(
    Object.entries(ours.schemas).filter(([name]) => name in golden.schemas || !isFromElsewhere(name)),
  );
  const differences = [
    ...differencesOf(golden.schemas, schemas),
    ...differencesOf(golden.operations, ours.operations),
  ];
  const unexplained = differences.filter(
    (difference) => !appServerDifferences.some(({ pattern }) => pattern.test(difference)),
  );
  expect(unexplained).toEqual([]);
  const unused = appServerDifferences.filter(
    ({ pattern }) => !differences.some((difference) => pattern.test(difference)),
  );
  expect(unused).toEqual([]);
});

test("every route needs a key, has parameters for its path and documents a 422", () => {
  for (const route of routes) {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const { properties = {} }: { properties?: object } = route.params ?? {};
    expect(Object.keys(properties)).toEqual(inPath);
    expect(route.auth).toBe(true);
    expect(Object.keys(route.responses)).toContain("422");
  }
});

test("ids come with or without dashes, and one that is neither is named", () => {
  const validator = createValidator();
  const { query } = v1Routes.listAppConversations;
  const check = (ids: string | string[]) => validator.check(query, readQuery(query, { ids }), ["query"]);
  expect(check("0198C0DE00007000800000000000ABCD").ok).toBe(true);
  expect(check(["0198c0de-0000-7000-8000-00000000abcd", "0198c0de00007000800000000000abcd"]).ok).toBe(true);
  const refused = check(["0198c0de-0000-7000-8000-00000000abcd", "0198c0de"]);
  expect(refused).toMatchObject({ ok: false, errors: [{ loc: ["query", "ids", 1], type: "uuid_parsing" }] });
});

test("a start request may be empty, and what clients send as a first message is brought into form", () => {
  const validator = createValidator();
  const { tolerateBody } = v1Routes.startAppConversation;
  expect(validator.check(AppConversationStartRequest, {})).toMatchObject({
    ok: true,
    value: { initial_message: null, agent_type: "default", pr_number: [] },
  });
  expect(tolerateBody({ initial_message: "Hello", secrets: { A: "b" } })).toEqual({
    initial_message: { content: [{ type: "text", text: "Hello" }], run: true },
    secrets: { A: "b" },
  });
  expect(tolerateBody({ initial_message: null })).toEqual({ initial_message: null });
  expect(tolerateBody("no object")).toBe("no object");
});

/** Schemas shared with other faces, whose tests compare them. */
function isFromElsewhere(name: string): boolean {
  return contractSchemas.has(name) || ["ErrorReply", "ProviderType"].includes(name);
}

function differencesOf(
  theirs: Readonly<Record<string, Facts>>,
  own: Readonly<Record<string, Facts>>,
): string[] {
  const names = [...new Set([...Object.keys(theirs), ...Object.keys(own)])];
  return names.flatMap((name) => {
    const [before, after] = [theirs[name], own[name]];
    if (before === undefined) return [`${name} (added)`];
    if (after === undefined) return [`${name} (absent)`];
    const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return parts.filter((part) => before[part] !== after[part]).map((part) => `${name} ${part}`);
  });
}

function readText(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}
