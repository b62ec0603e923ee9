import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Action, actionSchemaByKind } from "./actions/action.ts";
import { Event, eventKinds, eventSchemaByKind } from "./events/event.ts";
import { extensionActionSchemaByKind } from "./extensions/extension-actions.ts";
import { extensionEventSchemaByKind } from "./extensions/extension-events.ts";
import { extensionObservationSchemaByKind } from "./extensions/extension-observations.ts";
import { Observation, observationSchemaByKind } from "./observations/observation.ts";
import { createValidator } from "./validate.ts";

type Sample = { given: Record<string, unknown>; complete: Record<string, unknown> };

const validator = createValidator();
const events = readGolden("events") as Record<string, unknown>[];
const actions = readGolden("actions") as Record<string, Sample>;
const observations = readGolden("observations") as Record<string, Sample>;
const actionSchemas = { ...actionSchemaByKind, ...extensionActionSchemaByKind };
const observationSchemas = { ...observationSchemaByKind, ...extensionObservationSchemaByKind };

test("there is a golden sample of every kind", () => {
  expect(Object.keys(actions).sort()).toEqual(Object.keys(actionSchemas).sort());
  expect(Object.keys(observations).sort()).toEqual(Object.keys(observationSchemas).sort());
  expect(new Set(events.map(({ kind }) => kind))).toEqual(new Set(eventKinds));
});

describe.each([
  ...Object.entries(actions).map(([kind, sample]) => ({ kind, sample, schema: actionSchemas[kind]! })),
  ...Object.entries(observations).map(([kind, sample]) => ({
    kind,
    sample,
    schema: observationSchemas[kind]!,
  })),
])("$kind", ({ kind, sample, schema }) => {
  test("writes all its defaults out, and is then left as it is", () => {
    expect(validator.check(schema, copy(sample.given))).toEqual({ ok: true, value: sample.complete });
    expect(validator.check(schema, copy(sample.complete))).toEqual({ ok: true, value: sample.complete });
  });

  test("rejects an unknown field and another kind", () => {
    expect(validator.check(schema, { ...copy(sample.given), surprise: 1 })).toEqual({
      ok: false,
      errors: [
        { loc: ["surprise"], msg: "Remove this field: it is not known here.", type: "extra_forbidden" },
      ],
    });
    expect(validator.check(schema, { ...copy(sample.given), kind: "Other" })).toEqual({
      ok: false,
      errors: [{ loc: ["kind"], msg: `This must be "${kind}".`, type: "literal_error" }],
    });
  });

  test("is missed field by field", () => {
    for (const name of Object.keys(sample.given)) {
      const { [name]: _, ...rest } = copy(sample.given);
      const checked = validator.check(schema, rest);
      expect(checked).toMatchObject({ ok: false, errors: [{ loc: [name], type: "missing" }] });
    }
  });
});

test.each(events)("the stored $kind is valid and stays as it is", (event) => {
  expect(validator.check(Event, copy(event))).toEqual({ ok: true, value: event });
});

test.each(events)("$kind rejects an unknown field", (event) => {
  expect(validator.check(Event, { ...copy(event), parent_id: null }, ["body"])).toMatchObject({
    ok: false,
    errors: [{ loc: ["body", "parent_id"], type: "extra_forbidden" }],
  });
});

test("an event without id and time is valid, gets its default source and no nulls", () => {
  const check = (event: object) => validator.check(Event, event);
  expect(check({ kind: "PauseEvent" })).toEqual({ ok: true, value: { kind: "PauseEvent", source: "user" } });
  expect(check({ kind: "Condensation", llm_response_id: "r" })).toEqual({
    ok: true,
    value: { kind: "Condensation", source: "environment", forgotten_event_ids: [], llm_response_id: "r" },
  });
});

test("the kinds without a default source demand one", () => {
  const demanding = Object.entries(eventSchemaByKind).flatMap(([kind, schema]) =>
    (schema as unknown as { required: string[] }).required.includes("source") ? [kind] : [],
  );
  expect(demanding.sort()).toEqual(["ConversationErrorEvent", "MessageEvent", "TokenEvent"]);
});

test("newer kinds are outside the contract's unions", () => {
  for (const kind of Object.keys(extensionEventSchemaByKind)) {
    expect(validator.check(Event, { kind }).ok).toBe(false);
  }
  expect(validator.check(Action, copy(actions["TaskAction"]!.complete)).ok).toBe(false);
  expect(validator.check(Observation, copy(observations["TaskObservation"]!.complete)).ok).toBe(false);
});

function readGolden(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`./golden/${name}.json`, import.meta.url), "utf8"));
}

function copy<T>(value: T): T {
  return structuredClone(value);
}
