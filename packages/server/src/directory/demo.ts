import type { LLM } from "@convoke/protocol";
import type { Model } from "../models/model.ts";

/** The content of a demo: a scripted model and a project for real tools. The command that starts the server supplies it. */
export type Demo = {
  readonly title: string;
  /** What the agent is asked to do. */
  readonly task: string;
  /** Puts the project into a folder that is there and empty. */
  writeProject(folder: string): Promise<void>;
  /** For the project in a folder. */
  openModel(folder: string): Model;
};

/** Tells conversations of the demo from others. */
export const demoTag = "demo";

/** What a demo's agent has for a model. */
export const demoModel = "openai/convoke-demo";

/** Nothing is there: a demo's conversation that is opened without a demo calls nobody. */
export const demoAddress = "http://demo.invalid/v1";

export function isDemoModel({ model, base_url: address }: Pick<LLM, "model" | "base_url">): boolean {
  return model === demoModel && address === demoAddress;
}
