import { Type, type Static, type TProperties } from "typebox";
import { inputOfKind, orNull, outputOfKind, ref, refTo, unionByKind } from "../schema.ts";
import { LLM } from "./llm.ts";

const summarizingFields = {
  llm: ref(LLM),
  max_size: Type.Optional(Type.Integer({ exclusiveMinimum: 0, default: 240, description: "Events." })),
  max_tokens: orNull(Type.Integer()),
  keep_first: Type.Optional(Type.Integer({ minimum: 0, default: 2, description: "Events never forgotten." })),
  hard_context_reset_max_retries: Type.Optional(Type.Integer({ exclusiveMinimum: 0, default: 5 })),
  hard_context_reset_context_scaling: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1, default: 0.8 }),
  ),
} satisfies TProperties;

/** Replaces old events by a summary written by a model. */
export const LLMSummarizingCondenser = outputOfKind("LLMSummarizingCondenser", summarizingFields);
export type LLMSummarizingCondenser = Static<typeof LLMSummarizingCondenser>;
export const LLMSummarizingCondenserInput = inputOfKind("LLMSummarizingCondenser", summarizingFields);
export type LLMSummarizingCondenserInput = Static<typeof LLMSummarizingCondenserInput>;

/** Does not condense. */
export const NoOpCondenser = outputOfKind("NoOpCondenser", {});
export type NoOpCondenser = Static<typeof NoOpCondenser>;
export const NoOpCondenserInput = inputOfKind("NoOpCondenser", {});
export type NoOpCondenserInput = Static<typeof NoOpCondenserInput>;

/** Applies several condensers one after the other. */
export type PipelineCondenser = { condensers: Condenser[]; kind: "PipelineCondenser" };
export const PipelineCondenser = outputOfKind("PipelineCondenser", {
  condensers: Type.Array(refTo<Condenser>("CondenserBase-Output")),
});
export type PipelineCondenserInput = { condensers: CondenserInput[]; kind?: "PipelineCondenser" };
export const PipelineCondenserInput = inputOfKind("PipelineCondenser", {
  condensers: Type.Array(refTo<CondenserInput>("CondenserBase-Input")),
});

/** How an agent's history is limited to the model's context. */
export type Condenser = LLMSummarizingCondenser | NoOpCondenser | PipelineCondenser;
export const Condenser = unionByKind("CondenserBase-Output", {
  "openhands__sdk__context__condenser__llm_summarizing_condenser__LLMSummarizingCondenser-Output__1":
    LLMSummarizingCondenser,
  "openhands__sdk__context__condenser__no_op_condenser__NoOpCondenser-Output__1": NoOpCondenser,
  "openhands__sdk__context__condenser__pipeline_condenser__PipelineCondenser-Output__1": PipelineCondenser,
});

export type CondenserInput = LLMSummarizingCondenserInput | NoOpCondenserInput | PipelineCondenserInput;
export const CondenserInput = unionByKind("CondenserBase-Input", {
  "openhands__sdk__context__condenser__llm_summarizing_condenser__LLMSummarizingCondenser-Input__1":
    LLMSummarizingCondenserInput,
  "openhands__sdk__context__condenser__no_op_condenser__NoOpCondenser-Input__1": NoOpCondenserInput,
  "openhands__sdk__context__condenser__pipeline_condenser__PipelineCondenser-Input__1":
    PipelineCondenserInput,
});
