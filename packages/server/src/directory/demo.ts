import type { LLM } from "@convoke/protocol";
import type { Model } from "../models/model.ts";

/** The content of a demo: a scripted model and a project. The command that starts the server supplies it. */
export type Demo = {
  readonly title: string;
  /** The task of the agent. */
  readonly task: string;
  /** Writes the project into an existing empty folder. */
  writeProject(folder: string): Promise<void>;
  /** The scripted model for the project in a folder. */
  openModel(folder: string): Model;
};

/** True for conversations of the demo. */
export const demoTag = "demo";

/** The model of a demo's agent. */
export const demoModel = "openai/convoke-demo";

/** Without a demo: a demo's conversation has no model. */
export const demoAddress = "http://demo.invalid/v1";

export function isDemoModel({ model, base_url: address }: Pick<LLM, "model" | "base_url">): boolean {
  return model === demoModel && address === demoAddress;
}
