import fc from "fast-check";

/** A value with one mutated place. */
export type Mutated = {
  readonly value: unknown;
  /** Path to the mutated place. */
  readonly at: readonly (string | number)[];
  readonly how: string;
};

/** Placeholder for a number that JavaScript cannot represent; {@link toBodyText} writes it. */
const hugeNumber = "#huge-number#";
/** Placeholder for deeply nested lists. */
const deepNesting = "#deep-nesting#";
const nestedLevels = 20_000;

/** Replacement values. Many of them fit some schemas: then the request is simply another valid one. */
const replacements: readonly (readonly [how: string, value: unknown])[] = [
  ["null", null],
  ["true", true],
  ["zero", 0],
  ["negative", -1],
  ["fraction", 1.5],
  ["unsafe integer", 2 ** 53],
  ["large number", 1e300],
  ["huge number", hugeNumber],
  ["empty text", ""],
  ["blank text", "   "],
  ["NUL", "a\0b"],
  ["control characters", "\u0001\u001b[31m\r\n\t\u007f"],
  ["unicode", "𝕏‮ﷺ\u{10ffff}é́́"],
  ["lone surrogate", "\ud800"],
  ["long text", "x".repeat(70_000)],
  ["number as text", "1"],
  ["wrong id", "00000000-0000-7000-8000-000000000000"],
  ["no id", "not-an-id"],
  ["date that is none", "2026-02-31T25:61:00Z"],
  ["template", "{{7*7}}${HOME}%s%n"],
  ["empty list", []],
  ["list", [null, 1, "a", {}]],
  ["long list", Array.from({ length: 3_000 }, (_, index) => index)],
  ["empty object", {}],
  ["object", { kind: "Nonsense", value: 1 }],
  ["kind of a prototype", { kind: "constructor" }],
  ["deep nesting", deepNesting],
];

/** Mutates a value in one random place. */
export function mutationOf(value: unknown): fc.Arbitrary<Mutated> {
  const places = placesOf(value);
  return fc
    .tuple(
      fc.constantFrom(...places),
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...replacements) },
        { weight: 1, arbitrary: fc.constant("remove" as const) },
        { weight: 1, arbitrary: fc.constantFrom("extra", "__proto__", "constructor", "") },
      ),
    )
    .map(([at, change]) => {
      if (change === "remove") return { value: without(value, at), at, how: "removed" };
      if (typeof change === "string") {
        return { value: withExtra(value, at, change), at: [...at, change], how: `added ${change}` };
      }
      return { value: replaced(value, at, change[1]), at, how: change[0] };
    });
}

/** JSON, including values that no JavaScript value can represent. */
export function toBodyText(value: unknown): string {
  return (JSON.stringify(value) ?? "")
    .replaceAll(`"${hugeNumber}"`, "1e999")
    .replaceAll(`"${deepNesting}"`, () => "[".repeat(nestedLevels) + "]".repeat(nestedLevels));
}

type Place = readonly (string | number)[];

/** Places near the top come first; of large values only a limited number. */
function placesOf(value: unknown): Place[] {
  const places: Place[] = [];
  const waiting: [Place, unknown][] = [[[], value]];
  while (waiting.length > 0 && places.length < 200) {
    const [place, part] = waiting.shift()!;
    places.push(place);
    if (Array.isArray(part)) part.forEach((item, index) => waiting.push([[...place, index], item]));
    else if (typeof part === "object" && part !== null) {
      for (const [name, item] of Object.entries(part)) waiting.push([[...place, name], item]);
    }
  }
  return places;
}

function replaced(value: unknown, [step, ...rest]: Place, by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? replaced(item, rest, by) : item));
  const entries = Object.entries(value as object);
  return Object.fromEntries(
    entries.map(([name, item]) => [name, name === step ? replaced(item, rest, by) : item]),
  );
}

function without(value: unknown, place: Place): unknown {
  const [step, ...rest] = place;
  if (step === undefined) return undefined;
  if (rest.length > 0)
    return replaced(value, [step], without((value as Record<string | number, unknown>)[step], rest));
  if (Array.isArray(value)) return value.filter((_, index) => index !== step);
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => name !== step));
}

function withExtra(value: unknown, place: Place, name: string): unknown {
  const target = place.reduce<unknown>(
    (part, step) => (part as Record<string | number, unknown>)[step],
    value,
  );
  if (typeof target !== "object" || target === null || Array.isArray(target)) {
    return replaced(value, place, { [name]: target });
  }
  // Through entries, so that `__proto__` is a name like any other.
  return replaced(value, place, Object.fromEntries([...Object.entries(target), [name, { polluted: true }]]));
}
