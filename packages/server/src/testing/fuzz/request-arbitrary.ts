import fc from "fast-check";
import { type Operation, type OpenApiDocument, type Parameter } from "./document.ts";
import { keepInside, type Bounds } from "./keep-inside.ts";
import { mutationOf, toBodyText } from "./mutation.ts";
import { createSchemaArbitrary, type NamedValues } from "./schema-arbitrary.ts";

/** A request before each `@name@` is replaced by an existing thing. */
export type FuzzRequest = {
  readonly operation: Operation;
  readonly method: string;
  /** Path and query, encoded. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly hasKey: boolean;
  /** The fault and, for a single place, its path as in `loc`; null for a documented request. */
  readonly fault: { readonly how: string; readonly at: readonly (string | number)[] | null } | null;
};

/** Path parameters whose values come from existing things, and generated ones. */
export type PathValues = Readonly<Record<string, readonly string[]>>;

export type RequestDeps = {
  readonly document: OpenApiDocument;
  readonly bounds: Bounds;
  readonly named: NamedValues;
  readonly pathValues: PathValues;
};

type Draft = {
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: unknown;
};

const boundary = "fuzz-boundary";

const oddSegments = [
  "x",
  "%20",
  "%00",
  "%F0%9F%91%8B",
  "%E2%80%AE",
  "-1",
  "null",
  "__proto__",
  "constructor",
  "00000000-0000-7000-8000-000000000000",
  "00000000000070008000000000000000",
  "999999999999999999999999",
  "a".repeat(400),
  "%zz",
  "%c3%28",
  "a%2Fb",
  "*",
  "{}",
  "'%22%3B--",
];

const oddQueries = [
  "",
  "x",
  "-1",
  "0",
  "1e9",
  "NaN",
  "99999999999999999999",
  "true",
  "%00",
  "%zz",
  "%F0%9F%91%8B",
  "[]",
  "a%26b",
  "+",
  "null",
];

const contentTypes = [
  "text/plain",
  "application/xml",
  "application/json; charset=utf-16",
  "multipart/form-data",
  "application/x-www-form-urlencoded",
  "nonsense",
  "application/json, text/plain",
];

const brokenBodies = [
  "",
  "{",
  "nul",
  "[1,]",
  '{"a":1}{"b":2}',
  "\0",
  '"text"',
  "[]",
  "null",
  "1e999",
  '{"a":1,"a":2}',
  '{"__proto__":{"polluted":true}}',
  "﻿{}",
  "a=b",
];

/** Requests of one operation: half as documented, half with one fault. */
export function requestArbitrary(operation: Operation, deps: RequestDeps): fc.Arbitrary<FuzzRequest> {
  const toValue = createSchemaArbitrary(deps.document.components.schemas, deps.named);
  const { parameters = [], body } = operation;
  const asJson = body === null ? fc.constant(undefined) : toValue(body);
  const draft: fc.Arbitrary<Draft> = fc.record({
    path: pathOf(operation, deps),
    query: queryOf(parameters, toValue),
    body: asJson.map((value) => keepInside(value, deps.bounds)),
  });
  const inQuery = parameters.filter(({ in: where }) => where === "query");
  const wrongs: fc.WeightedArbitrary<FuzzRequest>[] = [
    { weight: 2, arbitrary: draft.chain((made) => wrongPath(operation, made)) },
    { weight: 1, arbitrary: draft.chain((made) => wrongHead(operation, made)) },
  ];
  if (inQuery.length > 0)
    wrongs.push({ weight: 4, arbitrary: draft.chain((made) => wrongQuery(operation, made, inQuery)) });
  if (body !== null) {
    wrongs.push({ weight: 10, arbitrary: draft.chain((made) => wrongBody(operation, made, deps.bounds)) });
    wrongs.push({ weight: 1, arbitrary: draft.chain((made) => brokenBody(operation, made)) });
  }
  if (operation.form !== null)
    wrongs.push({ weight: 4, arbitrary: draft.chain((made) => wrongForm(operation, made)) });
  return fc.oneof(
    { weight: 10, arbitrary: draft.map((made) => toRequest(operation, made)) },
    { weight: 10, arbitrary: fc.oneof(...wrongs) },
  );
}

function pathOf({ path }: Operation, { pathValues }: RequestDeps): fc.Arbitrary<string> {
  const parts = path.split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name === undefined) return fc.constant(part);
    const known = pathValues[`${name} ${path.split("/", 4).join("/")}`] ?? pathValues[name] ?? ["one", "two"];
    return fc.constantFrom(...known).map((value) => encodeURI(value));
  });
  return fc.tuple(...parts).map((values) => values.join(""));
}

function queryOf(
  parameters: readonly Parameter[],
  toValue: ReturnType<typeof createSchemaArbitrary>,
): fc.Arbitrary<[string, string][]> {
  const each = parameters
    .filter(({ in: where }) => where === "query")
    .map(({ name, schema, required }) => {
      const values = (namedQuery[name] ?? toValue(schema)).map((value) =>
        [value].flat().flatMap((item) => (item === null ? [] : [[name, toText(item)] as [string, string]])),
      );
      return required === true ? values : fc.oneof(fc.constant([]), values);
    });
  return fc.tuple(...each).map((lists) => lists.flat());
}

/** Places where random text would never match an existing thing. */
const namedQuery: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ids: fc.array(fc.constantFrom("@conversation_id@", "@event_id@"), { minLength: 1, maxLength: 3 }),
  id: fc.array(fc.constantFrom("@sandbox_id@", "@event_id@"), { minLength: 1, maxLength: 3 }),
  page_id: fc.constantFrom("@conversation_id@", "@event_id@", "@sandbox_id@"),
  path: fc.constantFrom("@path@"),
  file_path: fc.constantFrom("@path@"),
  workspace_dir: fc.constantFrom("@path@"),
  conversation_id__eq: fc.constant("@conversation_id@"),
  sandbox_id__eq: fc.constant("@sandbox_id@"),
  ref: fc.constantFrom("HEAD", "main", "nothing"),
  base_ref: fc.constantFrom("HEAD", "main", "nothing"),
  commit: fc.constantFrom("@sha@", "HEAD"),
  base_url: fc.constantFrom("http://127.0.0.1:9/"),
};

function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function toRequest(operation: Operation, draft: Draft, changed: Partial<FuzzRequest> = {}): FuzzRequest {
  const isForm = operation.form !== null;
  const isJson = !isForm && draft.body !== undefined;
  return {
    operation,
    method: operation.method,
    target: toTarget(draft),
    headers: isForm
      ? { "content-type": `multipart/form-data; boundary=${boundary}` }
      : isJson
        ? { "content-type": "application/json" }
        : {},
    body: isForm ? toForm("file", "content of the file\n") : isJson ? toBodyText(draft.body) : null,
    hasKey: true,
    fault: null,
    ...changed,
  };
}

function toTarget({ path, query }: Draft): string {
  // Encoded like browsers do; `@name@` has to stay readable.
  const encode = (text: string): string =>
    /^@\w+@$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
  const pairs = query.map(([name, value]) => `${encode(name)}=${encode(value)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

function wrongPath(operation: Operation, draft: Draft): fc.Arbitrary<FuzzRequest> {
  const segments = draft.path.split("/");
  return fc
    .tuple(
      fc.constantFrom(...oddSegments),
      fc.integer({ min: 1, max: Math.max(1, segments.length - 1) }),
      fc.boolean(),
    )
    .map(([odd, position, isAdded]) => {
      const path = segments.toSpliced(position, isAdded ? 0 : 1, odd).join("/");
      return toRequest(operation, { ...draft, path }, { fault: { how: `path ${odd}`, at: null } });
    });
}

function wrongHead(operation: Operation, draft: Draft): fc.Arbitrary<FuzzRequest> {
  const method = fc
    .constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
    .map((other) =>
      toRequest(operation, draft, { method: other, fault: { how: `method ${other}`, at: null } }),
    );
  const key = fc.constant(toRequest(operation, draft, { hasKey: false, fault: { how: "no key", at: null } }));
  const type = fc.constantFrom(...contentTypes).map((wrong) =>
    toRequest(operation, draft, {
      headers: { "content-type": wrong },
      body: toRequest(operation, draft).body ?? "{}",
      fault: { how: `content type ${wrong}`, at: null },
    }),
  );
  return fc.oneof(method, key, type);
}

function wrongQuery(
  operation: Operation,
  draft: Draft,
  parameters: readonly Parameter[],
): fc.Arbitrary<FuzzRequest> {
  return fc
    .tuple(
      fc.constantFrom(...parameters),
      fc.constantFrom(...oddQueries),
      fc.constantFrom("", "[]", "[a]", "=", "&"),
    )
    .map(([{ name }, odd, how]) => {
      const others = draft.query.filter(([other]) => other !== name);
      const target = toTarget({ ...draft, query: others });
      const pair = how === "&" ? `${name}=${odd}&${name}=${odd}&&=` : `${name}${how}=${odd}`;
      const isPlain = how === "" && !odd.includes("%zz");
      return toRequest(operation, draft, {
        target: `${target}${target.includes("?") ? "&" : "?"}${pair}`,
        fault: { how: `query ${pair}`, at: isPlain ? ["query", name] : null },
      });
    });
}

function wrongBody(operation: Operation, draft: Draft, bounds: Bounds): fc.Arbitrary<FuzzRequest> {
  return mutationOf(draft.body).map(({ value, at, how }) =>
    toRequest(
      operation,
      { ...draft, body: keepInside(value, bounds) ?? null },
      { fault: { how: `body: ${how}`, at: ["body", ...at] } },
    ),
  );
}

function brokenBody(operation: Operation, draft: Draft): fc.Arbitrary<FuzzRequest> {
  return fc
    .constantFrom(...brokenBodies)
    .map((body) =>
      toRequest(operation, draft, { body, fault: { how: `body ${JSON.stringify(body)}`, at: null } }),
    );
}

function wrongForm(operation: Operation, draft: Draft): fc.Arbitrary<FuzzRequest> {
  const whole = toForm("file", "content");
  const forms = [
    whole.slice(0, 40),
    whole.replace("file", "other"),
    whole.replaceAll(boundary, "other"),
    "",
    whole + whole,
    toForm("file", "\0\uffff"),
    whole.replace('filename="a.txt"', 'filename="../../x"'),
  ];
  return fc
    .constantFrom(...forms)
    .map((body) => toRequest(operation, draft, { body, fault: { how: "form", at: null } }));
}

function toForm(name: string, content: string): string {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="a.txt"\r\n\r\n`;
  return `${head}${content}\r\n--${boundary}--\r\n`;
}
