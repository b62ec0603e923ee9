import type { ModelRoute } from "../model-names.ts";

/** How the id of a call is written: letters, digits and, where `isWord`, also `_` and `-`. Lengths in characters. */
export type IdForm = { readonly isWord: boolean; readonly min: number; readonly max: number };

/**
 * What an address (wire, host and model) refuses of a request, and what it wants in it. Data only: `fitRequest` applies it and
 * `learn` adds to it. An address that nothing is known of gets `usualRules`.
 */
export type AddressRules = {
  readonly ids: IdForm;
  /** `reasoning_content` of earlier answers: left out, given back where the log has it, or in every answer with calls. */
  readonly reasoning: "omitted" | "replayed" | "required";
  /** Messages of one side come one at a time, and a user writes only behind words of the assistant. */
  readonly alternates: boolean;
  /** Calls that came without a thought signature get the stand-in that Google documents. */
  readonly needsSignatures: boolean;
  /** Fields that other servers add to calls and messages, and this one refuses. */
  readonly omittedFields: readonly string[];
  /** Keywords of JSON Schema that are left out; `lookaround` stands for patterns with lookaround. */
  readonly omittedKeywords: readonly string[];
  /** Digests (see `toolDigest`) of tools whose schema is written into their description instead. */
  readonly plainTools: readonly string[];
  /** Digests of tools that are left out. */
  readonly omittedTools: readonly string[];
  readonly maxTools: number;
  /** Characters of the description of one tool. */
  readonly maxDescription: number;
  /** The number of answers in the history that are sent without their sealed parts. */
  readonly unsealedAnswers: number;
  /** The id of a call in the history: everything up to its answer is sent as text. */
  readonly wordsUpTo: string | null;
  /** Texts without control characters, images as a notice. */
  readonly isPlainText: boolean;
};

/** One thing that a refusal taught about an address. It is stored, so that the address refuses it once and not in every conversation. */
export type Lesson =
  | { readonly kind: "ids"; readonly form: IdForm }
  | { readonly kind: "reasoning"; readonly reasoning: AddressRules["reasoning"] }
  | { readonly kind: "signatures" }
  | { readonly kind: "alternate" }
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "keyword"; readonly keyword: string }
  | { readonly kind: "plain-tools"; readonly tools: readonly LessonTool[] }
  | { readonly kind: "omitted-tools"; readonly tools: readonly LessonTool[] }
  | { readonly kind: "max-tools"; readonly max: number }
  | { readonly kind: "max-description"; readonly max: number }
  | { readonly kind: "unsealed"; readonly answers: number }
  | { readonly kind: "words"; readonly upTo: string }
  | { readonly kind: "plain-text" };

export type LessonTool = { readonly name: string; readonly digest: string };

/** What every wire takes: OpenAI allows 40 characters, Anthropic and Bedrock only these. */
const usualIds: IdForm = { isWord: true, min: 1, max: 40 };
/** The strictest form that is known, that of Mistral. Every wire takes it. */
export const strictIds: IdForm = { isWord: false, min: 9, max: 9 };

const usualRules: AddressRules = {
  ids: usualIds,
  reasoning: "omitted",
  alternates: false,
  needsSignatures: false,
  omittedFields: [],
  omittedKeywords: [],
  plainTools: [],
  omittedTools: [],
  maxTools: Number.POSITIVE_INFINITY,
  maxDescription: Number.POSITIVE_INFINITY,
  unsealedAnswers: 0,
  wordsUpTo: null,
  isPlainText: false,
};

type Known = { readonly models: RegExp; readonly rules: Partial<AddressRules> };

/** What is known of models before anything was refused, by their names: gateways and own servers have them too. */
const knownModels: readonly Known[] = [
  {
    models: /(?:^|[/_-])(?:mi[sx]tral|ministral|magistral|devstral|codestral|pixtral)/iu,
    rules: { ids: strictIds, alternates: true },
  },
  {
    // They lose their train of thought, or refuse the request, without the reasoning of earlier calls.
    models: /kimi-k(?:2-thinking|2\.[5-9]|[3-9])|minimax-m[2-9]|deepseek-(?:reasoner|v3\.2|v[4-9])/iu,
    rules: { reasoning: "replayed" },
  },
  { models: /gemini-(?:[3-9]|\d\d)/iu, rules: { needsSignatures: true } },
];

/** The rules that a route begins with. */
export function startingRules(route: Pick<ModelRoute, "model">): AddressRules {
  return knownModels.reduce<AddressRules>(
    (rules, known) => (known.models.test(route.model) ? { ...rules, ...known.rules } : rules),
    usualRules,
  );
}

/** Rules with what was learnt beside them. */
export function withLesson(rules: AddressRules, lesson: Lesson): AddressRules {
  switch (lesson.kind) {
    case "ids":
      return { ...rules, ids: lesson.form };
    case "reasoning":
      return { ...rules, reasoning: lesson.reasoning };
    case "signatures":
      return { ...rules, needsSignatures: true };
    case "alternate":
      return { ...rules, alternates: true };
    case "field":
      return { ...rules, omittedFields: [...rules.omittedFields, lesson.name] };
    case "keyword":
      return { ...rules, omittedKeywords: [...rules.omittedKeywords, lesson.keyword] };
    case "plain-tools":
      return { ...rules, plainTools: [...rules.plainTools, ...lesson.tools.map(({ digest }) => digest)] };
    case "omitted-tools":
      return { ...rules, omittedTools: [...rules.omittedTools, ...lesson.tools.map(({ digest }) => digest)] };
    case "max-tools":
      return { ...rules, maxTools: lesson.max };
    case "max-description":
      return { ...rules, maxDescription: lesson.max };
    case "unsealed":
      return { ...rules, unsealedAnswers: lesson.answers };
    case "words":
      return { ...rules, wordsUpTo: lesson.upTo };
    case "plain-text":
      return { ...rules, isPlainText: true };
  }
}
